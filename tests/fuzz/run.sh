#!/usr/bin/env bash
# Runs every fuzz target for SECONDS (60) each, from a corpus of whole, truncated and bit-flipped files.
#
#   tests/fuzz/run.sh [SECONDS] [target...]
#
# A crash, a hang of 10 s, or memory past what a small file justifies fails; the input stays in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
python=.venv/bin/python

cmake --preset asan >/dev/null
targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in tests/fuzz/fuzz_*.cc; do targets+=("$(basename "$source" .cc)"); done
fi
cmake --build build/asan --target "${targets[@]}" -j "${JOBS:-$(nproc)}"
"$python" tests/conformance/onnx_backend.py build/onnx_node
"$python" tests/fuzz/seeds.py build/onnx_node build/fuzz/corpus

mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  echo "fuzz: $target for $seconds s"
  build/asan/bin/"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=300 \
    -artifact_prefix=build/fuzz/found/ -print_final_stats=1 -verbosity=0 "$corpus"
done
