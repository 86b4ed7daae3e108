"""Programs that a script runs: when one fails, the script ends with that program's own error line and exit status, not with
a traceback of the script."""
import json
import shlex
import subprocess
import sys


class Failed(Exception):
    def __init__(self, command, status, stderr=""):
        lines = [line for line in stderr.splitlines() if line.strip()]
        said = [line for line in lines if line.startswith("error:")] or lines
        line = said[-1] if said else f"error: {command[0]}: ended without a message"
        line = line if line.startswith("error:") else f"error: {line}"
        super().__init__(f"{line}\n  from: {shlex.join(map(str, command))} (exit status {status})")
        self.status = status if 0 < status < 126 else 1


def run(command, watch=None, show=False):
    """The program's standard output. `watch` sees its process id every now and then; `show` lets its output through, and
    only the exit status is looked at."""
    pipe = None if show else subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    except OSError as e:
        raise Failed(command, 1, f"error: {command[0]}: {e.strerror}; build it: cmake --build --preset release") from None
    while True:
        try:
            out, err = process.communicate(timeout=0.05 if watch else None)
            break
        except subprocess.TimeoutExpired:
            watch(process.pid)
    if process.returncode != 0:
        raise Failed(command, process.returncode, err or "")
    return out


def run_json(command, watch=None):
    return json.loads(run(command, watch))


def guarded(main):
    """main(), a failed program reported; for sys.exit."""
    try:
        return main()
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.status
