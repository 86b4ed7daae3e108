#!/usr/bin/env python3
"""Times whole networks on a GPU beside PyTorch: eager, and torch.compile with frozen weights.

    bench/gpu_models.py pack FOLDER                     here: graphs of the networks without weights (100 KB each)
    bench/gpu_models.py run FOLDER                      there: the table; FOLDER/gpu_models.json has everything
    bench/gpu_models.py run FOLDER resnet50 --batch 1 32 --budget 20 --markdown
    bench/gpu_models.py run FOLDER --peers OLD.json     PyTorch's times from an earlier run on the same kind of machine
    bench/gpu_models.py run FOLDER --mode max-autotune-no-cudagraphs --compile-limit 400
    bench/gpu_models.py show FOLDER/gpu_models.json     the tables of a result once more

Both sides have the same architecture, the same random weights (PyTorch's, written out for us), the same inputs, and one
CUDA graph; a time is that of one replay with inputs and outputs on the device: many replays right behind each other between
two events, divided by their number (queued_ms). The JSON also has one replay behind a copy of the inputs (compute_ms) and
whole runs by the host's clock (end_to_end_ms). `error` is the largest difference from PyTorch's f32 outputs over their
largest value. `floor` is on_gpu/report.py's. Ratios are PyTorch's time over ours: above 1, Trine is faster.

Networks of one batch size are taken together: PyTorch compiles and our engines are built at the same time, then each is
measured with nothing else running. Results are written after each network; where --seconds would be passed, what is left
is not begun. Without PyTorch the weights are random and ours is measured alone.
"""
import argparse
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))
from on_gpu import crew, graphs, ours, report  # noqa: E402

NETWORKS = ["resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16", "bert_base"]


def pack(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    models = ROOT / "build" / "models"
    for name in options.names:
        def make():
            import onnx
            subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", "--out", models, f"{name}-dyn"], check=True)
            return onnx.load(models / f"{name}-dyn.onnx")
        graphs.pack(make, name, options.folder)
    return 0


def has_torch():
    return all(importlib.util.find_spec(m) for m in ("torch", "torchvision", "transformers"))


def write_weights(options):
    """PyTorch's where it is there, with its f32 outputs."""
    missing = [n for n in options.names if not (options.folder / f"{n}.bin").exists()
               or (options.torch and not all((options.folder / f"{n}-{b}.npz").exists() for b in options.batch))]
    if missing and options.torch:
        batches = ",".join(map(str, options.batch))
        command = [sys.executable, crew.PEERS, "weights", options.folder, batches, *missing]
        if subprocess.run(command).returncode == 0:
            return
        print("PyTorch writes no weights: ours is measured alone, with random ones", flush=True)
        options.torch = False
    for name in missing:
        spec = graphs.spec_of(options.folder, name)
        graphs.write_weights(options.folder, name, graphs.random_weights(spec, np.random.default_rng(1)))


def old_peers(path):
    """{(network, batch): what was measured}, with where it is from."""
    if not path:
        return {}
    old = json.loads(path.read_text())
    return {(r["network"], r["batch"]): {**r["peers"], "from": f"{path.name}, {old['date']}, {old['machine']}"}
            for r in old["rows"] if r["precision"] == old["precision"]}


def machine():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no GPU"


def one_batch(options, batch, known, done):
    """Rows of all networks at one batch size, handed to `done` one by one."""
    built = {}
    builder = threading.Thread(target=lambda: built.update(ours.build_all(options, options.names, batch)))
    builder.start()
    if options.budget:
        builder.join()  # kernels are timed: nothing else may run
    wanted = [n for n in options.names if (n, batch) not in known] if options.torch and not options.no_peers else []
    workers = crew.ready_crew(options.folder, wanted, batch, options.precision, options.mode, dict(os.environ),
                              min(options.compile_limit, options.until - time.monotonic()), options.jobs)
    builder.join()
    try:
        for name in options.names:
            if time.monotonic() > options.until:
                print(f"{name}, batch {batch}: not begun, the time is over", flush=True)
                continue
            peers = workers[name].report() if name in workers else known.get((name, batch), {})
            if name in workers:
                workers[name].end()
            sides = {v: built[name, v] if "failed" in built[name, v] else
                     {**built[name, v], **ours.measure(options, name, batch, v)} for v in ours.variants_of(options)}
            floor = report.floor_ms(graphs.spec_of(options.folder, name), batch, options.precision)
            done({"network": name, "batch": batch, "precision": options.precision, "floor_ms": floor, "ours": sides,
                  "peers": peers})
    finally:
        for worker in workers.values():
            worker.end()
        for name in options.names:
            for variant in ours.variants_of(options):
                if not options.keep:
                    ours.engine_path(options.folder, name, batch, variant).unlink(missing_ok=True)


def write(options, rows):
    text = json.dumps({"machine": machine(), "date": datetime.date.today().isoformat(), "command": sys.argv,
                       "precision": options.precision, "variants": list(ours.variants_of(options)), "rows": rows}, indent=1)
    partial = options.out.with_suffix(".partial")
    partial.write_text(text + "\n")
    partial.rename(options.out)


def show(result, with_markdown):
    rows, variants = result["rows"], result["variants"]
    print(f"{result['machine']}, {result['date']}, {result['precision']}; PyTorch: {peers_text(rows)}")
    print("\n".join(report.table(rows, variants) + report.means(rows, variants)))
    if with_markdown:
        print("\n".join(report.markdown(rows, variants)))
    failed = report.failures(rows)
    print("\n".join(f"failed: {f}" for f in failed), end="\n" if failed else "")
    return 1 if any(", PyTorch:" not in f for f in failed) else 0


def peers_text(rows):
    """Which version, how it compiled, and where figures of an earlier run are from."""
    found = {", ".join(str(r["peers"][k]) for k in ("torch", "mode", "from") if k in r["peers"]) for r in rows if r["peers"]}
    return "; ".join(sorted(f for f in found if f)) or "not measured"


def run(options):
    options.folder = options.folder.resolve()
    options.out = (options.out or options.folder / "gpu_models.json").resolve()
    options.until = time.monotonic() + options.seconds
    options.torch = has_torch()
    write_weights(options)
    rows, known = [], old_peers(options.peers)

    def done(row):
        rows.append(row)
        write(options, rows)
        print(report.table([row], list(row["ours"]))[1], flush=True)

    for batch in options.batch:
        one_batch(options, batch, known, done)
    return show(json.loads(options.out.read_text()), options.markdown) if rows else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pack", "run", "show"])
    parser.add_argument("folder", type=Path, help="of the graphs; of show: the JSON file")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--batch", nargs="*", type=int, default=[1, 32, 128])
    parser.add_argument("--precision", default="fp16", choices=list(report.PEAK_TFLOPS))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--variants", nargs="*", default=["trine", "own kernels"], choices=["trine", "own kernels"],
                        help="with vendors' libraries, and without")
    parser.add_argument("--budget", type=float, help="a variant more: kernels chosen by timing them for so many seconds")
    parser.add_argument("--mode", default="default", help="of torch.compile (its CUDA graphs are ours here); or eager")
    parser.add_argument("--compile-limit", type=float, default=150, help="seconds for PyTorch to compile a batch size")
    parser.add_argument("--build-limit", type=float, default=120, help="seconds for each of our programs")
    parser.add_argument("--jobs", type=int, default=len(NETWORKS), help="networks that PyTorch compiles at once")
    parser.add_argument("--seconds", type=float, default=480, help="begin nothing after this time")
    parser.add_argument("--duration", type=float, default=1.5, help="seconds of `trine bench`")
    parser.add_argument("--peers", type=Path, help="the JSON of an earlier run")
    parser.add_argument("--no-peers", action="store_true", help="weights and outputs are PyTorch's, times are not taken")
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--out", type=Path, help="the JSON to write; default: FOLDER/gpu_models.json")
    parser.add_argument("--keep", action="store_true", help="engines and reports of trine stay")
    parser.add_argument("--markdown", action="store_true", help="the table once more, for a page")
    return parser.parse_args()


def main():
    options = arguments()
    options.names = options.names or NETWORKS
    if options.what == "show":
        return show(json.loads(options.folder.read_text()), options.markdown)
    return pack(options) if options.what == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
