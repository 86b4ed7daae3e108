#!/usr/bin/env python3
"""Builds and runs the examples of Debian's libcub-dev and libthrust-dev with `trine cc`, and prints a table:
result, program, seconds to build, seconds to run.

    scripts/cc_examples.py                     all of them, with build/bin/trine
    scripts/cc_examples.py --only scan,sort    those whose names hold one of these
    scripts/cc_examples.py --chosen            twelve that are built quickly and differ
    scripts/cc_examples.py --markdown FILE     writes the table as a page too
    scripts/cc_examples.py --min 70            succeeds when so many run; without it, all must
    scripts/cc_examples.py --trine PROGRAM     another program; --timeout SECONDS for each step (60); --jobs at once (1)
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDERS = [Path("/usr/share/doc/libcub-dev/examples"), Path("/usr/share/doc/libthrust-dev/examples")]
ROOT = Path(__file__).resolve().parent.parent
# CUB's examples include ../../test/test_util.h, which is not shipped: from here it is ours.
TEST_UTIL = ROOT / "tests" / "cc" / "cub" / "examples" / "any"
# Programs of more than one file.
FURTHER_FILES = {"cpp_integration/device.cu": ["host.cpp"]}
# A block's and a device's algorithms of CUB; of Thrust what has a shape of its own: streams, iterators, raw pointers.
CHOSEN = ["block/example_block_scan.cu", "device/example_device_reduce.cu", "device/example_device_scan.cu",
          "examples/arbitrary_transformation.cu", "examples/basic_vector.cu", "examples/constant_iterator.cu",
          "examples/fill_copy_sequence.cu", "examples/histogram.cu", "examples/norm.cu", "examples/saxpy.cu",
          "cuda/wrap_pointer.cu", "cpp_integration/device.cu"]


def name_of(source):
    return f"{source.parent.name}/{source.name}"


def step(command, timeout, **options):
    """(succeeded, what it said)"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        return False, f"more than {timeout} s"
    return done.returncode == 0, (done.stderr + done.stdout) if done.returncode else ""


def first_error(text):
    precise = [line for line in text.splitlines() if ": error: " in line or "undefined reference" in line]
    lines = precise or [line for line in text.splitlines() if "rror" in line and " 0 errors" not in line] or text.splitlines() or ["no message"]
    return lines[0].strip()[:160]


def try_one(source, options, folder):
    """(result, seconds to build, seconds to run, why it failed)"""
    folder = Path(tempfile.mkdtemp(dir=folder))
    program = folder / source.stem
    files = [source, *(source.parent / name for name in FURTHER_FILES.get(name_of(source), []))]
    arguments = [options.trine, "cc", *map(str, files), "-o", str(program), "-O1", "-std=c++14",
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


def sources_for(options):
    sources = sorted(path for folder in FOLDERS for path in folder.rglob("*.cu"))
    if not sources:
        sys.exit(f"cc_examples: no .cu below {' or '.join(map(str, FOLDERS))}; install libcub-dev and libthrust-dev")
    if options.chosen:
        sources = [source for source in sources if name_of(source) in CHOSEN]
    wanted = [part for part in options.only.split(",") if part]
    return [source for source in sources if not wanted or any(part in source.name for part in wanted)]


def markdown(rows, total, note):
    """The page: a row for each program, and why those that fail do."""
    lines = ["# Programs that trine cc builds", "",
             "The examples of Debian's libcub-dev and libthrust-dev, as they are: built by `trine cc`, run on the CPU.",
             f"{total}. Written by `scripts/cc_examples.py --timeout 120 --markdown docs/cc-programs.md`;",
             "`scripts/test.sh programs` builds and runs twelve of them, `PROGRAMS=all` all.", "",
             "| program | result | to build, s | to run, s | why not |", "|---|---|---|---|---|"]
    for name, (result, build_s, run_s, why) in rows:
        reason = f"`{why.replace('|', '/').replace('`', chr(39))}`" if why else ""
        lines.append(f"| {name} | {result} | {build_s:.1f} | {run_s:.1f} | {reason} |")
    return "\n".join(lines) + f"\n\nSeconds include starting, and compiling kernels anew. {note}".rstrip() + "\n"


def try_all(sources, options):
    """(name, what try_one says) of each, printed as it comes."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for source, row in zip(sources, pool.map(lambda source: try_one(source, options, folder), sources)):
            rows.append((name_of(source), row))
            result, build_s, run_s, why = row
            print(f"{result:9} {name_of(source):52} {build_s:6.1f} {run_s:6.1f}  {why}".rstrip(), flush=True)
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trine", default=str(ROOT / "build" / "bin" / "trine"))
    parser.add_argument("--only", default="")
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--note", default="", help="what the page should say of this run")
    parser.add_argument("--min", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--flags", default="", help="further flags of trine cc")
    parser.add_argument("--timeout", type=int, default=60)
    options = parser.parse_args()
    rows = try_all(sources_for(options), options)
    counts = {}
    for _, (result, *_) in rows:
        counts[result] = counts.get(result, 0) + 1
    total = f"{len(rows)} examples: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    print(total)
    if options.markdown:
        options.markdown.write_text(markdown(rows, total, options.note))
    return 0 if counts.get("runs", 0) >= (len(rows) if options.min is None else options.min) else 1


if __name__ == "__main__":
    sys.exit(main())
