#!/usr/bin/env python3
"""Programs in CUDA C++ on a GPU: the tests of `trine cc`, and the examples of compute, built by `trine cc --gpu` and by
nvcc from one source and run by turns.

    scripts/gpu_examples.py pack FOLDER [--arch sm_90]   here: builds with trine cc, copies what runs them
    FOLDER/gpu_examples.py run FOLDER [--rounds 7]       there: builds with nvcc, checks, prints the table

Each example prints milliseconds of its kernels (the least of a few runs, by events) and checks its results; the table has
medians over the rounds, and nvcc's time over ours.
"""
import argparse
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

# Sizes that fill a GPU, where the example takes one.
ARGUMENTS = {"matmul": ["4096"], "nbody": ["65536"], "path_tracer": ["2560"]}


def pack(folder, arch):
    root = pathlib.Path(__file__).resolve().parent.parent
    build = root / "build"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "examples/compute", folder)
    shutil.copytree("/usr/include/stb", folder / "stb")
    for library in ("libtrine_rt.so.0.1", "libtrine_compute.so.0.1", "libtrine_cudart.so.0.1"):
        shutil.copy(build / "lib" / library, folder)
        subprocess.run(["strip", folder / library], check=True)
    compiler = [build / "bin/trine", "cc", f"--gpu={arch}", "-O3"]
    for source in sorted(folder.glob("*.cu")):
        subprocess.run([*compiler, source, "-o", folder / f"ours_{source.stem}"], check=True)
    texts = {source: source.read_text() for source in sorted((root / "tests/cc").glob("*.cu"))}
    programs = {source for source, text in texts.items() if " main(" in text}
    for source in sorted(programs):
        if "arguments[1]" in texts[source] or "<nvrtc.h>" in texts[source]:  # run by a test of its own; needs the compiler
            continue
        parts = sorted(set(source.parent.glob(f"{source.stem}_*.cu")) - programs)
        subprocess.run([*compiler, "-DFACTOR=2", source, *parts, "-o", folder / f"test_{source.stem}"], check=True)
    shutil.copy(__file__, folder)


def times(program, arguments, folder, environment):
    """Milliseconds that the program printed, each with what stands before it in its line."""
    run = subprocess.run([folder / program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError(f"{program} failed with {run.returncode}: {run.stdout}{run.stderr}")
    found = re.findall(r"^(.*?)([0-9.]+) ms", run.stdout, re.M)
    return [(" ".join(re.findall(r"[a-z]+", label)) if len(found) > 1 else "", float(ms)) for label, ms in found], run.stdout


def run_tests(folder, environment):
    """Names of those that failed."""
    failed = []
    for program in sorted(folder.glob("test_*")):
        run = subprocess.run([program], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        passed = run.returncode == 0 and "passed" in run.stdout
        print(f"{program.name:<28}{'passed' if passed else f'FAILED with {run.returncode}: {run.stdout}{run.stderr}'}")
        if not passed:
            failed.append(program.name)
    return failed


def median_times(rows):
    return [statistics.median(row[i][1] for row in rows) for i in range(len(rows[0]))]


def run(folder, rounds, arch):
    folder = folder.resolve()
    environment = dict(os.environ, LD_LIBRARY_PATH=str(folder), TRINE_DEVICE="cuda", TRINE_CACHE=str(folder / "cache"))
    print(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                         text=True).stdout.strip())
    print(subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1])
    failed = run_tests(folder, environment)
    names = sorted(source.stem for source in folder.glob("*.cu"))
    builds = [subprocess.Popen(["nvcc", "-O3", "-std=c++17", "--extended-lambda", f"-arch={arch}", "-I.", f"{name}.cu", "-o", f"nvcc_{name}"],
                               cwd=folder) for name in names]
    unbuilt = [name for name, build in zip(names, builds) if build.wait()]
    ratios = []
    print(f"{'example':<28}{'ours ms':>10}{'nvcc ms':>10}{'ratio':>8}")
    for name in names:
        if name in unbuilt:
            failed.append(name)
            print(f"{name:<28}nvcc does not build it")
            continue
        arguments = ARGUMENTS.get(name, [])
        try:
            rows = {"ours": [], "nvcc": []}
            for _ in range(rounds):
                for kind in rows:
                    found, said = times(f"{kind}_{name}", arguments, folder, environment)
                    rows[kind].append(found)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            failed.append(name)
            print(f"{name:<28}{error}")
            continue
        for (label, _), ours, nvcc in zip(rows["ours"][0], median_times(rows["ours"]), median_times(rows["nvcc"])):
            ratios.append(nvcc / ours)
            print(f"{name + (' ' + label if label else ''):<28}{ours:>10.4f}{nvcc:>10.4f}{nvcc / ours:>8.2f}")
        print(f"    {said.strip().splitlines()[-1]}")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean over {len(ratios)} rows, nvcc over ours: {mean:.3f}; lowest {min(ratios):.2f}")
    print("failed: " + (", ".join(failed) or "none"))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pack", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    sys.exit(pack(given.folder, given.arch) if given.what == "pack" else run(given.folder, given.rounds, given.arch))


if __name__ == "__main__":
    main()
