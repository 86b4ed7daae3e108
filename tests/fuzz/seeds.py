#!/usr/bin/env python3
"""Makes the importer's fuzz corpus from the backend node tests: small models, and the same ones damaged.

    seeds.py NODE_TESTS CORPUS    ->  CORPUS/fuzz_onnx/*
"""

import pathlib
import random
import sys


def damaged(model, rng):
    """Truncated, with a flipped bit, and with a byte repeated into a long run."""
    at = rng.randrange(len(model))
    flipped = bytearray(model)
    flipped[at] ^= 1 << rng.randrange(8)
    yield model[:at]
    yield bytes(flipped)
    yield model[:at] + model[at:at + 1] * 40 + model[at:]


def main():
    source, corpus = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "fuzz_onnx"
    if (corpus / "done").exists():
        return
    corpus.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    models = {}
    for path in sorted(source.glob("*/model.onnx")):
        model = path.read_bytes()
        if len(model) < 2000:
            models.setdefault(path.parent.name.split("_")[1], []).append(model)
    number = 0
    for group in models.values():
        for model in group[:4]:
            for data in [model, *damaged(model, rng)]:
                (corpus / f"{number:05}").write_bytes(data)
                number += 1
    (corpus / "done").write_text("")


if __name__ == "__main__":
    main()
