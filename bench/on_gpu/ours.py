"""Our side: an engine for each network, batch size and choice of kernels."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import time

import numpy as np

from . import graphs


def variants_of(options):
    """Name -> flags of `trine build`."""
    flags = {"trine": ["--providers", "all"], "own kernels": ["--providers", "none"]}
    if options.budget:
        flags["budget"] = ["--providers", "all", "--budget", str(options.budget)]
    return {k: v for k, v in flags.items() if k in options.variants or k == "budget"}


def run(command, limit):
    """(ended well, its last lines)."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return False, f"took more than {limit:.0f} s"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error")]
    return done.returncode == 0, (errors or lines or [f"exit status {done.returncode}"])[-1][:300]


def write_inputs(folder, name, batch):
    """`--input` for every input, whose files are written."""
    specs = []
    for key, array in graphs.inputs_for(graphs.spec_of(folder, name), batch).items():
        path = folder / f"{name}-{batch}-{key}.npy"
        np.save(path, array)
        specs.append(f"{key}={path}")
    return [part for spec in specs for part in ("--input", spec)]


def engine_path(folder, name, batch, variant):
    return folder / f"{name}-{batch}-{variant.replace(' ', '_')}.trn"


def build(options, name, batch, variant, flags):
    """{"build_seconds"} or {"failed"}."""
    spec = graphs.spec_of(options.folder, name)
    shapes = [f"{key}={'x'.join(map(str, (batch, *dims)))}" for key, dims in spec["inputs"].items()]
    begin = time.monotonic()
    ok, said = run([options.trine, "build", options.folder / f"{name}.onnx", "-o",
                    engine_path(options.folder, name, batch, variant), "--device", options.device, "--precision",
                    options.precision, *(word for s in shapes for word in ("--shapes", s)), *flags], options.build_limit)
    return {"build_seconds": round(time.monotonic() - begin, 1)} if ok else {"failed": said}


def build_all(options, names, batch):
    """{(name, variant): what build says}; one after the other where kernels are timed."""
    jobs = 1 if options.budget else max(1, min(4, (os.cpu_count() or 1) // 4))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = {(n, v): pool.submit(build, options, n, batch, v, flags)
                for n in names for v, flags in variants_of(options).items()}
    return {key: future.result() for key, future in made.items()}


def measure(options, name, batch, variant):
    """queued_ms, compute_ms, end_to_end_ms, latencies, memory, error; or {"failed"}."""
    engine = engine_path(options.folder, name, batch, variant)
    inputs = write_inputs(options.folder, name, batch)
    report_path = engine.with_suffix(".json")
    ok, said = run([options.trine, "bench", engine, "--device", options.device, "--duration", str(options.duration), "--json",
                    report_path, *inputs], options.build_limit)
    if not ok:
        return {"failed": said}
    report = json.loads(report_path.read_text())
    graph = report["gpu"]["graph"]
    out = {"queued_ms": graph.get("queued_ms", graph["compute_ms"])["median"], "compute_ms": graph["compute_ms"]["median"],
           "end_to_end_ms": report["latency_ms"]["median"], "no_graph_ms": report["gpu"]["no_graph"]["compute_ms"]["median"],
           "weight_bytes": report["weight_bytes"], "activation_bytes": report.get("activation_bytes")}
    if not options.keep:
        report_path.unlink()
    return {**out, "error": error(options, name, batch, engine, inputs)}


def error(options, name, batch, engine, inputs):
    """From PyTorch's f32 outputs; None when there are none, text when the engine does not run."""
    reference = options.folder / f"{name}-{batch}.npz"
    if not reference.exists():
        return None
    with np.load(reference) as wanted:
        count = len(wanted.files)
    names = json.loads((options.folder / f"{name}.json").read_text())["outputs"][:count]
    paths = [pathlib.Path(f"{engine}.{i}.npy") for i in range(count)]
    saves = [part for n, p in zip(names, paths) for part in ("--output", f"{n}={p}")]
    ok, said = run([options.trine, "run", engine, "--device", options.device, *inputs, *saves], options.build_limit)
    if not ok:
        return said
    arrays = [np.load(p).astype(np.float32) for p in paths]
    for path in paths:
        path.unlink()
    return graphs.error_of(options.folder, name, batch, arrays)
