#!/usr/bin/env python3
"""Times whole networks beside onnxruntime and prints the table.

    bench/models.py                                 the networks of the goal, on one thread and on two
    bench/models.py resnet50 bert_base --threads 1
    bench/models.py --files a.onnx b.onnx --against onnxruntime,openvino
    bench/models.py --check 1.3 1.1                 exit 1 when one network is slower than 1.3x its peer's time, or the
                                                    geometric mean than 1.1x

Each row is one `trine bench`: rounds of both runtimes alternate in one call, same inputs, same threads, medians.
`ours/peer` below 1: Trine is faster. Everything lands in build/bench/models.json, with the machine's name.
"""
import argparse
import json
import math
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import child  # noqa: E402

GOAL = ["resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16", "bert_base", "yolov5s", "lstm_bi2"]


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def engine_for(trine, model, threads):
    engine = ROOT / "build" / "bench" / f"{model.stem}.{threads}.trn"
    engine.parent.mkdir(parents=True, exist_ok=True)
    child.run([trine, "build", str(model), "-o", str(engine), "--threads", str(threads)])
    return engine


def measure(options, model, threads):
    engine = engine_for(options.trine, model, threads)
    report = child.run_json([options.trine, "bench", str(engine), "--threads", str(threads), "--duration", str(options.duration),
                             "--against", options.against, "--peer-model", str(model), "--json", "-"])
    report["model"] = model.stem
    return report


def print_row(report, peers):
    cells = [f"{report['model']:<22}", f"{report['threads']:>7}", f"{report['latency_ms']['median']:>10.3f}"]
    for name in peers:
        peer = report["peers"][name]
        cells += [f"{peer['latency_ms']['median']:>14.3f}", f"{1 / peer['ratio']:>10.2f}", f"{peer['max_rel_error']:>10.1e}"]
    print(" ".join(cells), flush=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks of bench/make_models.py")
    parser.add_argument("--files", nargs="*", type=Path, default=[], help="other ONNX files")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--against", default="onnxruntime")
    parser.add_argument("--duration", type=float, default=6)
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--check", nargs=2, type=float, metavar=("WORST", "MEAN"))
    options = parser.parse_args()
    names = options.names or ([] if options.files else GOAL)
    if names:
        child.run([sys.executable, str(ROOT / "bench" / "make_models.py"), *names])
    models = [ROOT / "build" / "models" / f"{n}.onnx" for n in names] + options.files
    peers = options.against.split(",")
    print(cpu_name())
    print(f"{'network':<22} threads   trine ms " + " ".join(f"{p + ' ms':>14} {'ours/peer':>10} {'rel error':>10}" for p in peers))
    reports = []
    for threads in options.threads:
        for model in models:
            reports.append(measure(options, model, threads))
            print_row(reports[-1], peers)
    slower = [1 / r["peers"][peers[0]]["ratio"] for r in reports]
    print(f"ours/{peers[0]}: geometric mean {geometric_mean(slower):.3f}, worst {max(slower):.3f}")
    out = ROOT / "build" / "bench" / "models.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"machine": cpu_name(), "reports": reports}, indent=1) + "\n")
    if options.check and (max(slower) > options.check[0] or geometric_mean(slower) > options.check[1]):
        print(f"slower than allowed: worst at most {options.check[0]}, mean at most {options.check[1]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(child.guarded(main))
