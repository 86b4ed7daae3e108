#!/usr/bin/env python3
"""Runs networks through Trine and onnxruntime on the same tensors and compares every output.

    scripts/check_against_ort.py                       the trained networks of make_samples.py, on what they are made for
    scripts/check_against_ort.py m.onnx ...            these, on random inputs (symbolic sizes are 1)
    scripts/check_against_ort.py --made resnet18 ...   networks of bench/make_models.py

Each network is built into an engine file and run from it. An output passes when max |a - b| / max |b| is at most
--tolerance (1e-4: fp32 sums in another order).
"""
import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime as ort
from PIL import Image

import child

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "build" / "quickstart"


def picture(path, size, mean=0.5, std=0.5):
    pixels = np.asarray(Image.open(path).convert("RGB").resize(size), np.float32) / 255
    return np.ascontiguousarray(((pixels - mean) / std).transpose(2, 0, 1)[None])


def text_line():
    """One line cut out of the sign, as a recogniser sees it."""
    line = Image.open(SAMPLES / "page.png").convert("RGB").crop((145, 50, 845, 110)).resize((560, 48))
    return np.ascontiguousarray((np.asarray(line, np.float32) / 127.5 - 1).transpose(2, 0, 1)[None])


def speech(rng, samples=576):
    """A vowel-like buzz: harmonics of 120 Hz with noise."""
    t = np.arange(samples) / 16000
    wave = sum(np.sin(2 * np.pi * 120 * k * t) / k for k in range(1, 20)) * 0.2
    return (wave + rng.normal(0, 0.01, samples)).astype(np.float32)[None]


def sample_cases(rng):
    """(file, feeds); shapes are those that each network's own package uses."""
    page_mean, page_std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    state = np.zeros((2, 1, 128), np.float32)
    vad = {"input": speech(rng), "state": state, "sr": np.array(16000, np.int64)}
    script = np.frombuffer((ROOT / "scripts" / "test.sh").read_bytes()[:1024].ljust(1024), np.uint8).astype(np.int32)
    yield "text_detector.onnx", {"x": picture(SAMPLES / "sign.png", (960, 512))}
    yield "text_detector_v4.onnx", {"x": picture(SAMPLES / "sign.png", (960, 512))}
    yield "text_recogniser.onnx", {"x": text_line()}
    yield "text_recogniser_v4.onnx", {"x": text_line()}
    yield "text_direction.onnx", {"x": picture(SAMPLES / "sign.png", (192, 48))}
    yield "page_layout.onnx", {"image": picture(SAMPLES / "page.png", (608, 800), page_mean, page_std)}
    yield "speech.onnx", vad
    yield "speech_op15.onnx", vad
    yield "speech_ifless.onnx", vad
    yield "speech_half.onnx", {k: vad[k] for k in ("input", "state")}
    yield "file_type.onnx", {"bytes": np.concatenate([script, script])[None]}
    yield "notes.onnx", {"serving_default_input_2:0": speech(rng, 43844)[..., None]}


def random_feeds(session, rng):
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": bool}
    feeds = {}
    for i in session.get_inputs():
        dims = [d if isinstance(d, int) else 1 for d in i.shape]
        kind = kinds[i.type]
        data = rng.standard_normal(dims) if kind is np.float32 else rng.integers(0, 2, dims)
        feeds[i.name] = np.asarray(data).astype(kind)
    return feeds


def run_trine(trine, model, feeds, names, folder):
    engine = folder / "m.trn"
    child.run([trine, "build", str(model), "-o", str(engine)])
    command = [trine, "run", str(engine)]
    for k, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"in{k}.npy", value)
        command += ["--input", f"{name}={folder}/in{k}.npy"]
    for k, name in enumerate(names):
        command += ["--output", f"{name}={folder}/out{k}.npy"]
    child.run(command)
    return [np.load(folder / f"out{k}.npy") for k in range(len(names))]


def relative_error(got, wanted):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return np.inf
    if got.size == 0:
        return 0.0
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    if not (np.isfinite(got) == np.isfinite(wanted)).all():
        return np.inf
    return float(np.nanmax(np.abs(got - wanted)) / max(float(np.nanmax(np.abs(wanted))), 1e-30))


def check(trine, model, feeds, tolerance, rng):
    try:
        session = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        feeds = feeds or random_feeds(session, rng)
        names = [o.name for o in session.get_outputs()]
        wanted = session.run(names, feeds)
    except Exception as error:  # the runtime's own classes have no common base
        print(f"FAILED  {model.name}: onnxruntime: {str(error).splitlines()[0]}", flush=True)
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            got = run_trine(trine, model, feeds, names, Path(folder))
        except child.Failed as failure:
            print(f"FAILED  {model.name}: {failure}", flush=True)
            return False
    worst = max(relative_error(g, w) for g, w in zip(got, wanted))
    good = worst <= tolerance
    print(f"{'ok' if good else 'DIFFERS':<7} {model.name}: {len(names)} outputs, relative error {worst:.2e}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--made", action="store_true", help="the names are networks of bench/make_models.py")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    ort.set_default_logger_severity(3)
    rng = np.random.default_rng(11)
    if options.made:
        child.run([sys.executable, str(ROOT / "bench" / "make_models.py"), *map(str, options.models)], show=True)
        cases = [(ROOT / "build" / "models" / f"{m}.onnx", None) for m in options.models]
    elif options.models:
        cases = [(m, None) for m in options.models]
    else:
        child.run([sys.executable, str(ROOT / "scripts" / "make_samples.py"), str(SAMPLES)], show=True)
        cases = [(SAMPLES / "models" / name, feeds) for name, feeds in sample_cases(rng)]
    passed = sum([check(options.trine, model, feeds, options.tolerance, rng) for model, feeds in cases])
    print(f"models against onnxruntime: {passed} of {len(cases)} passed")
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(child.guarded(main))
