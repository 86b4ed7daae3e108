#!/usr/bin/env bash
# Tests and benchmarks of the backend cuda on a machine with a GPU that has neither the sources nor a compiler.
#
#   scripts/gpu_check.sh pack FOLDER [sm_90a 90]   here: builds, strips, compiles kernels for an architecture and a PTX
#   FOLDER/gpu_check.sh run FOLDER                there: runs all, prints what came out; fails when a test does
#   scripts/gpu_check.sh run FOLDER               the same where GPU and sources are on one machine
set -euo pipefail

pack() {  # pack FOLDER ARCHITECTURE PTX_VERSION
  local to=$1
  cd "$(dirname "$0")/.."
  cmake --preset release >/dev/null
  nice cmake --build --preset release -j "${JOBS:-$(nproc)}" --target test_compute_gpu test_compute_kernels \
    fake_cuda bench_launch trine_simt
  rm -rf "$to"
  mkdir -p "$to/cache"
  build/bin/bench_launch --source >"$to/launch.cu"
  TRINE_CACHE=$to/cache build/bin/test_compute_gpu --fill-cache "$2" "$3" "$to/launch.cu"
  # The driver that pretends is asked for, so that the kernels of the tables are compiled; it cannot run them.
  TRINE_CACHE=$to/cache TRINE_CUDA_DRIVER=build/lib/libfake_cuda.so TRINE_TEST_DEVICE=cuda \
    build/bin/test_compute_kernels --gtest_filter='Kernels.*' >/dev/null || true
  cp -L build/lib/libtrine_rt.so.0.1 build/lib/libtrine_compute.so.0.1 build/bin/test_compute_gpu build/bin/test_compute_kernels \
    build/bin/bench_launch "$to"
  strip "$to"/*.so* "$to/test_compute_gpu" "$to/test_compute_kernels" "$to/bench_launch"
  cp scripts/gpu_check.sh "$to"
  du -sh "$to"
}

section() { printf '\n=== %s\n' "$1"; }

run() {
  cd "$1"
  export LD_LIBRARY_PATH=$PWD TRINE_CACHE=$PWD/cache
  local failed=0
  section "machine"
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,memory.total --format=csv
  section "tests"
  ./test_compute_gpu --gtest_brief=0 || failed=1
  section "kernels of the tables"
  TRINE_TEST_DEVICE=cuda ./test_compute_kernels --gtest_filter='Kernels.*:-*NotThere*' || failed=1  # these need the compiler
  section "cost of launches"
  ./bench_launch || failed=1
  section "cost of launches, again"
  ./bench_launch || failed=1
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
      section "compute-sanitizer $tool"
      # What fails on purpose is left out.
      compute-sanitizer --tool "$tool" --error-exitcode 9 ./test_compute_gpu \
        --gtest_filter='-*Death*:*OutOfMemory*:*PtxThat*:*EventsTake*:*Cooperative*:*SharedMemoryOfTheLaunch*' 2>&1 |
        grep -v '^seed\|^\[ RUN' || failed=1
    done
  fi
  section "$([ $failed = 0 ] && echo all passed || echo SOMETHING FAILED)"
  return $failed
}

case ${1:-} in
  pack) pack "$(realpath -m "$2")" "${3:-sm_90a}" "${4:-90}" ;;
  run) run "$2" ;;
  *) echo "gpu_check.sh: '${1:-}'; accepted are pack FOLDER [ARCHITECTURE PTX] and run FOLDER" >&2; exit 2 ;;
esac
