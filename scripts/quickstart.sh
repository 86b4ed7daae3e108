#!/usr/bin/env bash
# From a bare machine to text read from a picture: installs what is needed, builds Trine, builds engines from trained
# networks and runs them. Ends with the lines read and a picture with boxes in build/quickstart/.
set -euo pipefail
cd "$(dirname "$0")/.."
here=build/quickstart
models=$here/models

step() { printf '\n== %s\n' "$1"; }

cat <<'TEXT'
Installs Debian packages (as root, or by sudo), makes a Python environment in .venv with the packages that hold trained
networks, compiles Trine into build/, makes engines of five networks and runs them. Most of the time goes into compiling:
some ten minutes on four cores, twice that on two; the second time it is a minute or two. Nothing is asked, but by sudo.
JOBS=2 scripts/quickstart.sh compiles with two jobs.
TEXT

step "dependencies"
scripts/install_deps.sh

step "build"
cmake --preset release >/dev/null
cmake --build --preset release -j "${JOBS:-$(nproc)}" --target trine_cli trine_llvm read_text hear_speech file_type

step "pictures, sound and trained networks"
.venv/bin/python scripts/make_samples.py "$here"
espeak-ng -w "$here/speech.wav" "Good morning. <break time='1200ms'/> The train to Cambridge leaves at nine." -m

step "from ONNX files to engines"
for name in text_detector text_recogniser page_layout speech file_type; do
  build/bin/trine build "$models/$name.onnx" -o "$here/$name.trn"
done

step "read the text in a picture"
build/bin/read_text "$here/text_detector.trn" "$here/text_recogniser.trn" "$here/sign.png" "$here/sign_boxes.png" |
  tee "$here/sign.txt"
for line in "Trains to Cambridge" "and coffee every day"; do
  grep -q "$line" "$here/sign.txt" || { echo "error: quickstart: '$line' was not read; see $here/sign.txt" >&2; exit 1; }
done

step "find the parts of a page"
build/bin/trine run "$here/page_layout.trn" --input "$here/page.png" --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 \
  --head picodet --min-score 0.5 --labels "$models/page_layout_labels.txt" --draw "$here/page_boxes.png" |
  grep -v transpose

step "find speech in a sound"
build/bin/hear_speech "$here/speech.trn" "$here/speech.wav"

step "tell what files hold"
build/bin/file_type "$here/file_type.trn" "$models/file_type_labels.txt" README.md scripts/test.sh "$here/sign.png" \
  "$here/speech.wav" CMakeLists.txt

step "the same numbers as onnxruntime"
.venv/bin/python scripts/check_against_ort.py

printf '\n%s/sign_boxes.png and %s/page_boxes.png are written.\n' "$here" "$here"
