#!/usr/bin/env bash
# Hostile input: every libFuzzer target for SECONDS (60) from a corpus of whole and damaged files, with the sanitizers and
# all at once; then MODELS (20000) edge-value models of every operator with the release build.
#
#   scripts/fuzz.sh [SECONDS] [target...]
#   MODELS=1000000 SEED=1 scripts/fuzz.sh 0
#
# A crash, a hang, or memory past what a small file justifies fails. The input stays in build/fuzz/found; an edge-value
# model is told with the options that replay it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
models=${MODELS:-20000}
jobs=${JOBS:-$(nproc)}
python=.venv/bin/python

targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in tests/fuzz/fuzz_*.cc; do targets+=("$(basename "$source" .cc)"); done
fi
cmake --preset release >/dev/null
cmake --build build --target fuzz_models trine_cli -j "$jobs"
"$python" tests/conformance/onnx_backend.py build/onnx_node

if ((seconds > 0)); then
  cmake --preset asan >/dev/null
  cmake --build build/asan --target "${targets[@]}" -j "$jobs"
  "$python" tests/fuzz/seeds.py build/onnx_node build/fuzz/corpus
  mkdir -p build/fuzz/found
  running=()
  for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    build/asan/bin/"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=300 \
      -artifact_prefix="build/fuzz/found/$target-" -print_final_stats=1 -verbosity=0 "build/fuzz/corpus/$target" \
      >"build/fuzz/$target.log" 2>&1 &
    running+=($!)
  done
  failed=0
  for i in "${!targets[@]}"; do
    wait "${running[i]}" || failed=1
    tail -n 100 "build/fuzz/${targets[i]}.log"
  done
  if ((failed)); then exit 1; fi
fi
if ((models > 0)); then build/bin/fuzz_models build/onnx_node --count "$models" --jobs "$jobs" ${SEED:+--seed "$SEED"}; fi
