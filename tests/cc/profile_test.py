#!/usr/bin/env python3
"""`trine profile` on programs of `trine cc`: profile_test.py TRINE FOLDER."""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, "TRINE_DEVICE": "cpu"})
    assert done.returncode == status, f"{words}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(trine, folder, name):
    program = folder / name
    run(trine, "cc", str(HERE / f"{name}.cu"), "-O2", "-lnvToolsExt", "-o", str(program))
    return str(program)


def check_trace(*files):
    print(run(sys.executable, str(HERE / "check_trace.py"), *map(str, files)), end="")


def check_formats(trine, program, folder):
    trace, report, table = folder / "trace.json", folder / "report.json", folder / "report.csv"
    run(trine, "profile", "-o", str(trace), "--format", "json", "--report", str(report), program)
    check_trace(trace, report)
    text = run(trine, "profile", program)
    for part in ("passed\n", "kernel ", "GFLOP/s", "scale(float*, float, int)", "upload", "range spins", "at most 272.0 KiB"):
        assert part in text, f"no '{part}' in\n{text}"
    run(trine, "profile", "--format", "csv", "--report", str(table), "--events", "0", program)
    rows = table.read_text(encoding="utf-8").splitlines()
    assert any(row.startswith('kernel,cpu,"spin(unsigned int*, int)",3,0,') for row in rows), rows


def calls_of(report, kernel):
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    return sum(row["calls"] for row in rows if row["what"] == "kernel" and row["name"].startswith(kernel))


def check_ends(trine, program, folder):
    trace, report = folder / "end.json", folder / "end_report.json"
    ends = {"return": 0, "exit": 3, "kernel": 4, "abort": 128 + signal.SIGABRT, "term": 128 + signal.SIGTERM,
            "fault": 128 + signal.SIGSEGV, "fork": 0, "children": 0}
    for how, status in ends.items():
        run(trine, "profile", "-o", str(trace), "--format", "json", "--report", str(report), program, how, status=status)
        check_trace(trace)
        assert calls_of(report, "add(int*)") == (21 if how == "children" else 7), how
        assert calls_of(report, "fails(int*)") == (how == "kernel"), how
        text = trace.read_text(encoding="utf-8")
        assert "open to the end" in text and "unfinished" in text, how
        assert "of the child" not in text, how
    run(trine, "profile", "--paused", "--format", "json", "--report", str(report), program, "part")
    assert calls_of(report, "add(int*)") == 2, "from cudaProfilerStart to cudaProfilerStop"


def check_mistakes(trine):
    assert subprocess.run([trine, "profile"], capture_output=True).returncode == 2
    said = subprocess.run([trine, "profile", "true"], capture_output=True, text=True)
    assert said.returncode == 2 and "recorded nothing" in said.stderr, said.stderr
    said = subprocess.run([trine, "profile", "./not-there"], capture_output=True, text=True)
    assert said.returncode == 6 and "cannot run ./not-there" in said.stderr, said.stderr


def main():
    trine, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    check_formats(trine, build(trine, folder, "profile"), folder)
    check_ends(trine, build(trine, folder, "profile_ends"), folder)
    check_mistakes(trine)
    print("passed")


if __name__ == "__main__":
    main()
