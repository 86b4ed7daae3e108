#!/usr/bin/env python3
"""Writes bench/dnn/lists from the networks of bench/make_models.py: their convolutions, products, attentions, pools,
recurrent layers and resizes, in benchdnn's format, with how often each occurs and what is fused behind it.

    bench/dnn/make_lists.py                 every list
    bench/dnn/make_lists.py resnet_50

Batch norm is folded into the convolution before it (a bias); the activation and the addition of a residual that follow
become post-operations. When two convolutions meet in one addition, the later one adds.
"""
import argparse
import subprocess
import sys
from pathlib import Path

import onnx
from onnx import numpy_helper, shape_inference

ROOT = Path(__file__).resolve().parent.parent.parent
LISTS = {  # list: (network, about)
    "resnet_50": ("resnet50", "ResNet-50 with the stride in the 3x3 (v1.5), 224x224"),
    "mobilenet_v2": ("mobilenet_v2", "MobileNetV2 1.0, 224x224"),
    "mobilenet_v3": ("mobilenet_v3_large", "MobileNetV3-Large 1.0, 224x224"),
    "efficientnet_b0": ("efficientnet_b0", "EfficientNet-B0, 224x224"),
    "yolov5s": ("yolov5s", "YOLOv5s (release 6), 640x640"),
    "convnext_tiny": ("convnext_tiny", "ConvNeXt-T, 224x224"),
    "bert_base": ("bert_base", "BERT-base, 128 tokens"),
    "vit_b_16": ("vit_b_16", "ViT-B/16, 224x224"),
    "lstm": ("lstm_bi2", "two bidirectional LSTM layers, input 256, hidden 256, 100 steps"),
}


class Graph:
    def __init__(self, path):
        model = shape_inference.infer_shapes(onnx.load(path), data_prop=True)
        self.nodes = list(model.graph.node)
        self.weights = {w.name: w for w in model.graph.initializer}
        self.shapes = {w.name: list(w.dims) for w in model.graph.initializer}
        for info in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
            self.shapes[info.name] = [d.dim_value for d in info.type.tensor_type.shape.dim]
        self.constants = {}
        self.consumers = {}
        for node in self.nodes:
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)

    def is_constant(self, name):
        return name in self.weights or name in self.constants

    def after(self, name):
        """The kinds of the nodes that read `name`, and the nodes."""
        nodes = self.consumers.get(name, [])
        return [n.op_type for n in nodes], nodes


def attribute(node, name, default):
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


class Epilogue:
    """What follows a contraction until something that cannot be fused."""

    def __init__(self, graph, claimed, value, bias):
        self.graph, self.claimed, self.bias, self.ops = graph, claimed, bias, []
        while value:
            value = self.step(value)

    def step(self, value):
        kinds, nodes = self.graph.after(value)
        if kinds == ["BatchNormalization"] or (kinds == ["Add"] and any(map(self.graph.is_constant, nodes[0].input))):
            self.bias = True
            return nodes[0].output[0] if not self.ops else None
        if any(op != "sum" for op in self.ops):  # after an activation only a residual
            return self.add(nodes[0]) if kinds == ["Add"] else None
        if kinds == ["Add"]:
            return self.add(nodes[0])
        return self.activation(kinds, nodes)

    def add(self, node):
        if "sum" in self.ops or node.name in self.claimed:
            return None
        self.claimed.add(node.name)
        self.ops.append("sum")
        return node.output[0]

    def activation(self, kinds, nodes):
        single = {"Relu": "relu", "Clip": "clip:0:6", "HardSigmoid": "hardsigmoid:0.166667:0.5", "Sigmoid": "logistic"}
        if len(kinds) == 1 and kinds[0] in single:
            self.ops.append(single[kinds[0]])
            return nodes[0].output[0]
        gates = {("Mul", "Sigmoid"): "swish:1", ("HardSigmoid", "Mul"): "hardswish:0.166667:0.5",
                 ("Div", "Mul"): "gelu_erf"}
        kind = gates.get(tuple(sorted(kinds)))
        if not kind:
            return None
        self.ops.append(kind)
        product = next(n for n in nodes if n.op_type == "Mul")
        return self.graph.consumers[product.output[0]][0].output[0] if kind == "gelu_erf" else product.output[0]


def spatial(letter, values):
    """`ih56` when both are the same, else `ih56iw28`."""
    return f"{letter}h{values[0]}" + ("" if values[0] == values[1] else f"{letter}w{values[1]}")


def window(x, y, kernel, strides, pads):
    """Sizes of a sliding window; when one of them is not square, all are written for both dimensions."""
    groups = [("i", x[2:]), ("o", y[2:]), ("k", kernel), ("s", strides), ("p", pads[:2])]
    if all(v[0] == v[1] for _, v in groups):
        return "".join(spatial(letter, v) for letter, v in groups)
    return "".join(f"{letter}h{v[0]}{letter}w{v[1]}" for letter, v in groups)


class Lister:
    def __init__(self, graph):
        self.graph, self.claimed, self.rows = graph, set(), []

    def shape(self, name):
        return self.graph.shapes[name]

    def conv(self, node):
        x, w, y = self.shape(node.input[0]), self.shape(node.input[1]), self.shape(node.output[0])
        group = attribute(node, "group", 1)
        epilogue = Epilogue(self.graph, self.claimed, node.output[0], len(node.input) > 2)
        text = (f"g{group}" if group > 1 else "") + f"mb{x[0]}ic{x[1]}oc{w[0]}" + window(
            x, y, w[2:], attribute(node, "strides", [1, 1]), attribute(node, "pads", [0] * 4))
        return "conv", {"dir": "FWD_B" if epilogue.bias else "FWD_D", "attr-post-ops": "+".join(epilogue.ops)}, text

    def gemm(self, node):
        n, k = self.shape(node.input[1])
        epilogue = Epilogue(self.graph, self.claimed, node.output[0], True)
        options = {"dir": "FWD_B", "attr-post-ops": "+".join(epilogue.ops)}
        return "ip", options, f"mb{self.shape(node.input[0])[0]}ic{k}oc{n}"

    def matmul(self, node):
        a, b = self.shape(node.input[0]), self.shape(node.input[1])
        if not self.graph.is_constant(node.input[1]):
            if self.reaches(node.output[0], "Softmax"):  # scores; the product with the values belongs to the same entry
                values = [b[0], b[1], b[3], b[2]]
                return "sdpa", {}, ":".join("x".join(map(str, dims)) for dims in (a, b, values))
            return None
        rows = 1
        for d in a[:-1]:
            rows *= d
        epilogue = Epilogue(self.graph, self.claimed, node.output[0], False)
        options = {"bia-dt": "f32" if epilogue.bias else "undef", "attr-post-ops": "+".join(epilogue.ops)}
        return "matmul", options, f"{rows}x{a[-1]}:{b[0]}x{b[1]}"

    def reaches(self, value, kind):
        while len(self.graph.consumers.get(value, [])) == 1:
            node = self.graph.consumers[value][0]
            if node.op_type == kind:
                return True
            if node.op_type not in ("Add", "Div", "Mul"):
                return False
            value = node.output[0]
        return False

    def pool(self, node):
        x, y = self.shape(node.input[0]), self.shape(node.output[0])
        whole = node.op_type == "GlobalAveragePool"
        kernel = x[2:] if whole else attribute(node, "kernel_shape", None)
        alg = "max" if node.op_type == "MaxPool" else "avg_np"
        strides, pads = attribute(node, "strides", [1, 1]), attribute(node, "pads", [0] * 4)
        return "pool", {"alg": alg}, f"mb{x[0]}ic{x[1]}" + window(x, y, kernel, strides, pads)

    def resize(self, node):
        x, y = self.shape(node.input[0]), self.shape(node.output[0])
        return "resampling", {"alg": attribute(node, "mode", b"nearest").decode()}, f"mb{x[0]}ic{x[1]}" + spatial(
            "i", x[2:]) + spatial("o", y[2:])

    def lstm(self, node):
        steps, batch, width = self.shape(node.input[0])
        hidden = attribute(node, "hidden_size", 0)
        both = attribute(node, "direction", b"forward") == b"bidirectional"
        options = {"alg": "VANILLA_LSTM", "prop": "FWD_I", "direction": "concat" if both else "left2right"}
        return "rnn", options, f"l1t{steps}mb{batch}sic{hidden}slc{width}"

    def all_rows(self):
        makers = {"Conv": self.conv, "Gemm": self.gemm, "MatMul": self.matmul, "MaxPool": self.pool,
                  "AveragePool": self.pool, "GlobalAveragePool": self.pool, "Resize": self.resize, "LSTM": self.lstm}
        rows = []
        for node in reversed(self.graph.nodes):  # backwards: the later of two takes the addition
            row = makers[node.op_type](node) if node.op_type in makers else None
            if row:
                rows.append((*row, node.name.strip("/").replace("/", ".")))
        return rows[::-1]


def write(name, about, rows, out):
    counts, first = {}, {}
    for driver, options, text, node in rows:
        key = (driver, tuple(sorted(options.items())), text)
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, node)
    lines = [f"# {about}. Written by bench/dnn/make_lists.py."]
    for driver in dict.fromkeys(key[0] for key in counts):
        lines.append(f"\n--{driver}")
        state = {}
        for key in (k for k in counts if k[0] == driver):
            changed = [f"--{o}={v}" for o, v in key[1] if state.get(o, "") != v]
            state.update(key[1])
            times = f"*{counts[key]}" if counts[key] > 1 else ""
            underscore = "_" if driver in ("matmul", "sdpa") else ""
            lines += [" ".join(changed)] if changed else []
            lines.append(f'{key[2]}{underscore}n"{name}:{first[key]}{times}"')
    out.write_text("\n".join(lines) + "\n")
    print(f"{out.name}: {len(counts)} problems, {len(rows)} layers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="LIST")
    parser.add_argument("--models", type=Path, default=ROOT / "build" / "models")
    options = parser.parse_args()
    names = options.names or list(LISTS)
    networks = [LISTS[name][0] for name in names]
    if not all((options.models / f"{n}.onnx").is_file() for n in networks):
        maker = ROOT / "bench" / "make_models.py"
        subprocess.run([sys.executable, str(maker), *networks, "--out", str(options.models)], check=True)
    folder = ROOT / "bench" / "dnn" / "lists"
    folder.mkdir(exist_ok=True)
    for name in names:
        network, about = LISTS[name]
        write(name, about, Lister(Graph(options.models / f"{network}.onnx")).all_rows(), folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
