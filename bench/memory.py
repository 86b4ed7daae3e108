#!/usr/bin/env python3
"""Peak memory of a process that opens an engine and runs it, beside what its plan needs.

    bench/memory.py                         ResNet-50 on one thread
    bench/memory.py vit_b_16 bert_base --threads 2
    bench/memory.py --check 1.3             exit 1 when a peak is above 1.3 times weights + activations

`weights` are the bytes that kernels read in each run: packed as they want them (Winograd's transformed filters are up to
four times as large as 3x3 filters), else as the model has them. `activations` are the values between steps and the
largest scratch memory of a step. `peak` is VmHWM: everything that was ever resident at once, program and libraries
included, `file` and `anonymous` its parts when the process had run (file: mapped engine and libraries).
"""
import argparse
import sys
from pathlib import Path

from models import ROOT, child, engine_for

MIB = 1 << 20


def resident(pid):
    """RssFile and RssAnon of a living process, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    if "RssFile" not in fields:
        return None
    return [int(fields[name].split()[0]) * 1024 for name in ("RssFile", "RssAnon")]


def measure(options, model):
    engine = engine_for(options.trine, model, options.threads)
    parts = [0, 0]

    def watch(pid):
        parts[:] = max(parts, resident(pid) or parts, key=sum)

    report = child.run_json([options.trine, "bench", str(engine), "--threads", str(options.threads), "--duration", "1", "--json", "-"], watch)
    needed = report["plan_weight_bytes"] + report["activation_bytes"]
    cells = [report["weight_bytes"], report["plan_weight_bytes"], report["activation_bytes"], report["peak_bytes"], *parts]
    print(f"{model.stem:<18} " + " ".join(f"{c / MIB:>11.1f}" for c in cells) + f" {report['peak_bytes'] / needed:>7.3f}", flush=True)
    return report["peak_bytes"] / needed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["resnet50"], help="networks of bench/make_models.py")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--check", type=float)
    options = parser.parse_args()
    child.run([sys.executable, str(ROOT / "bench" / "make_models.py"), *options.names])
    print(f"{'MiB':<18} {'in model':>11} {'weights':>11} {'activations':>11} {'peak':>11} {'file':>11} {'anonymous':>11} {'ratio':>7}")
    worst = max(measure(options, ROOT / "build" / "models" / f"{name}.onnx") for name in options.names)
    if options.check and worst > options.check:
        print(f"error: memory: peak / (weights + activations) is {worst:.3f}; allowed are {options.check}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(child.guarded(main))
