#!/usr/bin/env python3
"""Migrate many rows twice into SQLite, killing the command at random moments (MIG-32, MIG-61).

  migrate_load.py BINARY [--rows N] [--kills N] [--jobs N] [--seed N] [--folder FOLDER]

The same with few rows comes first: peak memory must be below one bound for both. The rows are those
of worlds, whose oracles are added up. They take 5 kB each of the folder, which is on a disk.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import tempfile
import time

from migrate import ROOT, Stage, Suite
from migrate_oracle import Oracle

# : The rows of a world, and of the small migration.
WORLD, FEW = 5_000, 10_000
# : Peak resident memory, in KiB: without jobs, and of each (MIG-32).
BOUND, JOB = 96 << 10, 4 << 10


class Truth:
    """What a migration must say of all worlds together."""

    def __init__(self):
        self.rows, self.evidence = collections.Counter(), collections.Counter()
        self.purchases, self.subscriptions = collections.Counter(), collections.Counter()
        self.files, self.ledger, self.lines = collections.Counter(), {}, {}

    def add(self, oracle):
        self.rows.update(oracle.world.counts)
        self.evidence.update({k: v for k, v in oracle.evidence.items() if k != "texts"})
        self.purchases.update(oracle.purchases)
        self.subscriptions.update(oracle.subscriptions)
        self.files.update({name: len(getattr(oracle, name))
                           for name in ("owed", "conflicts", "takeback", "ask")})
        self.ledger.update(oracle.ledger)
        self.lines.update(oracle.lines)


def mint(stage, path, rows, seed):
    """Write the input; return its truth. The rows of the first world come again at the end, far
    from themselves."""
    truth, first = Truth(), b""
    with path.open("wb") as file:
        for part in range(max(1, rows // WORLD - 1)):
            world = stage.world(seed + part, WORLD)
            oracle, lines = Oracle(world), world.write()
            file.write(lines)
            truth.add(oracle)
            if not first:
                first = lines
                truth.rows.update(world.counts)
        file.write(first)
    return truth


class Migration:
    """The starts of one run until it is done, some of them killed."""

    def __init__(self, stage, name, words, moments=()):
        self.kills, self.peak, self.work = collections.Counter(), 0, 0
        self.cpu, self.code, self.phases = 0.0, None, {}
        self.log = stage.folder / f"{name}.log"
        self.folder = stage.folder / f"report-{name}/work"
        moments, begun = iter(moments), time.monotonic()
        while self.code is None:
            self.start(stage.arguments(name, *words, "--progress", "json"), stage.folder,
                       next(moments, None))
        self.seconds = time.monotonic() - begun

    def start(self, command, folder, moment):
        with self.log.open("wb") as log:
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log)
        begun, looked, phases = time.monotonic(), 0.0, {}
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            now = time.monotonic()
            self.look(process.pid)
            if now - looked > 1:
                looked = now
                self.work = max(self.work, sum(
                    path.stat().st_size for path in self.folder.glob("*-*") if path.exists()))
            for phase in self.phase():
                phases.setdefault(phase, now)
            since = {"read": begun} | phases
            if moment is not None and now - since.get(moment[0], now) > moment[1]:
                process.send_signal(signal.SIGKILL)
                self.kills[list(phases)[-1] if phases else "read"] += 1
                _, status, usage = os.wait4(process.pid, 0)
                break
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu += usage.ru_utime + usage.ru_stime
        if process.returncode != -signal.SIGKILL:
            self.code = process.returncode
            # Seconds of reading and of writing, of an undisturbed start.
            end = time.monotonic()
            middle = phases.get("write", end)
            self.phases = {"read": middle - begun, "write": end - middle}

    def look(self, pid):
        """Note the peak memory; rusage has that of the process that forked as well."""
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        self.peak = max(self.peak, int(found[1]) if found else 0)

    def phase(self):
        return re.findall(r'"phase":"(\w+)"', self.log.read_text(errors="replace"))


def content(path):
    """Return purchases and subscriptions of a ledger by their keys."""
    base = sqlite3.connect(path)
    purchases = base.execute("SELECT purchase_key, state, owner FROM assay_purchase").fetchall()
    subscriptions = base.execute("SELECT environment || '/' || original_transaction_id, owner"
                                 " FROM assay_subscription").fetchall()
    base.close()
    return purchases, subscriptions


def check(stage, suite, what, name, truth, ledger):
    """Compare a run with its truth."""
    report = stage.report(name)
    suite.expect(report["state"] == "done" and report["rows"]["read"] == truth.rows["read"]
                 and all(report["rows"][k] == v for k, v in truth.rows.items()), f"{what}: rows",
                 f"{report['rows']} {dict(truth.rows)}")
    for part in ("evidence", "purchases", "subscriptions", "files"):
        wanted = getattr(truth, part)
        found = {k: report[part].get(k) for k in wanted}
        suite.expect(found == dict(wanted), f"{what}: {part}", f"{found} {dict(wanted)}")
    purchases, subscriptions = content(ledger)
    suite.expect(len(purchases) == len(truth.ledger)
                 and {key: (state, owner) for key, state, owner in purchases} == truth.ledger,
                 f"{what}: purchases of the ledger", f"{len(purchases)} {len(truth.ledger)}")
    suite.expect(len(subscriptions) == len(truth.lines) and dict(subscriptions) == truth.lines,
                 f"{what}: subscriptions of the ledger",
                 f"{len(subscriptions)} {len(truth.lines)}")


def check_twice(stage, suite, rows, options, moments):
    """Migrate the rows, and again; return the seconds of the first run."""
    begun = time.monotonic()
    path = stage.folder / "rows.ndjson"
    truth = mint(stage, path, rows, options.seed)
    read = truth.rows["read"]
    print(f"{read:,} rows, {path.stat().st_size / 1e6:,.0f} MB, "
          f"{truth.purchases['distinct']:,} purchases, minted in "
          f"{time.monotonic() - begun:.0f} s", flush=True)
    ledger, bound = stage.ledger(), BOUND + JOB * options.jobs
    words = ("--ledger", f"sqlite:{ledger}", "--jobs", options.jobs)
    killed = collections.Counter()
    for at, name in enumerate((f"first{rows}", f"again{rows}")):
        done = Migration(stage, name, words, moments[at](killed))
        killed.update(done.kills)
        what = f"{read} rows, run {at + 1}"
        suite.expect(done.code == 1, f"{what}: ends", done.log.read_text()[-400:])
        suite.expect(done.peak <= bound, f"{what}: memory", f"{done.peak} KiB, not {bound}")
        if at == 0:
            seconds = done.seconds
            check(stage, suite, what, name, truth, ledger)
            before = content(ledger)
        else:
            report = stage.report(name)
            suite.expect(report["store"]["changed"] == 0 and content(ledger) == before,
                         f"{what}: changes nothing", str(report["store"]))
            suite.expect(report["purchases"]["granted"] == 0
                         and report["purchases"]["present"] == truth.purchases["granted"],
                         f"{what}: all are present", str(report["purchases"]))
        print(f"  run {at + 1}: {done.seconds:,.0f} s, {done.cpu:,.0f} s of processor, "
              f"{read / done.cpu:,.0f} rows a second and core, peak {done.peak / 1024:.1f} MiB of "
              f"{bound // 1024}, work folder {done.work / truth.purchases['distinct']:,.0f} bytes a "
              f"purchase, killed {dict(done.kills)}", flush=True)
    path.unlink()
    return seconds, killed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_args()
    suite, chance = Suite("migrate-load"), random.Random(options.seed)
    options.folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="migrate-load-", dir=options.folder) as folder:
        stage = Stage(suite, options.binary, folder)
        never = [lambda killed: ()] * 2
        seconds, _ = check_twice(stage, suite, FEW, options, never)
        if options.rows > FEW:
            mean = seconds * options.rows / FEW / max(1, options.kills)

            def moments(killed, most):
                for _ in range(most - sum(killed.values())):
                    # Half of the kills while it writes, which comes last.
                    yield chance.choice(["read", "write"]), chance.uniform(0, 2 * mean)

            half = options.kills // 2
            _, killed = check_twice(stage, suite, options.rows, options, [
                lambda killed: moments(killed, options.kills - half),
                lambda killed: moments(killed, options.kills)])
            print(f"killed {dict(killed)}")
    suite.finish()


if __name__ == "__main__":
    main()
