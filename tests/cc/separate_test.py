#!/usr/bin/env python3
"""Device code in parts, in each way in which programs are put together; and what is said when a part is missing.

    separate_test.py TRINE FOLDER_FOR_FILES
"""
import os
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "separate"
trine, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
work.mkdir(parents=True, exist_ok=True)


def run(*words, fails=False):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=work,
                          env={**os.environ, "TRINE_DEVICE": "cpu"})
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"no '{part}' in\n{text}")


def cc(*words, **options):
    return run(trine, "cc", "-O1", *words, **options)


sources = [SOURCES / name for name in ("main.cu", "functions.cu", "counters.cu")]
objects = [source.stem + ".o" for source in sources]

cc("-rdc=true", *sources, "-o", "at_once")
expect(run("./at_once"), "passed")

cc("-dc", *sources)
cc(*objects, "-o", "from_objects")
expect(run("./from_objects"), "passed")

# Only what is needed comes out of a library: main.o does not name what it needs of the host's alone.
cc("-lib", "functions.o", "counters.o", "-o", "libparts.a")
cc("-dlink", "main.o", "libparts.a", "-o", "linked.o")
cc("main.o", "linked.o", "-L.", "-lparts", "-o", "from_library")
expect(run("./from_library"), "passed")

# What is missing is named, and what is there twice.
expect(cc("main.o", "counters.o", "-o", "without", fails=True), "device code: scale(int)", "device code: apply(int, int)",
       "device code: int half_of<int>(int)")
expect(cc("main.o", "functions.o", "-o", "without", fails=True), "device code: add_to_total(int)", "device code: weights")
expect(cc(*objects, "-rdc=true", SOURCES / "functions.cu", "-o", "twice", fails=True), "device code: scale(int)")

# Without -rdc the compiler's message is that of a function without a body, at the first launch.
cc("-c", sources[0], "-o", "alone.o")

# Host code in files of its own, with the runtime's header.
(work / "host.cpp").write_text("#include <cuda_runtime.h>\n#include <cstdio>\nvoid fill(int* x, int n);\n"
                               "int main() {\n  int *x, y[40];\n  cudaMalloc((void**)&x, sizeof y);\n  fill(x, 40);\n"
                               "  cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);\n"
                               "  std::puts(y[39] == VALUE ? \"passed\" : \"failed\");\n}\n")
(work / "device.cu").write_text("__global__ void k(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = VALUE; }\n"
                                "void fill(int* x, int n) { k<<<1, 64>>>(x, n); }\n")
cc("host.cpp", "device.cu", "-DVALUE=12", "-o", "mixed")
expect(run("./mixed"), "passed")
(work / "whole.txt").write_text("#include <cstdio>\n__global__ void k() { printf(\"passed\\n\"); }\n"
                                "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n")
cc("-x", "cu", "whole.txt", "-o", "whole")
expect(run("./whole"), "passed")
print("passed")
