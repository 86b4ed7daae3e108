"""Image classifiers: the torchvision architectures, 224x224."""
import numpy as np

from .layers import (batch_norm, classifier, conv, conv_bn, gelu, hard_swish, layer_norm, linear, relu, relu6, silu,
                     squeeze_excite)


def image(net, size=224):
    return net.input("input", net.normal((1, 3, size, size), 1.0))


def max_pool(net, x, kernel=3, stride=2, pad=1, ceil=0):
    return net.op("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil)


# --- ResNet (He 2015)


def basic_block(net, x, width, stride):
    y = conv_bn(net, x, width, 3, stride)
    y = conv_bn(net, y, width, 3, act=None)
    return y, width


def bottleneck(net, x, width, stride):
    y = conv_bn(net, x, width, 1)
    y = conv_bn(net, y, width, 3, stride)
    return conv_bn(net, y, width * 4, 1, act=None), width * 4


def resnet(net, block, depths):
    x = max_pool(net, conv_bn(net, image(net), 64, 7, 2))
    for stage, depth in enumerate(depths):
        for i in range(depth):
            with net.scope(f"layer{stage + 1}"), net.scope(i):
                stride = 2 if stage and not i else 1
                y, out = block(net, x, 64 << stage, stride)
                if stride != 1 or x.shape[1] != out:
                    with net.scope("downsample"):
                        x = conv_bn(net, x, out, 1, stride, act=None)
                x = relu(net, net.op("Add", y, x))
    classifier(net, x)


def resnet18(net):
    resnet(net, basic_block, [2, 2, 2, 2])


def resnet50(net):
    resnet(net, bottleneck, [3, 4, 6, 3])


# --- MobileNets and EfficientNet: inverted residuals


def inverted_residual(net, x, hidden, out, kernel, stride, act, se=None):
    y = x if hidden == x.shape[1] else conv_bn(net, x, hidden, 1, act=act)
    y = conv_bn(net, y, hidden, kernel, stride, groups=hidden, act=act)
    if se:
        y = squeeze_excite(net, y, *se)
    y = conv_bn(net, y, out, 1, act=None)
    return net.op("Add", x, y) if stride == 1 and x.shape[1] == out else y


def mobilenet_v2(net):
    x = conv_bn(net, image(net), 32, 3, 2, act=relu6)
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for number, (expand, out, repeats, stride) in enumerate(rows):
        for i in range(repeats):
            with net.scope(f"features{number}"), net.scope(i):
                x = inverted_residual(net, x, x.shape[1] * expand, out, 3, stride if i == 0 else 1, relu6)
    classifier(net, conv_bn(net, x, 1280, 1, act=relu6))


def hard_sigmoid(net, x):
    return net.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)


def mobilenet_v3_large(net):
    x = conv_bn(net, image(net), 16, 3, 2, act=hard_swish)
    rows = [  # kernel, hidden, out, squeeze-excite, activation, stride
        (3, 16, 16, 0, relu, 1), (3, 64, 24, 0, relu, 2), (3, 72, 24, 0, relu, 1), (5, 72, 40, 24, relu, 2),
        (5, 120, 40, 32, relu, 1), (5, 120, 40, 32, relu, 1), (3, 240, 80, 0, hard_swish, 2),
        (3, 200, 80, 0, hard_swish, 1), (3, 184, 80, 0, hard_swish, 1), (3, 184, 80, 0, hard_swish, 1),
        (3, 480, 112, 120, hard_swish, 1), (3, 672, 112, 168, hard_swish, 1), (5, 672, 160, 168, hard_swish, 2),
        (5, 960, 160, 240, hard_swish, 1), (5, 960, 160, 240, hard_swish, 1)]
    for number, (kernel, hidden, out, se, act, stride) in enumerate(rows):
        with net.scope(f"features{number}"):
            x = inverted_residual(net, x, hidden, out, kernel, stride, act, (se, relu, hard_sigmoid) if se else None)
    x = net.op("GlobalAveragePool", conv_bn(net, x, 960, 1, act=hard_swish))
    x = hard_swish(net, linear(net, net.op("Flatten", x, axis=1), 1280))
    net.output(linear(net, x, 1000, gain=4.0), "logits")


def efficientnet_b0(net):
    sigmoid = lambda net, x: net.op("Sigmoid", x)
    x = conv_bn(net, image(net), 32, 3, 2, act=silu)
    rows = [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3), (6, 5, 2, 192, 4),
            (6, 3, 1, 320, 1)]  # expand, kernel, stride, out, repeats
    for number, (expand, kernel, stride, out, repeats) in enumerate(rows):
        for i in range(repeats):
            with net.scope(f"features{number}"), net.scope(i):
                se = (max(1, x.shape[1] // 4), silu, sigmoid)
                x = inverted_residual(net, x, x.shape[1] * expand, out, kernel, stride if i == 0 else 1, silu, se)
    classifier(net, conv_bn(net, x, 1280, 1, act=silu))


# --- DenseNet (Huang 2016), SqueezeNet 1.1 (Iandola 2016), ShuffleNet V2 (Ma 2018)


def densenet121(net):
    x = max_pool(net, conv_bn(net, image(net), 64, 7, 2))
    for stage, depth in enumerate([6, 12, 24, 16]):
        features = [x]
        for i in range(depth):
            with net.scope(f"block{stage}"), net.scope(i):
                x = net.op("Concat", *features, axis=1) if len(features) > 1 else x
                y = conv(net, relu(net, batch_norm(net, x)), 128, 1)
                features.append(conv(net, relu(net, batch_norm(net, y)), 32, 3))
        x = batch_norm(net, net.op("Concat", *features, axis=1))
        if stage < 3:
            with net.scope(f"transition{stage}"):
                x = conv(net, relu(net, x), x.shape[1] // 2, 1)
                x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    classifier(net, relu(net, x))


def squeezenet1_1(net):
    x = max_pool(net, relu(net, conv(net, image(net), 64, 3, 2, pad=0, bias=True)), pad=0, ceil=1)
    for number, (squeeze, expand) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256),
                                                (64, 256)]):
        with net.scope(f"fire{number}"):
            s = relu(net, conv(net, x, squeeze, 1, bias=True))
            x = net.op("Concat", relu(net, conv(net, s, expand, 1, bias=True)),
                       relu(net, conv(net, s, expand, 3, bias=True)), axis=1)
            if number in (1, 3):
                x = max_pool(net, x, pad=0, ceil=1)
    x = relu(net, conv(net, x, 1000, 1, bias=True))
    net.output(net.op("Flatten", net.op("GlobalAveragePool", x), axis=1), "logits")


def channel_shuffle(net, x):
    _, c, h, w = x.shape
    y = net.op("Transpose", net.reshape(x, [1, 2, c // 2, h, w]), perm=[0, 2, 1, 3, 4])
    return net.reshape(y, [1, c, h, w])


def shufflenet_v2(net):
    x = max_pool(net, conv_bn(net, image(net), 24, 3, 2))
    for stage, (out, repeats) in enumerate([(116, 4), (232, 8), (464, 4)]):
        half = out // 2
        for i in range(repeats):
            with net.scope(f"stage{stage + 2}"), net.scope(i):
                if i == 0:
                    left = conv_bn(net, x, x.shape[1], 3, 2, groups=x.shape[1], act=None)
                    left = conv_bn(net, left, half, 1)
                    right = x
                else:
                    left, right = net.op("Split", x, net.number([half, half], np.int64), axis=1, outputs=2)
                right = conv_bn(net, right, half, 1)
                right = conv_bn(net, right, half, 3, 2 if i == 0 else 1, groups=half, act=None)
                right = conv_bn(net, right, half, 1)
                x = channel_shuffle(net, net.op("Concat", left, right, axis=1))
    classifier(net, conv_bn(net, x, 1024, 1))


# --- ConvNeXt-T (Liu 2022): layer norm over channels, so layouts change back and forth


def to_nhwc(net, x):
    return net.op("Transpose", x, perm=[0, 2, 3, 1])


def to_nchw(net, x):
    return net.op("Transpose", x, perm=[0, 3, 1, 2])


def convnext_block(net, x):
    width = x.shape[1]
    y = to_nhwc(net, conv(net, x, width, 7, groups=width, bias=True, gain=1.0))
    y = linear(net, layer_norm(net, y), width * 4)
    y = to_nchw(net, linear(net, gelu(net, y), width, gain=2.0))
    scale = net.weight(net.uniform((width, 1, 1), 0.1, 0.5), "layer_scale")
    return net.op("Add", net.op("Mul", scale, y), x)


def convnext_tiny(net):
    x = image(net)
    for stage, (width, depth) in enumerate([(96, 3), (192, 3), (384, 9), (768, 3)]):
        with net.scope(f"stage{stage}"):
            if stage == 0:
                x = to_nchw(net, layer_norm(net, to_nhwc(net, conv(net, x, width, 4, 4, pad=0, bias=True))))
            else:
                x = conv(net, to_nchw(net, layer_norm(net, to_nhwc(net, x))), width, 2, 2, pad=0, bias=True)
            for i in range(depth):
                with net.scope(i):
                    x = convnext_block(net, x)
    x = net.op("GlobalAveragePool", x)
    x = net.op("Flatten", to_nchw(net, layer_norm(net, to_nhwc(net, x))), axis=1)
    net.output(linear(net, x, 1000, gain=4.0), "logits")
