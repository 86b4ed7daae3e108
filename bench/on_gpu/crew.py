"""Processes of peers.py: they compile at the same time and are measured one after the other."""
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

PEERS = pathlib.Path(__file__).with_name("peers.py")
THREADS = {"TORCHINDUCTOR_COMPILE_THREADS": "4", "OMP_NUM_THREADS": "4"}


class Worker:
    """One network at one batch size."""

    def __init__(self, folder, name, batch, precision, mode, environment):
        self.name, self.batch, self.mode, self.began = name, batch, mode, time.monotonic()
        self.log = open(folder / f"peers-{name}-{batch}-{mode}.log", "w+")
        command = [sys.executable, str(PEERS), "measure", str(folder), name, str(batch), precision, mode]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env={**environment, **THREADS})
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def line(self, until, wanted):
        """The first line that begins with `wanted`; None when the process ends or the time is over."""
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if line is None or line.startswith(wanted):
                return line

    def ready(self, until):
        self.is_ready = self.line(until, "ready") is not None
        self.seconds = time.monotonic() - self.began
        return self.is_ready

    def report(self, seconds=60):
        """What it measured; {"failed": why} when it did not."""
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except OSError:
            return self.failed("ended")
        line = self.line(time.monotonic() + seconds, "{")
        return {**json.loads(line), "ready_seconds": round(self.seconds, 1)} if line else self.failed("no result")

    def failed(self, why):
        self.log.seek(0)
        lines = [line for line in self.log.read().splitlines() if line.strip()]
        return {"failed": f"{why} after {time.monotonic() - self.began:.0f} s{': ' + lines[-1][:200] if lines else ''}"}

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()


def ready_crew(folder, names, batch, precision, mode, environment, limit, jobs):
    """Workers for every name, at most `jobs` of them compiling at once; those that are not ready in `limit` seconds are
    asked for eager alone."""
    workers = {}
    for at in range(0, len(names), jobs):
        group = [Worker(folder, n, batch, precision, mode, environment) for n in names[at:at + jobs]]
        until = time.monotonic() + limit
        for worker in group:
            if not worker.ready(until) and mode != "eager":
                why = worker.failed("not compiled")["failed"]
                worker.end()
                print(f"{worker.name}: {why}", flush=True)
                worker = Worker(folder, worker.name, batch, precision, "eager", environment)
                worker.ready(time.monotonic() + limit)
            workers[worker.name] = worker
    return workers
