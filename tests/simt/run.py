#!/usr/bin/env python3
"""Kernels with planted faults, and clean ones: each is built by `trine cc --check=...` and run.

    run.py <trine> <folder for programs> <file.cu or folder>...

A file says what must be found: `// want: race 12 14` names a check and the lines that its report must show, in one
finding; `// checks: memory,race` what is asked for (all). Without `want` nothing may be found and the program must
succeed; with it, it must fail.
"""

import os
import re
import subprocess
import sys


def parts(report):
    """The findings of a report, each with its lines."""
    return re.split(r"(?m)^(?=trine check: )", report)


def shows(report, name, check, lines):
    for part in parts(report):
        places = {int(n) for n in re.findall(re.escape(name) + r":(\d+)", part)}
        if part.startswith(f"trine check: {check}: ") and set(lines) <= places:
            return True
    return False


def problem(trine, folder, path):
    text = open(path).read()
    name = os.path.basename(path)
    wanted = [(w[0], [int(n) for n in w[1:]]) for w in (m.split() for m in re.findall(r"// want: (.*)", text))]
    found = re.search(r"// checks: (\S+)", text)
    checks = found.group(1) if found else "all"
    program = os.path.join(folder, name[:-3])
    built = subprocess.run([trine, "cc", "-O1", f"--check={checks}", path, "-o", program], capture_output=True, text=True)
    if built.returncode:
        return "does not build:\n" + built.stderr
    env = dict(os.environ, TRINE_DEVICE="cpu")
    try:
        ran = subprocess.run([program], capture_output=True, text=True, env=env, timeout=120)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = f"status {ran.returncode}\n{ran.stdout}{ran.stderr}"
    for check, lines in wanted:
        if not shows(ran.stderr, name, check, lines):
            return f"no finding '{check}' at lines {lines}: {said}"
    if wanted and ran.returncode == 0:
        return "status 0 although something was found: " + said
    if not wanted and (ran.returncode or "trine check:" in ran.stderr):
        return "clean, but " + said
    return None


def main():
    trine, folder, *paths = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    files = []
    for path in paths:
        files += sorted(os.path.join(path, f) for f in os.listdir(path) if f.endswith(".cu")) if os.path.isdir(path) else [path]
    failed = 0
    for path in files:
        wrong = problem(trine, folder, path)
        failed += wrong is not None
        if wrong:
            print(f"{path}: {wrong}\n")
    print(f"{len(files) - failed} of {len(files)} as expected")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
