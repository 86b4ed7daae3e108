#!/usr/bin/env python3
"""Times whole networks beside other runtimes and prints the table.

    bench/models.py                                 the networks of the goal, batch 1, on one thread and on two
    bench/models.py --peers onnxruntime,openvino --batch 1 8 --threads 1 2
    bench/models.py resnet50 bert_base --threads 1
    bench/models.py --files a.onnx b.onnx --peers onnxruntime
    bench/models.py --check 1.0 1.3                 exit 1 when a ratio is below 1.0 or their geometric mean below 1.3
    bench/models.py --precision bf16 --peers ''     our other number formats
    bench/models.py --also bf16 --peers ''          both, and how much faster the second is
    bench/models.py --save                          the figures go to bench/results, named by machine, day and precision
    bench/models.py --markdown                      the table once more, as the README has it

Each row is one `trine bench`: rounds of all runtimes alternate in one call, same inputs, same threads, medians. Results in
f32 that differ from those of every peer by more than 1e-3 end it with exit status 1. `ratio` is the time of the FASTEST peer
over ours: above 1, Trine is faster. Peers are onnxruntime, openvino, ncnn and torch; one that is not installed, or that
cannot run a network, is left out with a line that says so (scripts/requirements-bench.txt has openvino,
scripts/requirements-peers.txt the last two). Everything lands in build/bench/models.json, with the machine's name.
"""
import argparse
import datetime
import json
import math
import platform
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import child  # noqa: E402

GOAL = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "squeezenet1_1",
        "shufflenet_v2", "convnext_tiny", "vit_b_16", "bert_base", "lstm_bi2"]
MODELS = ROOT / "build" / "models"


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def with_batch(name, batch):
    """The network at a batch size: its own file for 1, else the one with a symbolic batch, with the number put in."""
    variant = name if batch == 1 else f"{name}-dyn"
    child.run([sys.executable, str(ROOT / "bench" / "make_models.py"), "--out", str(MODELS), variant])
    path = MODELS / f"{variant}.onnx"
    if batch == 1:
        return path
    fixed = MODELS / f"{name}-b{batch}.onnx"
    if not fixed.exists() or fixed.stat().st_mtime < path.stat().st_mtime:
        import onnx
        model = onnx.load(path)
        for value in [*model.graph.input, *model.graph.output]:
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param == "N":
                    dim.dim_value = batch
        onnx.save(model, fixed)
    return fixed


def engine_for(trine, model, threads, precision="fp32"):
    engine = ROOT / "build" / "bench" / f"{model.stem}.{threads}.{precision}.trn"
    engine.parent.mkdir(parents=True, exist_ok=True)
    child.run([trine, "build", str(model), "-o", str(engine), "--threads", str(threads), "--precision", precision])
    return engine


def measure(options, model, threads, precision, peers):
    """Every peer that can run the model, in one call. One that fails is named and left out; one that is not there leaves
    `peers` for good."""
    engine = engine_for(options.trine, model, threads, precision)
    able = list(peers)
    while True:
        command = [options.trine, "bench", str(engine), "--threads", str(threads), "--duration", str(options.duration),
                   "--peer-model", str(model), "--json", "-"]
        try:
            return child.run_json(command + (["--against", ",".join(able)] if able else []))
        except child.Failed as failure:
            guilty = re.match(r"error: (\w+):", str(failure))
            if not guilty or guilty[1] not in able:
                raise
            print(str(failure).splitlines()[0].replace("error:", "left out:"), flush=True)
            able.remove(guilty[1])
            if "; install it for" in str(failure):
                peers.remove(guilty[1])


def ratio_of(report):
    """The fastest peer's time over ours; None when there is no peer."""
    return min((peer["ratio"] for peer in report["peers"].values()), default=None)


def header(peers):
    cells = " ".join(f"{p + ' ms':>15} {'error':>8}" for p in peers)
    return f"{'network':<22} batch threads   trine ms {cells}   ratio"


def row(report, peers):
    ours = report["latency_ms"]["median"]
    cells = [f"{report['model']:<22} {report['batch']:>5} {report['threads']:>7} {ours:>10.3f}"]
    for name in peers:
        peer = report["peers"].get(name)
        cell = f"{peer['latency_ms']['median']:>15.3f} {peer['max_rel_error']:>8.0e}" if peer else f"{'-':>15} {'':>8}"
        cells.append(cell)
    ratio = ratio_of(report)
    return " ".join(cells) + (f" {ratio:>7.2f}" if ratio else "")


def parted(reports, most=1e-3):
    """Names what is measured for nothing: f32 results that are further than `most` from those of every peer."""
    errors = [(r, [peer["max_rel_error"] for peer in r["peers"].values()]) for r in reports]
    return [f"{r['model']}, batch {r['batch']}, {r['threads']} threads: {min(e):.0e}" for r, e in errors
            if e and not min(e) <= most]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(reports, peers):
    """Geometric means for each number of threads and batch size, and of all."""
    lines = []
    for batch, threads in sorted({(r["batch"], r["threads"]) for r in reports}):
        ratios = [ratio_of(r) for r in reports if (r["batch"], r["threads"]) == (batch, threads) and r["peers"]]
        if ratios:
            lines.append(f"batch {batch}, {threads} threads: geometric mean {geometric_mean(ratios):.3f}, "
                         f"lowest {min(ratios):.3f}")
    ratios = [ratio_of(r) for r in reports if r["peers"]]
    if ratios:
        lines.append(f"fastest of {', '.join(peers)} over trine: geometric mean {geometric_mean(ratios):.3f}, "
                     f"lowest {min(ratios):.3f}")
    return lines + scaling(reports) + gains(reports)


def gains(reports):
    """Our time over that in the precision of --also: a line for each batch size and number of threads."""
    lines = []
    for batch, threads in sorted({(r["batch"], r["threads"]) for r in reports}):
        both = [r for r in reports if (r["batch"], r["threads"]) == (batch, threads) and "also" in r]
        if both:
            each = [f"{r['model']} {r['latency_ms']['median'] / r['also']['latency_ms']['median']:.2f}" for r in both]
            lines.append(f"gain of {both[0]['also']['precision']}, batch {batch}, {threads} threads: {', '.join(each)}")
    return lines


def scaling(reports):
    """Our time on the fewest threads over that on the most: a line for each batch size."""
    fewest, most = min(r["threads"] for r in reports), max(r["threads"] for r in reports)
    if fewest == most:
        return []
    times = {(r["model"], r["batch"], r["threads"]): r["latency_ms"]["median"] for r in reports}
    lines = []
    for batch in sorted({r["batch"] for r in reports}):
        gains = [f"{name} {times[name, batch, fewest] / times[name, batch, most]:.2f}"
                 for name in dict.fromkeys(r["model"] for r in reports if r["batch"] == batch)]
        lines.append(f"scaling from {fewest} to {most} threads, batch {batch}: {', '.join(gains)}")
    return lines


def markdown(reports, peers):
    """A line for each network and batch size; for each number of threads: ours, the peers, the ratio."""
    threads = sorted({r["threads"] for r in reports})
    heads = ["network", "batch"]
    for t in threads:
        heads += [f"{t} thread{'s' * (t > 1)}", *peers] + ["ratio"] * bool(peers)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, batch in dict.fromkeys((r["model"], r["batch"]) for r in reports):
        cells = [name, str(batch)]
        for report in (r for r in reports if (r["model"], r["batch"]) == (name, batch)):
            times = [report["latency_ms"]] + [report["peers"].get(p, {}).get("latency_ms") for p in peers]
            cells += [f"{t['median']:.3g}" if t else "-" for t in times]
            cells += [f"{ratio_of(report):.2f}" if report["peers"] else "-"] if peers else []
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def write(reports, options):
    text = json.dumps({"machine": cpu_name(), "date": datetime.date.today().isoformat(), "command": sys.argv,
                       "precision": options.precision, "reports": reports}, indent=1) + "\n"
    out = ROOT / "build" / "bench" / "models.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    if options.save:
        machine = re.sub(r"[^a-z0-9]+", "-", cpu_name().lower()).strip("-")
        path = ROOT / "bench" / "results" / f"models-{machine}-{options.precision}-{datetime.date.today()}.json"
        path.write_text(text)
        print(f"saved {path.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks of bench/make_models.py")
    parser.add_argument("--files", nargs="*", type=Path, default=[], help="other ONNX files")
    parser.add_argument("--batch", nargs="*", type=int, default=[1], help="batch sizes of the networks")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--peers", default="onnxruntime")
    parser.add_argument("--duration", type=float, default=6)
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--check", nargs=2, type=float, metavar=("LOWEST", "MEAN"))
    parser.add_argument("--precision", default="fp32", help="as trine build takes it; peers stay fp32")
    parser.add_argument("--also", metavar="PRECISION", help="a second precision of ours, measured right after")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    names = options.names or ([] if options.files else GOAL)
    peers = [p for p in options.peers.split(",") if p]
    present = list(peers)
    print(cpu_name())
    print(header(peers))
    reports = []
    for batch in options.batch if names else [1]:
        for model in [*names, *options.files]:
            path = model if isinstance(model, Path) else with_batch(model, batch)
            for threads in options.threads:  # one after the other: their ratio is the scaling
                report = measure(options, path, threads, options.precision, present)
                report |= {"model": model.stem if isinstance(model, Path) else model, "batch": batch}
                if options.also:
                    report["also"] = measure(options, path, threads, options.also, []) | {"precision": options.also}
                reports.append(report)
                print(row(report, peers), flush=True)
    print("\n".join(summary(reports, present)))
    if options.markdown:
        print("\n".join(markdown(reports, present)))
    write(reports, options)
    wrong = parted(reports) if options.precision == "fp32" else []
    if wrong:
        print(f"error: models: results differ from every peer's: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    ratios = [ratio_of(r) for r in reports if r["peers"]]
    lowest, mean = options.check or (0, 0)
    if options.check and (not ratios or min(ratios) < lowest or geometric_mean(ratios) < mean):
        print(f"error: models: ratios below {lowest}, or their mean below {mean}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(child.guarded(main))
