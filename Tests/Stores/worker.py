#!/usr/bin/env python3
"""Run one process of a race: call the ledger and record each call and its result.

  worker.py STAGE URL NAME SEED OUT

Ends in order at SIGTERM; may be killed at any moment. Each operation appends one line to OUT before
it starts and another after it has ended (history.py).
"""

import json
import os
import pathlib
import signal
import sys
import time

import book
from stage import Clock
from workload import Workload


class Recorder:
    """Writes the two events of each operation, each in a single write."""

    def __init__(self, path, process):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.process, self.number = process, 0

    def write(self, event, **members):
        line = {"process": self.process, "id": self.number, "event": event, **members}
        os.write(self.file, json.dumps(line).encode() + b"\n")

    def perform(self, ledger, op, args):
        """Run and record one operation."""
        self.number += 1
        self.write("invoked", op=op, args=args, order=time.monotonic_ns())
        outcome, result = ledger.perform(op, args)
        self.write("ended", outcome=outcome, result=result, order=time.monotonic_ns())
        return outcome, result


def run(recorder, ledger, workload, goes_on):
    """Run flows until the process is requested to end."""
    while goes_on():
        flow, heard = workload.flow(), None
        while goes_on():
            try:
                op, args = flow.send(heard)
            except StopIteration:
                break
            heard = recorder.perform(ledger, op, args)


def main():
    path, url, name, seed, out = sys.argv[1:]
    stop = []
    signal.signal(signal.SIGTERM, lambda number, frame: stop.append(number))
    stage = json.loads(pathlib.Path(path).read_text())
    clock = Clock(stage["origin"], stage["speed"])
    ledger = book.opened(url, stage, f"{seed} {name}")
    progress = pathlib.Path(stage["progress"])
    workload = Workload(stage, name, seed, clock, volatile=url.startswith("redis:"),
                        progress=lambda: float(progress.read_text()))
    run(Recorder(out, name), ledger, workload, lambda: not stop)


if __name__ == "__main__":
    main()
