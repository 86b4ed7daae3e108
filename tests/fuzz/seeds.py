#!/usr/bin/env python3
"""Makes the fuzz corpora from the backend node tests: small models, engines built from them, and the same files damaged.

    seeds.py NODE_TESTS CORPUS    ->  CORPUS/fuzz_onnx/*  CORPUS/fuzz_engine/*
"""

import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRINE = ROOT / "build" / "bin" / "trine"


def damaged(data, rng):
    """Truncated, with a flipped bit, with a byte repeated into a long run, with four bytes all ones (a huge count)."""
    at = rng.randrange(len(data))
    flipped = bytearray(data)
    flipped[at] ^= 1 << rng.randrange(8)
    yield data[:at]
    yield bytes(flipped)
    yield data[:at] + data[at:at + 1] * 40 + data[at:]
    yield data[:at] + b"\xff\xff\xff\x7f" + data[at + 4:]


def small_models(source):
    """Models below 2 kB, by operator."""
    models = {}
    for path in sorted(source.glob("*/model.onnx")):
        if path.stat().st_size < 2000:
            models.setdefault(path.parent.name.split("_")[1], []).append(path)
    return models


def engine_of(model, folder, code):
    """The engine file's bytes; None where the model has none."""
    engine = pathlib.Path(folder) / "m.trn"
    engine.unlink(missing_ok=True)
    command = [TRINE, "build", model, "-o", engine, "--verify", "off"] + ([] if code else ["--no-code"])
    subprocess.run(command, capture_output=True)
    return engine.read_bytes() if engine.exists() else None


def write(folder, files, rng):
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    for whole in files:
        for data in [whole, *damaged(whole, rng)]:
            (folder / f"{number:05}").write_bytes(data)
            number += 1
    (folder / "done").write_text("")


def main():
    source, corpus = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    models = small_models(source)
    if not (corpus / "fuzz_onnx" / "done").exists():
        write(corpus / "fuzz_onnx", [m.read_bytes() for group in models.values() for m in group[:4]], random.Random(1))
    if not (corpus / "fuzz_engine" / "done").exists():
        with tempfile.TemporaryDirectory() as folder:
            engines = [engine_of(group[0], folder, number % 8 == 0) for number, group in enumerate(models.values())]
        write(corpus / "fuzz_engine", [e for e in engines if e], random.Random(2))


if __name__ == "__main__":
    main()
