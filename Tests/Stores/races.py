#!/usr/bin/env python3
"""Race many processes on one engine, kill some at random, then check the history (STO-98).

  races.py --engine NAME [--operations 20000] [--workers 16] [--kills 200]
           [--engine-kills 3] [--seed N] [--keep FOLDER] [--host COMMAND]

Starts the engine, mints the shared evidence, runs the processes (worker.py, workload.py), and kills
them, and the engine too, with SIGKILL at moments that the seed determines; each killed process is
replaced. A history without an order is stored, with the seed, in a folder below --keep. The engine
"pretended" needs no database: the model itself returns the results; pretended?FAULT has a planted
fault. The ledger is that of Python, or with --host that of a program which reads operations
(host_node.cjs).
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import book
import engines
import evidence
import history
import stage as stages
from models import models_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "Tests/Gates"))

import python_tools
from report import Suite

# The longest time without an operation before the run is given up.
PATIENCE_SECONDS = 120


class RaceError(RuntimeError):
    """Raised if a run could not be finished."""


class Crew:
    """The processes of a run."""

    def __init__(self, folder, url, seed, environment):
        self.folder, self.url, self.seed = folder, url, seed
        self.environment = {**os.environ, **environment}
        self.running, self.files, self.killed = [], [], 0
        self.read, self.operations = {}, 0

    def hire(self):
        """Start one more process, with a new name."""
        name = f"w{len(self.files)}"
        out = self.folder / f"{name}.jsonl"
        out.touch()
        with (self.folder / "errors").open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, HERE / "worker.py", self.folder / "stage.json", self.url,
                 name, str(self.seed), out], stdin=subprocess.DEVNULL, stdout=errors,
                stderr=errors, env=self.environment, preexec_fn=engines.die_with_parent)
        self.files.append(out)
        self.running.append((process, out))

    def kill(self, at):
        """Kill one process with SIGKILL and start another in its place."""
        process, _ = self.running.pop(at)
        process.kill()
        process.wait()
        self.killed += 1
        self.hire()

    def ready(self):
        """Return the positions of processes that have begun an operation."""
        return [at for at, (_, out) in enumerate(self.running) if out.stat().st_size]

    def count(self):
        """Return the number of operations begun so far."""
        for path in self.files:
            with path.open("rb") as file:
                file.seek(self.read.get(path, 0))
                more = file.read()
                whole = more[:more.rfind(b"\n") + 1]
                self.read[path] = self.read.get(path, 0) + len(whole)
                self.operations += whole.count(b'"event": "invoked"')
        ended = [process for process, _ in self.running if process.poll() is not None]
        if ended:
            raise RaceError(f"a process ended by itself: {self.errors()}")
        return self.operations

    def tell(self, progress):
        """Report to all processes how much of the run is over."""
        part = self.folder / "progress.new"
        part.write_text(f"{min(progress, 1):.4f}")
        part.rename(self.folder / "progress")

    def errors(self):
        return (self.folder / "errors").read_text(errors="replace")[-2000:]

    def end(self):
        """Ask all processes to end after their current operation, and wait."""
        for process, _ in self.running:
            process.terminate()
        codes = []
        for process, _ in self.running:
            try:
                codes.append(process.wait(PATIENCE_SECONDS))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append(process.wait())
        self.running = []
        # A new process may not yet handle the signal.
        if set(codes) - {0, -signal.SIGTERM}:
            raise RaceError(f"processes ended with {codes}: {self.errors()}")

    def abandon(self):
        for process, _ in self.running:
            process.kill()
            process.wait()


def race(crew, engine, options):
    """Run until enough operations have begun and enough processes were killed."""
    chance = random.Random(f"{options.seed} kills")
    marks = sorted([(chance.random(), "worker") for _ in range(options.kills)]
                   + [(chance.uniform(0.1, 0.9), "engine") for _ in range(options.engine_kills)])
    crew.tell(0)
    for _ in range(options.workers):
        crew.hire()
    heard, last = time.monotonic(), 0
    while (begun := crew.count()) < options.operations or marks:
        crew.tell(begun / options.operations)
        if begun != last:
            heard, last = time.monotonic(), begun
        elif time.monotonic() - heard > PATIENCE_SECONDS:
            raise RaceError(f"nothing was asked for {PATIENCE_SECONDS} s: {crew.errors()}")
        if marks and begun >= marks[0][0] * options.operations:
            _, whom = marks.pop(0)
            time.sleep(chance.uniform(0, 0.004))
            if whom == "engine":
                engine.kill()
                engine.restart()
            elif ready := crew.ready():
                crew.kill(chance.choice(ready))
            else:
                marks.insert(0, (0, whom))
        else:
            time.sleep(0.005)
    crew.end()


def shared(engine_name, folder, options):
    """Write the file that all processes share; with evidence unless the model returns the
    results."""
    sizes = {"purchases": options.operations // 60 + 3, "lines": options.operations // 150 + 3}
    made = (stages if engine_name == "pretended" else evidence).stage(**sizes)
    made |= {"grants": str(folder / "grants.db"), "progress": str(folder / "progress"),
             "host": options.host.split(), "file": str(folder / "stage.json"),
             "begin": stages.BEGIN}
    (folder / "stage.json").write_text(json.dumps(made))
    return made


def keep(folder, options, files):
    """Store the files of a faulty run; the folder's name has the seed."""
    kept = options.keep / f"{options.engine.replace('?', '-')}-{options.seed}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for path in [*files, folder / "stage.json", folder / "errors"]:
        if path.exists():
            shutil.copy(path, kept)
    return kept


def summary(operations, crew, seconds):
    """Return one line: how many operations, how they ended, how many processes were killed."""
    ends = dict.fromkeys(("ok", "refused", "unclear"), 0)
    for operation in operations:
        ends[operation.outcome] += 1
    shares = ", ".join(f"{number} {name}" for name, number in ends.items())
    return (f"{len(operations)} operations ({shares}) by {len(crew.files)} processes, "
            f"{crew.killed} killed, {seconds:.0f} s")


def run(place, options):
    """Run one race; return the lines to print, and whether the history has an order."""
    name, _, fault = options.engine.partition("?")
    folder = place.folder / "race"
    folder.mkdir()
    engine, url, environment = None, f"pretended:{folder}/rows?{fault}", {}
    if name == "pretended":
        (folder / "rows").mkdir()
        options.engine_kills = 0
    else:
        engine = place.engine(name)
        engine.start()
        url, environment = engine.url, engine.environment
        if not engine.durable or engine.process is None:
            options.engine_kills = 0
    os.environ.update(environment)
    book.prepare(url, shared(name, folder, options))
    crew, begin = Crew(folder, url, options.seed, environment), time.monotonic()
    try:
        race(crew, engine, options)
    except (RaceError, engines.EngineError) as error:
        return [f"{error}", f"kept in {keep(folder, options, crew.files)}"], False
    finally:
        crew.abandon()
    operations = history.load(crew.files)
    lines = [summary(operations, crew, time.monotonic() - begin)]
    faults = history.check(operations, models_of(name))
    if faults:
        lines += [str(fault) for fault in faults[:10]]
        lines.append(f"{len(faults)} rows without an order; seed {options.seed}; kept in "
                     f"{keep(folder, options, crew.files)}")
    return lines, not faults


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--engine-kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/races")
    parser.add_argument("--host", default="")
    options = parser.parse_args(words)
    known_engine(parser, options.engine)
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4))
    return options


def known_engine(parser, name):
    """Exit if there is no such engine."""
    if name.partition("?")[0] not in [*engines.ENGINES, "pretended"]:
        parser.error(f"no engine {name}")


def main():
    options = arguments()
    name = options.engine.partition("?")[0]
    suite = Suite(f"races-{name}" + (f"-{pathlib.Path(options.host).stem}" if options.host else ""))
    without = None if name == "pretended" else tools_or_reason()
    with engines.scratch(python_tools.TOOLS / "bin") as place:
        why = None if name == "pretended" else unavailable(place.engine(name), without)
        why = why or host_missing(options.host.split(), name)
        if why:
            suite.skip(name, why)
        else:
            lines, good = run(place, options)
            print("\n".join(f"{name}: {line}" for line in lines), flush=True)
            suite.expect(good, f"the history has an order; again: --seed {options.seed}")
    with contextlib.suppress(OSError):
        options.keep.rmdir()
    suite.finish(may_be_empty=True)


def tools_or_reason():
    """Restart this program in the environment with the clients; return why there is none, else
    None."""
    programs, why = python_tools.installed()
    if why is None and pathlib.Path(sys.prefix) != programs.parent:
        os.execv(programs / "python", [str(programs / "python"), *sys.argv])
    return why


def host_missing(command, name):
    """Return why the ledger of another language cannot be raced on an engine, else None."""
    done = subprocess.run([*command, "--ask", name], capture_output=True, text=True) if command \
        else None
    return (done.stdout or done.stderr).strip() if done and done.returncode else None


def unavailable(engine, without):
    """Return why no race can run on the engine, else None. SQLite's client is part of Python."""
    if without and engine.name != "sqlite":
        return without
    if not (ROOT / "bindings/python/assay/ledger").exists():
        return "bindings/python/assay/ledger is not there"
    return engine.missing


if __name__ == "__main__":
    main()
