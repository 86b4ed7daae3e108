#!/usr/bin/env python3
"""PyTorch's side, in processes of its own.

    peers.py weights FOLDER 1,32 NAME...               NAME.pt and, in the graph's order, NAME.bin; for each batch
                                                       NAME-BATCH.npz, what the network makes of the inputs in f32
    peers.py measure FOLDER NAME BATCH PRECISION MODE

`measure` compiles, prints "ready", waits for a line, and prints a line of JSON: {"eager": {...}, "compiled": {...},
"errors", "mode"}, each with queued_ms, compute_ms, end_to_end_ms. MODE is eager, or a mode of torch.compile.

Both variants are captured into a CUDA graph whose inputs lie on the device:
    queued_ms      events around so many replays that they take 50 ms, right behind each other, divided by their number
    compute_ms     events around one replay, queued behind a copy of the inputs
    end_to_end_ms  by the host's clock: inputs from pinned memory, a replay, outputs to pinned memory, the wait
which is what `trine bench` calls by the same names (its end to end copies from and to ordinary memory too).
"""
import contextlib
import fcntl
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from on_gpu import graphs, networks  # noqa: E402

TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "tf32": torch.float32}
DEVICE = os.environ.get("PEERS_DEVICE", "cuda")  # cpu tries the program out; it measures nothing there


def allow_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


def tensors(name, arrays):
    return networks.arguments(name, {k: torch.from_numpy(v).to(DEVICE) for k, v in arrays.items()})


def write_weights(folder, batches, name):
    spec = graphs.spec_of(folder, name)
    batch = 32 if DEVICE == "cuda" else 2
    inputs = tensors(name, graphs.inputs_for(spec, batch))
    model = networks.settle(networks.make(name).to(DEVICE), inputs)
    torch.save(model.state_dict(), folder / f"{name}.pt")
    graphs.write_weights(folder, name, graphs.named_weights(spec, networks.tensors_in_order(name, model)))
    allow_tf32(False)
    for batch in batches:
        with torch.inference_mode():
            outputs = networks.outputs_of(model(**tensors(name, graphs.inputs_for(spec, batch))))
        np.savez(folder / f"{name}-{batch}.npz", *[o.float().cpu().numpy() for o in outputs])


def load(folder, name):
    model = networks.make(name)
    model.load_state_dict(torch.load(folder / f"{name}.pt", map_location="cpu"))
    return model.eval().requires_grad_(False).to(DEVICE)


class Replay:
    """One call with fixed addresses, as a CUDA graph."""

    def __init__(self, call):
        self.call = call
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outputs = networks.outputs_of(call())


def between(work):
    """Milliseconds by events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def timed(replay, inputs, seconds=1.0):
    pinned = {k: v.cpu().pin_memory() for k, v in inputs.items()}
    to = [torch.empty_like(o, device="cpu").pin_memory() for o in replay.outputs]

    def upload():
        for k, v in inputs.items():
            v.copy_(pinned[k], non_blocking=True)

    def whole():
        begin = time.perf_counter()
        upload()
        replay.graph.replay()
        for host, out in zip(to, replay.outputs):
            host.copy_(out, non_blocking=True)
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e3

    def single():
        upload()
        return between(replay.graph.replay)

    once = statistics.median(single() for _ in range(5))
    count = max(1, min(50, int(50 / once)))
    rounds = max(5, min(200, int(seconds * 1e3 / 3 / once)))
    queued = [between(lambda: [replay.graph.replay() for _ in range(count)]) / count for _ in range(max(5, rounds // count))]
    return {"queued_ms": statistics.median(queued), "compute_ms": statistics.median(single() for _ in range(rounds)),
            "end_to_end_ms": statistics.median(whole() for _ in range(rounds))}


def tune_alone(lock):
    """While several processes compile at once, one at a time measures kernels to choose among."""
    from torch._inductor.runtime import benchmarking

    kind = type(benchmarking.benchmarker)
    measure = kind.benchmark_gpu

    def alone(*args, **kwargs):
        with open(lock, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return measure(*args, **kwargs)

    kind.benchmark_gpu = alone


def halved(model, precision, inputs):
    model = model.to(TYPES[precision], memory_format=torch.channels_last)
    return model, {k: v.to(TYPES[precision]) if v.is_floating_point() else v for k, v in inputs.items()}


def measure(folder, name, batch, precision, mode):
    arrays = graphs.inputs_for(graphs.spec_of(folder, name), batch)
    allow_tf32(precision == "tf32")
    model, inputs = halved(load(folder, name), precision, tensors(name, arrays))
    inputs = {k: v.contiguous(memory_format=torch.channels_last) if v.ndim == 4 else v for k, v in inputs.items()}
    calls = {"eager": lambda: model(**inputs)}
    with torch.no_grad():
        if mode != "eager":
            calls["compiled"] = compiled(folder, model, inputs, mode)
        made = {k: [o.float().cpu().numpy() for o in networks.outputs_of(call())] for k, call in calls.items()}
        report = {"mode": mode, "torch": torch.__version__,
                  "errors": {k: graphs.error_of(folder, name, batch, outs) for k, outs in made.items()}}
        print("ready", flush=True)
        sys.stdin.readline()
        if DEVICE == "cuda":
            report |= {k: timed(Replay(call), inputs) for k, call in calls.items()}
    print(json.dumps(report), flush=True)


def compiled(folder, model, inputs, mode):
    import torch._inductor.config as config

    config.freezing = True
    with contextlib.suppress(AttributeError):
        tune_alone(folder / "tuning.lock")
    call = torch.compile(model, mode=mode)
    for _ in range(2):
        call(**inputs)
    return lambda: call(**inputs)


def main(what, folder, *rest):
    folder = pathlib.Path(folder)
    if what == "weights":
        batches, *names = rest
        for name in names:
            write_weights(folder, [int(b) for b in batches.split(",")], name)
    elif what == "measure":
        name, batch, precision, mode = rest
        measure(folder, name, int(batch), precision, mode)
    else:
        raise SystemExit(f"error: peers: '{what}'; accepted are weights and measure")


if __name__ == "__main__":
    main(*sys.argv[1:])
