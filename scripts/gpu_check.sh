#!/usr/bin/env bash
# Everything that only a GPU can tell, on a machine that has one and perhaps neither the sources nor a compiler.
#
#   scripts/gpu_check.sh pack FOLDER               here: builds, strips, compresses into FOLDER (with the compiler: 55 MB)
#   FOLDER/gpu_check.sh run FOLDER [SECTION...]    there: unpacks what is packed, runs, keeps every output
#   scripts/gpu_check.sh run FOLDER [SECTION...]   where the sources are: packs first when FOLDER has nothing
#
# Sections, in this order (all but the last unless named):
#   tests       every test that takes TRINE_TEST_DEVICE, at the same time
#   nodes       ONNX's node tests and the operators' rows through engines
#   sanitizer   compute-sanitizer, memcheck and racecheck, on the kernels' tests, as many as the time allows
#   bench       cost of launches; single rows, loops and contractions
#   models      bench/gpu_models.py: networks beside PyTorch; takes eight minutes alone
#
# Outputs lie in $OUT (FOLDER/out), all of them in $OUT/outputs.tar.gz too; $OUT/summary.txt is printed at the end. Exit status 1
# when something failed; what the time did not suffice for is named, and is no failure. DEVICE (cuda:0) says where,
# LIMIT (530) after how many seconds nothing is begun any more, MODELS what gpu_models.py is told besides.
set -euo pipefail

tests=(test_compute_gpu test_compute_kernels test_gpu_engine test_gpu_contractions test_gpu_rows test_gpu_loops test_gpu_providers)
benches=(bench_gpu_loops bench_gpu_contractions bench_gpu_rows)

# --- here

# Functions of the library $2 that $1 wants, as a library of the same name whose functions end the program: the compiler
# is linked with it, but nothing that we use calls it. $3: where to.
stub() {
  local name code map
  name=$3/$(basename "$2")
  code=$(mktemp --suffix=.c) map=$(mktemp)
  objdump -T "$1" | awk '/\*UND\*/ {print $NF, ($(NF-1) ~ /^\(/ ? $(NF-1) : "-")}' | tr -d '()' | sort >"$code.wanted"
  nm -D --defined-only "$2" | awk '{print $3}' | sed 's/@.*//' | sort -u | join - "$code.wanted" >"$code.both"
  awk '{print "void " $1 "(void) { __builtin_trap(); }"}' "$code.both" >"$code"
  awk '$2 != "-" {of[$2] = of[$2] " " $1 ";"} END {for (v in of) print v " {" of[v] " };"}' "$code.both" >"$map"
  local script=()
  [ -s "$map" ] && script=("-Wl,--version-script=$map")
  gcc -w -fno-builtin -shared -fPIC -Wl,-soname="$(basename "$2")" "${script[@]}" "$code" -o "$name"
  rm -f "$code" "$code".* "$map"
}

# The compiler's libraries, which change seldom: what is there is kept.
pack_compiler() {
  local to=$1 stage llvm
  [ -e "$to/compiler.tar.xz" ] && return
  stage=$(mktemp -d)
  llvm=$(ldd build/lib/libtrine_simt.so | awk '/libLLVM/ {print $3}')
  mkdir "$stage/compiler"
  ldd build/lib/libtrine_simt.so | awk '/libLLVM|libclang-cpp|libzstd/ {print $3}' | xargs cp -L -t "$stage/compiler"
  ldd "$llvm" | awk '/libz3|libxml2|libedit|libffi/ {print $3}' | while read -r library; do
    stub "$llvm" "$library" "$stage/compiler"
  done
  strip "$stage"/compiler/*
  tar -C "$stage" -c compiler | xz -T0 -9 >"$to/compiler.tar.xz"
  rm -rf "$stage"
}

pack() {
  local to=$1 python=.venv/bin/python stage
  cd "$(dirname "$0")/.."
  [ -x $python ] || python=python3
  cmake --preset release >/dev/null
  nice cmake --build --preset release -j "${JOBS:-$(nproc)}" --target trine_cli trine_simt trine_llvm run_node_tests \
    bench_launch "${tests[@]}" "${benches[@]}"
  mkdir -p "$to"
  pack_compiler "$to"
  stage=$(mktemp -d)
  find -L build/lib -name 'libtrine*.so.0.1' -exec cp -L -t "$stage" {} +
  cp -L build/lib/libtrine_{gpu,simt,llvm}.so "$stage"
  (cd build/bin && cp -t "$stage" trine run_node_tests bench_launch "${tests[@]}" "${benches[@]}")
  strip "$stage"/*
  cp -r bench/gpu_models.py bench/on_gpu "$stage"
  "$python" bench/gpu_models.py pack "$stage/models"
  "$python" tests/conformance/onnx_backend.py build/onnx_node
  [ -e build/op_cases/cases.txt ] || "$python" tests/conformance/op_cases.py build/op_cases >/dev/null
  cp -r build/onnx_node build/op_cases "$stage"
  tar -C "$stage" --exclude __pycache__ -c . | xz -T0 -6 >"$to/build.tar.xz"
  rm -rf "$stage"
  cp scripts/gpu_check.sh "$to"
  du -sh "$to"/*
}

# --- there

unpack() {
  if command -v xz >/dev/null; then tar xJf "$1"; else python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall()' "$1"; fi
}

left() { echo $((until - SECONDS)); }

# limited SECONDS: as many, or what is left of all.
limited() { if [ "$1" -lt "$(left)" ]; then echo "$1"; else left; fi; }

tell() { printf '%s\n' "$*" >>"$out/summary.txt"; }

# kept NAME SECONDS COMMAND...: its output in a file, its exit status in another; 124 when the time was over.
kept() {
  local name=$1 status=0 seconds
  seconds=$(limited "$2")
  shift 2
  if ((seconds < 5)); then
    echo "not begun, the time is over" >"$out/$name.txt"
    status=124
  else
    timeout "$seconds" "$@" >"$out/$name.txt" 2>&1 || status=$?
  fi
  echo $status >"$out/$name.status"
}

# judge NAME: a line for the summary, and the first lines of what went wrong.
judge() {
  local name=$1 status file=$out/$1.txt verdict=passed
  status=$(cat "$out/$name.status")
  rm "$out/$name.status"
  if ((status == 124)); then verdict="time was over"; elif ((status)); then verdict="FAILED ($status)"; fi
  tell "$(printf '%-34s %-14s %s' "$name" "$verdict" "$(counted "$file")")"
  if failing "$file" || { ((status)) && ((status != 124)); }; then
    failed=1
    wrong "$file" >>"$out/summary.txt"
  fi
}

# What tests print, of either kind.
counted() {
  local ok bad
  ok=$(grep -c '^\[       OK' "$1" || true) bad=$(grep -c '^\[  FAILED  \].*ms)$' "$1" || true)
  if ((ok + bad)); then echo "$ok passed, $bad failed"; else grep -m1 ' of [0-9]* passed' "$1" || true; fi
}

failing() { grep -q '^\[  FAILED  \]\|^========= \(Invalid\|Race\|Error: Race\|Potential\|Misaligned\|Address\)' "$1"; }

wrong() {
  grep -h '^\[  FAILED  \].*ms)$' "$1" | head -40 | sed 's/^/    /' || true
  grep -h -A7 ': Failure$\|^========= \(Invalid\|Race\|Error: Race\|Potential\|Misaligned\|Address\)' "$1" | head -40 | cut -c1-300 |
    sed 's/^/      /' || true
  failing "$1" || tail -n 12 "$1" | cut -c1-300 | sed 's/^/      /'
}

section_tests() {
  local t
  for t in "${tests[@]}"; do kept "$t" 200 "./$t" & done
  wait
  for t in "${tests[@]}"; do judge "$t"; done
}

section_nodes() {
  local jobs=$((($(nproc) + 1) / 2)) device=(--mode engine --device "$TRINE_TEST_DEVICE")
  kept nodes 240 ./run_node_tests onnx_node "${device[@]}" --min 95 --jobs $jobs --failures "$out/nodes_failed.txt" &
  kept operators 240 ./run_node_tests op_cases "${device[@]}" --min 100 --jobs $jobs --failures "$out/operators_failed.txt" \
    --title "operator rows" &
  wait
  judge nodes
  judge operators
}

# What fails on purpose is left out, and what the tool changes the result of.
section_sanitizer() {
  local t tool names=() on_purpose='*Death*:*OutOfMemory*:*PtxThat*:*EventsTake*:*Cooperative*:*SharedMemoryOfTheLaunch*:*NotThere*'
  command -v compute-sanitizer >/dev/null || { tell "compute-sanitizer is not there"; return 0; }
  for tool in memcheck racecheck; do
    for t in test_compute_gpu test_compute_kernels test_gpu_contractions test_gpu_rows test_gpu_loops; do
      kept "${tool}_$t" 110 compute-sanitizer --tool $tool --report-api-errors no --error-exitcode 9 "./$t" \
        --gtest_filter="-$on_purpose" &
      names+=("${tool}_$t")
    done
  done
  wait
  for t in "${names[@]}"; do judge "$t"; done
}

section_bench() {
  local b
  kept bench_launch 30 ./bench_launch
  judge bench_launch
  for b in "${benches[@]}"; do
    local all=()
    [ "$b" = bench_gpu_contractions ] && all=(--all)
    kept "$b" 90 "./$b" --device "$TRINE_TEST_DEVICE" "${all[@]}"
    judge "$b"
  done
}

# Python is not to find the compiler's libraries, of which some are empty: trine alone gets them.
section_models() {
  printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s/trine" "$@"\n' "$LD_LIBRARY_PATH" "$PWD" >trine_with_libraries
  chmod +x trine_with_libraries
  # shellcheck disable=SC2086
  kept models "$(left)" env -u LD_LIBRARY_PATH python3 -u gpu_models.py run models --trine ./trine_with_libraries --device "$TRINE_TEST_DEVICE" --markdown \
    --out "$out/gpu_models.json" --seconds $(($(left) - 40)) ${MODELS:-}
  cp models/peers-*.log "$out" 2>/dev/null || true
  judge models
  cat "$out/models.txt" >>"$out/summary.txt"
}

run() {
  local folder=$1 section began
  shift
  [ $# -gt 0 ] || set -- tests nodes sanitizer bench
  for section in "$@"; do
    declare -F "section_$section" >/dev/null || { echo "gpu_check.sh: section '$section'; accepted are tests, nodes, sanitizer, bench, models" >&2; exit 2; }
  done
  if [ ! -e "$folder/build.tar.xz" ] && [ ! -x "$folder/trine" ]; then pack "$folder"; fi
  cd "$folder"
  out=$(realpath -m "${OUT:-out}")
  mkdir -p "$out" cache
  until=$((SECONDS + ${LIMIT:-530}))
  [ -x trine ] || unpack build.tar.xz
  [ -d compiler ] || [ ! -e compiler.tar.xz ] || unpack compiler.tar.xz
  export LD_LIBRARY_PATH=$PWD:$PWD/compiler TRINE_CACHE=$PWD/cache TRINE_TEST_DEVICE=${DEVICE:-cuda:0}
  : >"$out/summary.txt"
  tell "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo 'no GPU'), $(nproc) processors"
  ./trine doctor >"$out/doctor.txt" 2>&1 || true
  failed=0
  for section in "$@"; do
    began=$SECONDS
    tell "=== $section"
    "section_$section"
    tell "    $((SECONDS - began)) s"
  done
  tell "=== $( ((failed)) && echo SOMETHING FAILED || echo no failure)"
  tar -C "$out" --exclude outputs.tar.gz -czf "$out/outputs.tar.gz" .
  cat "$out/summary.txt"
  return $failed
}

case ${1:-}:$# in
  pack:2) pack "$(realpath -m "$2")" ;;
  run:[2-9]) run "$(realpath -m "$2")" "${@:3}" ;;
  *) echo "gpu_check.sh: '$*'; accepted are pack FOLDER and run FOLDER [SECTION...]" >&2; exit 2 ;;
esac
