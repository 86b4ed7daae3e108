#!/usr/bin/env bash
# Builds and tests everything, stage by stage; stops at the first stage that fails and names it.
#
#   scripts/test.sh                 every stage: layers build unit programs models conformance asan fuzz tsan
#   scripts/test.sh layers unit     only these (the last three are other builds of nearly everything)
#   FUZZ_SECONDS=600 scripts/test.sh fuzz
#   PROGRAMS=all scripts/test.sh programs
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
python=.venv/bin/python

build() {  # build <preset> [target...]
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" -j "$jobs" ${2:+--target "${@:2}"}
}

# Every include points the right way, and the checker itself still notices one that does not. Every source is formatted.
stage_layers() {
  python3 scripts/check_layers.py --self-test
  python3 scripts/check_layers.py
  find include src tests tools bench examples -name '*.cc' -o -name '*.h' -o -name '*.c' |
    xargs -P "$jobs" -n 50 clang-format-22 --dry-run --Werror
}

stage_build() { build release; }

stage_unit() { ctest --test-dir build --output-on-failure -j "$jobs"; }

# Debian's examples of CUB and Thrust with `trine cc`: twelve, all of which must run; PROGRAMS=all: all 74, 72 of them.
stage_programs() {
  local which=(--chosen --min 12)
  [[ ${PROGRAMS:-} == all ]] && which=(--min 72)
  "$python" scripts/cc_examples.py "${which[@]}" --timeout 120 --jobs "$jobs"
}

# Trained networks from packages and made ones, against onnxruntime on the same tensors.
stage_models() {
  "$python" scripts/check_against_ort.py
  "$python" scripts/check_against_ort.py --made resnet18 mobilenet_v3_large shufflenet_v2-dyn convnext_tiny yolov5s-dyn lstm_bi2-dyn
}

# The ONNX backend node tests: by the references, then through engines with machine code (which writes docs/onnx.md) and
# interpreted. Each prints `onnx backend node tests: P of N passed` and fails below 95 %.
stage_conformance() {
  for mode in reference interpreter engine; do "$python" tests/conformance/run.py --mode "$mode" --min 95; done
  # The rows of tests/cases/ops against onnxruntime: all of them.
  "$python" tests/conformance/op_cases.py build/op_cases
  for mode in reference engine; do
    build/bin/run_node_tests build/op_cases --mode "$mode" --min 100 --title "operator rows against onnxruntime"
  done
  # The plan and the kernels of a GPU, on this CPU. SIMT=all takes the node tests too.
  build/bin/run_node_tests build/op_cases --mode engine --device simt --min 100 --jobs "$jobs" --title "operator rows on simt"
  if [[ ${SIMT:-} == all ]]; then
    build/bin/run_node_tests build/onnx_node --mode engine --device simt --min 95 --jobs "$jobs"
  fi
}

# The unit tests and the node tests again under the address and undefined-behaviour sanitizers.
stage_asan() {
  build asan tests run_node_tests
  ctest --test-dir build/asan --output-on-failure -j "$jobs"
  "$python" tests/conformance/onnx_backend.py build/onnx_node
  for mode in reference interpreter; do
    build/asan/bin/run_node_tests build/onnx_node --mode "$mode" --min 95 --jobs "$jobs"
  done
}

# Damaged and hostile files for FUZZ_SECONDS (60) per target, then random edge-value models.
stage_fuzz() { scripts/fuzz.sh "${FUZZ_SECONDS:-60}"; }

# What meets threads (the pool, streams, kernels, the executor) under the thread sanitizer.
stage_tsan() {
  build tsan thread_tests
  ctest --test-dir build/tsan -L threads --output-on-failure -j "$jobs"
}

stages=(layers build unit programs models conformance asan fuzz tsan)
for stage in "${@:-${stages[@]}}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    echo "error: test.sh: stage $stage; accepted: ${stages[*]}" >&2
    exit 2
  fi
done
for stage in "${@:-${stages[@]}}"; do
  started=$SECONDS
  echo "=== $stage"
  # A subshell of its own with -e: `if ! stage` would switch -e off inside the stage.
  set +e
  (set -e; "stage_$stage")
  status=$?
  set -e
  if ((status)); then
    echo "=== $stage failed after $((SECONDS - started)) s"
    exit "$status"
  fi
  echo "=== $stage passed in $((SECONDS - started)) s"
done
