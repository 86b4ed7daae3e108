"""Layers as PyTorch's exporter spells them, with random weights whose activations stay in a trained network's range."""
import numpy as np


def conv(net, x, out, kernel, stride=1, pad=None, groups=1, bias=False, gain=2.0):
    kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
    pad = [k // 2 for k in kernel] if pad is None else [pad, pad]
    fan_in = x.shape[1] // groups * kernel[0] * kernel[1]
    weight = net.weight(net.normal((out, x.shape[1] // groups, *kernel), np.sqrt(gain / fan_in)))
    inputs = [x, weight] + ([net.weight(net.normal(out, 0.1), "bias")] if bias else [])
    return net.op("Conv", *inputs, kernel_shape=kernel, strides=[stride, stride], pads=pad * 2, group=groups,
                  dilations=[1, 1])


def batch_norm(net, x):
    """Statistics of what arrives, moved at random: channel by channel the output is near, but not at, N(0, 1).

    One picture varies less than a training set does: a channel that is nearly constant on it gets part of its mean as
    deviation, or the normalisation would blow up rounding errors as no trained network does.
    """
    axes = tuple(i for i in range(x.array.ndim) if i != 1)
    channels = x.shape[1]
    mean = x.array.mean(axes)
    std = np.sqrt(x.array.var(axes) + 0.05 * mean**2 + 1e-6)
    mean = mean + net.normal(channels, 0.2) * std
    variance = std**2 * net.uniform(channels, 0.7, 1.4)
    parts = [(net.uniform(channels, 0.6, 1.2), "weight"), (net.normal(channels, 0.2), "bias"),
             (mean.astype(np.float32), "running_mean"), (variance.astype(np.float32), "running_var")]
    return net.op("BatchNormalization", x, *[net.weight(*p) for p in parts], epsilon=1e-5, momentum=0.9)


def relu(net, x):
    return net.op("Relu", x)


def relu6(net, x):
    return net.op("Clip", x, net.number(0.0), net.number(6.0))


def silu(net, x):
    return net.op("Mul", x, net.op("Sigmoid", x))


def hard_swish(net, x):
    return net.op("Mul", x, net.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


def gelu(net, x):
    """Before opset 20 there is no Gelu: x / sqrt(2) -> Erf -> + 1 -> * x -> * 0.5."""
    if net.opset >= 20:
        return net.op("Gelu", x)
    erf = net.op("Erf", net.op("Div", x, net.number(1.4142135381698608)))
    return net.op("Mul", net.op("Mul", x, net.op("Add", erf, net.number(1.0))), net.number(0.5))


def conv_bn(net, x, out, kernel, stride=1, groups=1, act=relu, pad=None):
    x = batch_norm(net, conv(net, x, out, kernel, stride, pad, groups))
    return act(net, x) if act else x


def linear(net, x, out, gain=1.0):
    """MatMul + Add, as nn.Linear on more than two dimensions is exported; Gemm with transB on two."""
    n = x.shape[-1]
    weight, bias = net.normal((n, out), np.sqrt(gain / n)), net.normal(out, 0.05)
    if x.array.ndim == 2:
        return net.op("Gemm", x, net.weight(weight.T), net.weight(bias, "bias"), alpha=1.0, beta=1.0, transB=1)
    return net.op("Add", net.weight(bias, "bias"), net.op("MatMul", x, net.weight(weight)))


def layer_norm(net, x, epsilon=1e-6):
    """One node from opset 17 on; before that ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add."""
    n = x.shape[-1]
    scale, bias = net.weight(net.uniform(n, 0.8, 1.2)), net.weight(net.normal(n, 0.1), "bias")
    if net.opset >= 17:
        return net.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)
    centred = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
    variance = net.op("ReduceMean", net.op("Pow", centred, net.number(2.0)), axes=[-1])
    std = net.op("Sqrt", net.op("Add", variance, net.number(epsilon)))
    return net.op("Add", net.op("Mul", net.op("Div", centred, std), scale), bias)


def classifier(net, x, classes=1000):
    """GlobalAveragePool -> Flatten -> Gemm."""
    with net.scope("classifier"):
        x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
        net.output(linear(net, x, classes, gain=4.0), "logits")


def squeeze_excite(net, x, hidden, act, gate):
    with net.scope("se"):
        s = net.op("GlobalAveragePool", x)
        s = act(net, conv(net, s, hidden, 1, bias=True))
        s = gate(net, conv(net, s, x.shape[1], 1, bias=True))
        return net.op("Mul", s, x)
