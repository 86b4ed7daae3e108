"""Transformers and recurrent networks."""
import numpy as np
from onnx import numpy_helper

from .layers import conv, gelu, layer_norm, linear

LOWEST = float(np.finfo(np.float32).min)


def split_heads(net, x, heads, perm):
    """[N, S, E] -> [N, S, heads, E / heads], transposed."""
    _, length, width = x.shape
    return net.op("Transpose", net.reshape(x, [1, length, heads, width // heads]), perm=perm)


def merge_heads(net, x):
    _, heads, length, size = x.shape
    return net.reshape(net.op("Transpose", x, perm=[0, 2, 1, 3]), [1, length, heads * size])


# --- ViT-B/16 (Dosovitskiy 2020), in timm's spelling: one projection for q, k, v; both scaled by the root of 1/sqrt(d)


def vit_attention(net, x, heads):
    _, length, width = x.shape
    size = width // heads
    qkv = net.reshape(linear(net, x, width * 3, gain=1.5), [1, length, 3, heads, size])
    qkv = net.op("Transpose", qkv, perm=[2, 0, 3, 1, 4])
    q, k, v = [net.op("Gather", qkv, net.number(i, np.int64), axis=0) for i in range(3)]
    root = size**-0.25
    q = net.op("Mul", q, net.number(root))
    k = net.op("Mul", net.op("Transpose", k, perm=[0, 1, 3, 2]), net.number(root))
    weights = net.op("Softmax", net.op("MatMul", q, k), axis=-1)
    return linear(net, merge_heads(net, net.op("MatMul", weights, v)), width)


def class_token(net, x):
    token = net.weight(net.normal((1, 1, x.shape[2]), 0.5), "cls_token")
    if net.dynamic:
        size = net.op("Unsqueeze", net.op("Gather", net.op("Shape", x), net.number(0, np.int64), axis=0),
                      net.number([0], np.int64))
        dims = net.op("Concat", size, net.number([-1], np.int64), net.number([-1], np.int64), axis=0)
        ones = net.op("ConstantOfShape", net.number([3], np.int64), value=numpy_helper.from_array(np.ones(1, np.int64)))
        same = net.op("Equal", dims, net.op("Mul", ones, net.number(-1, np.int64)))
        token = net.op("Expand", token, net.op("Where", same, ones, dims))
    return net.op("Concat", token, x, axis=1)


def vit_b_16(net):
    image = net.input("input", net.normal((1, 3, 224, 224), 1.0))
    x = conv(net, image, 768, 16, 16, pad=0, bias=True, gain=1.0)
    x = net.op("Transpose", net.reshape(x, [1, 768, 196]), perm=[0, 2, 1])
    x = class_token(net, x)
    x = net.op("Add", x, net.weight(net.normal((1, 197, 768), 0.5), "pos_embed"))
    for i in range(12):
        with net.scope(f"blocks.{i}"):
            x = net.op("Add", x, vit_attention(net, layer_norm(net, x), 12))
            y = gelu(net, linear(net, layer_norm(net, x), 3072))
            x = net.op("Add", x, linear(net, y, 768))
    x = net.op("Gather", layer_norm(net, x), net.number(0, np.int64), axis=1)
    net.output(linear(net, x, 1000, gain=4.0), "logits")


# --- BERT-base (Devlin 2018), in Hugging Face's spelling: separate projections, an additive mask from attention_mask


def bert_embeddings(net, ids, kinds, length, width):
    words = net.weight(net.normal((30522, width), 0.5), "word_embeddings")
    places = net.weight(net.normal((512, width), 0.3), "position_embeddings")
    types = net.weight(net.normal((2, width), 0.3), "token_type_embeddings")
    positions = net.weight(np.arange(512, dtype=np.int64)[None], "position_ids")
    positions = net.op("Slice", positions, *[net.number([v], np.int64) for v in (0, length, 1)])
    x = net.op("Add", net.op("Gather", words, ids, axis=0), net.op("Gather", types, kinds, axis=0))
    return layer_norm(net, net.op("Add", x, net.op("Gather", places, positions, axis=0)), 1e-12)


def bert_mask(net, mask):
    mask = net.op("Unsqueeze", net.op("Unsqueeze", mask, net.number([1], np.int64)), net.number([2], np.int64))
    mask = net.op("Sub", net.number(1.0), net.op("Cast", mask, to=1))
    return net.op("Mul", mask, net.number(LOWEST))


def bert_attention(net, x, mask, heads):
    width = x.shape[2]
    q = split_heads(net, linear(net, x, width, gain=1.5), heads, [0, 2, 1, 3])
    k = split_heads(net, linear(net, x, width, gain=1.5), heads, [0, 2, 3, 1])
    v = split_heads(net, linear(net, x, width), heads, [0, 2, 1, 3])
    scores = net.op("Div", net.op("MatMul", q, k), net.number(np.sqrt(width / heads)))
    weights = net.op("Softmax", net.op("Add", scores, mask), axis=-1)
    return linear(net, merge_heads(net, net.op("MatMul", weights, v)), width)


def bert_base(net, length=128, width=768, layers=12, heads=12):
    ids = net.input("input_ids", net.rng.integers(0, 30522, (1, length), dtype=np.int64))
    attended = np.ones((1, length), np.int64)
    attended[:, length - length // 8:] = 0  # padding at the end, as in a real batch
    mask = bert_mask(net, net.input("attention_mask", attended))
    kinds = net.input("token_type_ids", np.repeat([[0, 1]], length // 2, axis=1).astype(np.int64))
    with net.scope("embeddings"):
        x = bert_embeddings(net, ids, kinds, length, width)
    for i in range(layers):
        with net.scope(f"layer.{i}"):
            x = layer_norm(net, net.op("Add", bert_attention(net, x, mask, heads), x), 1e-12)
            y = linear(net, gelu(net, linear(net, x, width * 4)), width)
            x = layer_norm(net, net.op("Add", y, x), 1e-12)
    pooled = net.op("Gather", x, net.number(0, np.int64), axis=1)
    pooled = net.op("Tanh", linear(net, pooled, width))
    net.output(x, "last_hidden_state")
    net.output(pooled, "pooler_output")


# --- Two bidirectional LSTM layers: input 256, hidden 256, 100 steps, batch in the middle


def zero_state(net, x, hidden):
    if not net.dynamic:
        return net.number(np.zeros((2, 1, hidden)))
    size = net.op("Unsqueeze", net.op("Gather", net.op("Shape", x), net.number(1, np.int64), axis=0),
                  net.number([0], np.int64))
    dims = net.op("Concat", net.number([2], np.int64), size, net.number([hidden], np.int64), axis=0)
    return net.op("ConstantOfShape", dims, value=numpy_helper.from_array(np.zeros(1, np.float32)))


def bidirectional_lstm(net, x, hidden):
    steps, _, width = x.shape
    bound = 1.5 / np.sqrt(hidden)
    w = net.weight(net.uniform((2, 4 * hidden, width), -bound, bound), "W")
    r = net.weight(net.uniform((2, 4 * hidden, hidden), -bound, bound), "R")
    b = net.weight(net.uniform((2, 8 * hidden), -bound, bound), "B")
    h, c = zero_state(net, x, hidden), zero_state(net, x, hidden)
    y, h, c = net.op("LSTM", x, w, r, b, None, h, c, hidden_size=hidden, direction="bidirectional", outputs=3)
    y = net.op("Transpose", y, perm=[0, 2, 1, 3])
    return net.op("Reshape", y, net.number([0, 0, -1], np.int64)), h, c


def lstm_bi2(net):
    x = net.input("input", net.normal((100, 1, 256), 1.0), batch_axis=1)
    states = []
    for layer in range(2):
        with net.scope(f"lstm.{layer}"):
            x, h, c = bidirectional_lstm(net, x, 256)
            states.append((h, c))
    net.output(x, "output", batch_axis=1)
    for name, pair in zip(("hn", "cn"), zip(*states)):
        net.output(net.op("Concat", *pair, axis=0), name, batch_axis=1)
