"""A detector with YOLOv5s's layers (release 6): CSP backbone, SPPF, path aggregation, decoded heads; 640x640."""
import numpy as np

from .convnets import max_pool
from .layers import conv, conv_bn, silu

STRIDES = [8, 16, 32]
ANCHORS = np.array([[10, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119], [116, 90, 156, 198, 373, 326]], np.float32)


def block(net, x, out, kernel=1, stride=1, pad=None):
    return conv_bn(net, x, out, kernel, stride, act=silu, pad=pad)


def c3(net, x, out, repeats, shortcut=True):
    left = block(net, x, out // 2)
    for _ in range(repeats):
        y = block(net, block(net, left, out // 2), out // 2, 3)
        left = net.op("Add", left, y) if shortcut else y
    return block(net, net.op("Concat", left, block(net, x, out // 2), axis=1), out)


def sppf(net, x, out):
    pools = [block(net, x, x.shape[1] // 2)]
    for _ in range(3):
        pools.append(max_pool(net, pools[-1], 5, 1, 2))
    return block(net, net.op("Concat", *pools, axis=1), out)


def upsample(net, x):
    scales = net.number([1, 1, 2, 2])
    return net.op("Resize", x, None, scales, mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric")


def detect(net, x, level, classes):
    """[N, 3 * (5 + classes), h, w] -> [N, 3 * h * w, 5 + classes] in pixels: centre, size, objectness, classes."""
    _, _, h, w = x.shape
    n = 5 + classes
    y = conv(net, x, 3 * n, 1, bias=True, gain=1.0)
    y = net.op("Transpose", net.reshape(y, [1, 3, n, h, w]), perm=[0, 1, 3, 4, 2])
    y = net.op("Sigmoid", y)
    xy, wh, scores = net.op("Split", y, net.number([2, 2, n - 4], np.int64), axis=4, outputs=3)
    rows, columns = np.mgrid[0:h, 0:w]
    grid = np.broadcast_to(np.stack([columns, rows], -1) - 0.5, (1, 3, h, w, 2)).astype(np.float32)
    anchors = np.broadcast_to(ANCHORS[level].reshape(1, 3, 1, 1, 2), (1, 3, h, w, 2))
    xy = net.op("Add", net.op("Mul", xy, net.number(2.0)), net.weight(grid, "grid"))
    xy = net.op("Mul", xy, net.number(float(STRIDES[level])))
    wh = net.op("Pow", net.op("Mul", wh, net.number(2.0)), net.number(2.0))
    wh = net.op("Mul", wh, net.weight(anchors, "anchor_grid"))
    return net.reshape(net.op("Concat", xy, wh, scores, axis=4), [1, 3 * h * w, n])


def yolov5s(net, classes=80):
    x = net.input("images", net.normal((1, 3, 640, 640), 1.0))  # what benchmarks feed it: random normal numbers
    x = block(net, x, 32, 6, 2, pad=2)
    kept = []
    for out, repeats in [(64, 1), (128, 2), (256, 3), (512, 1)]:
        with net.scope(f"backbone{out}"):
            x = c3(net, block(net, x, out, 3, 2), out, repeats)
            kept.append(x)
    x = sppf(net, x, 512)
    laterals = []
    for skip in (kept[2], kept[1]):
        with net.scope(f"up{skip.shape[1]}"):
            x = block(net, x, skip.shape[1])
            laterals.append(x)
            x = c3(net, net.op("Concat", upsample(net, x), skip, axis=1), skip.shape[1], 1, False)
    levels = [x]
    for lateral in reversed(laterals):
        with net.scope(f"down{lateral.shape[1]}"):
            x = block(net, x, lateral.shape[1], 3, 2)
            x = c3(net, net.op("Concat", x, lateral, axis=1), lateral.shape[1] * 2, 1, False)
            levels.append(x)
    heads = []
    for level, x in enumerate(levels):
        with net.scope(f"detect{level}"):
            heads.append(detect(net, x, level, classes))
    net.output(net.op("Concat", *heads, axis=1), "output")
