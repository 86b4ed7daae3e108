#!/usr/bin/env python3
"""Checks a trace of `trine profile`: check_trace.py TRACE [REPORT.json]. What any trace must be; with a report, also what
tests/cc/profile.cu does."""
import json
import sys
from collections import defaultdict
from decimal import Decimal


def ns(microseconds):
    whole = Decimal(microseconds) * 1000
    assert whole == int(whole), f"{microseconds} us is no number of nanoseconds"
    return int(whole)


def check_nesting(slices):
    """Slices of a track lie within or beside each other."""
    tracks = defaultdict(list)
    for e in slices:
        assert e["dur"] >= 0
        tracks[e["pid"], e["tid"]].append((ns(e["ts"]), -ns(e["dur"]), e["name"]))
    for track, members in tracks.items():
        open_until = []
        for begin, minus_duration, name in sorted(members):
            end = begin - minus_duration
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], f"{name} on {track} ends after what holds it"
            open_until.append(end)
    return tracks


def check_any(trace):
    events = trace["traceEvents"]
    for e in events:
        assert e["ph"] in "MXCisfbe" and isinstance(e["pid"], int) and isinstance(e["tid"], int), e
        assert e["ph"] == "M" or e["ts"] > 0, e
    slices = [e for e in events if e["ph"] == "X"]
    tracks = check_nesting(slices)
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    for pid, tid in tracks:
        assert pid in processes and (pid, tid) in threads, f"track {pid} {tid} has no name"
    begins = {e["id"]: ns(e["ts"]) for e in events if e["ph"] == "s"}
    for e in events:
        if e["ph"] == "f" and e["id"] in begins:
            assert begins[e["id"]] <= ns(e["ts"]), f"{e} comes before its launch"
    opened = [e["id"] for e in events if e["ph"] == "b"]
    assert sorted(opened) == sorted(e["id"] for e in events if e["ph"] == "e")
    return slices


def check_program(trace, slices, report):
    row = {(r["what"], r["name"]): r for r in report["rows"]}
    scale, spin = row["kernel", "scale(float*, float, int)"], row["kernel", "spin(unsigned int*, int)"]
    assert scale["calls"] == 10 + 3 * 20 + 4 * 2 and spin["calls"] == 3, report
    for r in report["rows"]:
        assert r["failed"] == 0 and r["timed"] == r["calls"]
        assert r["least_ms"] <= r["mean_ms"] * 1.000001 and r["mean_ms"] <= r["most_ms"] * 1.000001, r
        assert abs(r["total_ms"] - r["mean_ms"] * r["calls"]) <= 1e-6 * r["total_ms"] + 1e-9, r
    n = 1 << 16
    assert scale["bytes"] == 10 * 2 * 4 * n and scale["flops"] == 10 * n and scale["bytes_per_second"] > 0
    assert spin["bytes"] == 0 and spin["bytes_per_second"] == 0
    assert row["copy", "upload"]["bytes"] == row["copy", "download"]["bytes"] == 4 * n
    assert row["fill", "fill"]["bytes"] == 64 * 64 * 4
    assert row["range", "helper"]["calls"] == 60 and row["range", "inner"]["calls"] == 1
    assert row["range", "across threads"]["calls"] == 1 and row["mark", "here"]["calls"] == 1
    assert row["graph", "replay"]["calls"] == 4 and row["compile", "spin(unsigned int*, int)"]["calls"] == 1
    assert report["memory"] == [{"device": "cpu", "bytes": 0, "peak_bytes": 4 * n + 64 * 64 * 4}], report["memory"]
    assert report["dropped_events"] == 0

    launches = [e for e in slices if e["cat"] == "kernel"]
    assert len(launches) == 78 + 3
    blocks = defaultdict(int)
    for e in slices:
        if e["cat"] == "blocks":
            blocks[e["name"]] += e["args"]["count"]
    assert blocks["spin(unsigned int*, int)"] == 3 * 64, "each block is run by one thread"
    assert blocks["scale(float*, float, int)"] == 10 * 256 + 60 * 2 + 8
    first = min((e for e in launches if e["name"].startswith("spin")), key=lambda e: e["ts"])
    assert first["args"]["grid"] == [64, 1, 1] and first["args"]["mode"] in ("lanes", "threads")
    assert first["args"]["compile_us"] > 0
    assert any(e["name"] == 'outer "quoted" \\ é \ufffd' for e in slices), "names are escaped"
    outer = next(e for e in slices if e["name"].startswith("outer"))
    inside = [e for e in slices if (e["pid"], e["tid"]) == (outer["pid"], outer["tid"]) and e["ts"] > outer["ts"]
              and ns(e["ts"]) + ns(e["dur"]) <= ns(outer["ts"]) + ns(outer["dur"])]
    assert len([e for e in inside if e["cat"] == "kernel"]) == 10 + 3 + 8
    spins = next(e for e in slices if e["name"] == "spins")
    held = sum(ns(e["dur"]) for e in launches if e["name"].startswith("spin"))
    assert held <= ns(spins["dur"]), "a range is at least as long as what it holds"
    assert len([e for e in trace["traceEvents"] if e["ph"] == "C"]) == 4
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    assert any(name.startswith("helper ") for name in names) and "CPU threads" in names


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, parse_float=Decimal)
    slices = check_any(trace)
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            check_program(trace, slices, json.load(file))
    print(f"{len(trace['traceEvents'])} events, {len(slices)} slices: passed")


if __name__ == "__main__":
    main()
