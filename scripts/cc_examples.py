#!/usr/bin/env python3
"""Builds and runs the examples of Debian's libcub-dev and libthrust-dev with `trine cc`, and prints a table:
result, program, seconds to build, seconds to run.

    scripts/cc_examples.py                     all of them, with build/bin/trine
    scripts/cc_examples.py --only scan,sort    those whose names hold one of these
    scripts/cc_examples.py --trine PROGRAM     another program; --timeout SECONDS for each step (60)
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDERS = [Path("/usr/share/doc/libcub-dev/examples"), Path("/usr/share/doc/libthrust-dev/examples")]


# CUB's examples include ../../test/test_util.h, which is not shipped: from here it is ours.
TEST_UTIL = Path(__file__).resolve().parent.parent / "tests" / "cc" / "cub" / "examples" / "any"


def step(command, timeout, **options):
    """(succeeded, what it said)"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        return False, f"more than {timeout} s"
    return done.returncode == 0, (done.stderr + done.stdout) if done.returncode else ""


def first_error(text):
    lines = [line for line in text.splitlines() if "rror" in line and " 0 errors" not in line] or text.splitlines() or ["no message"]
    return lines[0].strip()[:160]


def try_one(source, options, folder):
    program = Path(folder) / source.stem
    arguments = [options.trine, "cc", str(source), "-o", str(program), "-O1", "-std=c++14",
                 f"-I{FOLDERS[1]}", f"-I{source.parent}", f"-I{TEST_UTIL}", *options.flags.split()]
    begin = time.monotonic()
    built, said = step(arguments, options.timeout)
    middle = time.monotonic()
    if not built:
        return "no build", middle - begin, 0, first_error(said)
    ran, said = step([str(program)], options.timeout, cwd=folder, stdin=subprocess.DEVNULL,
                     env={**os.environ, "TRINE_DEBUG": "1"})
    program.unlink()
    end = time.monotonic()
    return "runs" if ran else "fails", middle - begin, end - middle, "" if ran else first_error(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trine", default=str(Path(__file__).resolve().parent.parent / "build" / "bin" / "trine"))
    parser.add_argument("--only", default="")
    parser.add_argument("--flags", default="", help="further flags of trine cc")
    parser.add_argument("--timeout", type=int, default=60)
    options = parser.parse_args()
    sources = sorted(path for folder in FOLDERS for path in folder.rglob("*.cu"))
    wanted = [part for part in options.only.split(",") if part]
    if wanted:
        sources = [source for source in sources if any(part in source.name for part in wanted)]
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            result, build_s, run_s, why = try_one(source, options, folder)
            counts[result] = counts.get(result, 0) + 1
            name = f"{source.parent.name}/{source.name}"
            print(f"{result:9} {name:52} {build_s:6.1f} {run_s:6.1f}  {why}".rstrip(), flush=True)
    print(f"{len(sources)} examples: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts)))
    return 0 if counts.get("runs", 0) == len(sources) else 1


if __name__ == "__main__":
    sys.exit(main())
