#!/usr/bin/env python3
"""Writes the backend node tests into build/onnx_node (once), runs them, and writes docs/onnx.md.

    tests/conformance/run.py [--mode reference] [further options of run_node_tests]
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "build" / "onnx_node"


def main():
    subprocess.run([sys.executable, ROOT / "tests/conformance/onnx_backend.py", DATA], check=True)
    command = [ROOT / "build/bin/run_node_tests", DATA, "--json", ROOT / "build/onnx_node.json",
               "--failures", ROOT / "build/onnx_node_failures.txt", *sys.argv[1:]]
    if "--filter" not in sys.argv:
        command += ["--markdown", ROOT / "docs/onnx.md"]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
