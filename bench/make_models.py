#!/usr/bin/env python3
"""Makes the benchmark networks: real architectures, random weights, as PyTorch's exporter spells them.

    bench/make_models.py                          every network, batch 1, into build/models
    bench/make_models.py resnet50 bert_base-dyn   only these
    bench/make_models.py --list

Suffixes: `-dyn` has a symbolic batch "N" and computes its shapes in the graph; `-decomposed` (networks with layer norm)
is written at opset 16, where LayerNormalization does not exist. Every network is run by onnxruntime afterwards, on
other input: outputs must be finite and not constant. A file that is there already is kept (--force makes it again).
"""
import argparse
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, str(Path(__file__).parent))
from networks import convnets, sequences, yolo  # noqa: E402
from networks.net import Net  # noqa: E402

NETWORKS = {
    "resnet18": convnets.resnet18,
    "resnet50": convnets.resnet50,
    "mobilenet_v2": convnets.mobilenet_v2,
    "mobilenet_v3_large": convnets.mobilenet_v3_large,
    "efficientnet_b0": convnets.efficientnet_b0,
    "densenet121": convnets.densenet121,
    "squeezenet1_1": convnets.squeezenet1_1,
    "shufflenet_v2": convnets.shufflenet_v2,
    "convnext_tiny": convnets.convnext_tiny,
    "vit_b_16": sequences.vit_b_16,
    "bert_base": sequences.bert_base,
    "yolov5s": yolo.yolov5s,
    "lstm_bi2": sequences.lstm_bi2,
}
WITH_LAYER_NORM = ["convnext_tiny", "vit_b_16", "bert_base"]
VARIANTS = [*NETWORKS, *(n + "-dyn" for n in NETWORKS), *(n + "-decomposed" for n in WITH_LAYER_NORM)]


def make(variant):
    name, _, suffix = variant.partition("-")
    opset = 16 if suffix == "decomposed" else 17
    net = Net(variant, opset, suffix == "dyn", seed=zlib.crc32(name.encode()))
    NETWORKS[name](net)
    return net


def fresh_feeds(net, batch, rng):
    """Other numbers of the kind that the network was made with, at another batch size when it takes one."""
    feeds = {}
    for info, axis, array in net.inputs:
        array = np.repeat(array, batch, axis) if net.dynamic else array
        if array.dtype == np.float32:
            array = array[..., ::-1] + rng.standard_normal(array.shape).astype(np.float32) * 0.1
        feeds[info.name] = np.ascontiguousarray(array)
    return feeds


def check(net, path):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(2)
    for batch in (1, 3) if net.dynamic else (1,):
        for name, array in zip([o.name for o in net.outputs], session.run(None, fresh_feeds(net, batch, rng))):
            if not np.isfinite(array).all() or array.std() < 1e-3:
                raise ValueError(f"{net.name}: output {name} has deviation {array.std()}; wanted finite and not constant")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "build" / "models")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(VARIANTS))
        return 0
    unknown = [v for v in options.variants if v not in VARIANTS]
    if unknown:
        print(f"error: make_models: no network {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    for variant in options.variants or NETWORKS:
        path = options.out / f"{variant}.onnx"
        if path.exists() and not options.force:
            continue
        started = time.time()
        net = make(variant)
        partial = path.with_suffix(".partial")
        onnx.save(net.model(), str(partial))
        check(net, partial)
        partial.rename(path)
        print(f"{variant}: {len(net.nodes)} nodes, {path.stat().st_size / 1e6:.1f} MB, largest |activation| "
              f"{net.largest:.3g}, {time.time() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
