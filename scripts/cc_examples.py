#!/usr/bin/env python3
"""Builds and runs the examples of Debian's libcub-dev and libthrust-dev with `trine cc`, and prints a table.

    scripts/cc_examples.py                     all of them, with build/bin/trine
    scripts/cc_examples.py --only scan,sort    those whose names hold one of these
    scripts/cc_examples.py --trine PROGRAM     another program; --timeout SECONDS for each step (60)
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = [Path("/usr/share/doc/libcub-dev/examples"), Path("/usr/share/doc/libthrust-dev/examples")]


def step(command, timeout, **options):
    """(succeeded, what it said)"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        return False, f"more than {timeout} s"
    return done.returncode == 0, (done.stderr + done.stdout) if done.returncode else ""


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines() or ["no message"]
    return lines[0].strip()[:160]


def try_one(source, options, folder):
    program = Path(folder) / source.stem
    arguments = [options.trine, "cc", str(source), "-o", str(program), "-O1", "-std=c++14",
                 f"-I{FOLDERS[1]}", f"-I{source.parent}"]
    built, said = step(arguments, options.timeout)
    if not built:
        return "no build", first_error(said)
    ran, said = step([str(program)], options.timeout, cwd=folder, stdin=subprocess.DEVNULL)
    return ("runs", "") if ran else ("fails", first_error(said))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trine", default=str(Path(__file__).resolve().parent.parent / "build" / "bin" / "trine"))
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=int, default=60)
    options = parser.parse_args()
    sources = sorted(path for folder in FOLDERS for path in folder.rglob("*.cu"))
    wanted = [part for part in options.only.split(",") if part]
    if wanted:
        sources = [source for source in sources if any(part in source.name for part in wanted)]
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            result, why = try_one(source, options, folder)
            counts[result] = counts.get(result, 0) + 1
            print(f"{result:9} {source.parent.name}/{source.name:40} {why}".rstrip(), flush=True)
    print(f"{len(sources)} examples: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts)))
    return 0 if counts.get("runs", 0) == len(sources) else 1


if __name__ == "__main__":
    sys.exit(main())
