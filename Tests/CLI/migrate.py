#!/usr/bin/env python3
"""Test `assay migrate`: worlds of rows against an oracle that knows only their truth.

  migrate.py BINARY [--seeds N] [--rows N] [--kills N]
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/Gates"), str(ROOT / "Tests/CLI")]
import migrate_world as worlds  # noqa: E402
from cli import Command  # noqa: E402
from migrate_oracle import Oracle  # noqa: E402
from report import Suite  # noqa: E402

import assay as binding  # noqa: E402
from assay.ledger import Ledger  # noqa: E402

FILES = ("owed", "conflicts", "takeback", "ask", "reject")
OUTCOMES = ("conflict", "unknownProduct", "excluded", "ownerless", "present", "pending", "stale",
            "granted", "owed", "revoked", "expired", "live")


class Stage:
    """A folder with an authority, a foreign one, a configuration, and ledgers of SQLite."""

    def __init__(self, suite, binary, folder):
        self.suite, self.assay = suite, Command(binary, folder)
        self.folder = pathlib.Path(folder)
        self.mint = worlds.Mint(self.assay)
        self.foreign = worlds.Mint(self.assay, "foreign")
        config = self.mint.config | {"ledger": {"engine": "sqlite"}}
        self.config = config
        (self.folder / "config.json").write_text(json.dumps(config))
        self.made = 0

    def ledger(self):
        """Return the path of a new ledger."""
        self.made += 1
        path = self.folder / f"ledger{self.made}.db"
        with Ledger(f"sqlite:///{path}", self.config) as ledger:
            ledger.create_schema()
        return path

    def world(self, seed, count, receipts=3):
        made = []
        for at in range(receipts):
            first = 690_000_000_000_000 + seed * 1000 + at * 100
            periods = [1, 3, 12][at % 3]
            text = self.mint.run(
                "app-receipt", "--environment", "Production", "--purchases", periods,
                "--transaction-id", first, "--original-transaction-id", first)
            group = worlds.Group("Production", str(first))
            bought = worlds.NOW - 10 * worlds.DAY
            for back in range(periods):
                start = bought - back * worlds.MONTH
                group.purchases.append(worlds.Purchase(
                    str(first - back), worlds.MONTHLY, start, expires=start + worlds.MONTH,
                    web_order=str(2000000090000001 - back)))
            made.append((text, group))
        return worlds.World(self.mint, self.foreign, seed, count, made)

    def arguments(self, name, *words, rows="rows.ndjson"):
        return [self.assay.binary, "migrate", rows, "--config", "config.json", "--now",
                str(worlds.NOW), "--run", name, "--report", f"report-{name}", *map(str, words)]

    def migrate(self, name, *words, rows="rows.ndjson", stdin=b""):
        """Run a migration; return its code, its report and its messages."""
        done = subprocess.run(self.arguments(name, *words, rows=rows), cwd=self.folder, input=stdin,
                              capture_output=True, timeout=600, check=False)
        return done.returncode, self.report(name), done.stderr.decode()

    def report(self, name):
        path = self.folder / f"report-{name}" / "report.json"
        return json.loads(path.read_text()) if path.exists() else None

    def lines(self, name, file):
        path = self.folder / f"report-{name}" / f"{file}.ndjson"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def outcome(self, name):
        """Everything that a run left, but for its time."""
        folder = self.folder / f"report-{name}"
        found = {file: (folder / f"{file}.ndjson").read_bytes() for file in FILES}
        report = self.report(name)
        return found, {k: v for k, v in report.items() if k not in ("seconds", "run")}


def tables(path, without=()):
    """Return the rows of a ledger, sorted, without some columns."""
    base = sqlite3.connect(path)
    found = {}
    for table in ("assay_purchase", "assay_purchase_key", "assay_subscription"):
        cursor = base.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        found[table] = sorted(
            (tuple((n, v) for n, v in zip(names, row, strict=True) if n not in without)
             for row in cursor), key=repr)
    base.close()
    return found


def check_against(stage, what, name, oracle, ledger):
    """Compare a finished run with its oracle."""
    suite, report = stage.suite, stage.report(name)
    world = oracle.world
    suite.expect(report["rows"] == world.counts, f"{what}: rows",
                 f"{report['rows']} {world.counts}")
    evidence = {k: v for k, v in report["evidence"].items() if k != "texts"}
    wanted = {k: v for k, v in oracle.evidence.items() if k != "texts"}
    suite.expect(evidence == wanted, f"{what}: evidence", f"{evidence} {wanted}")
    found = {k: report["purchases"][k] for k in ("distinct", *OUTCOMES)}
    wanted = {k: oracle.purchases[k] for k in found}
    suite.expect(found == wanted, f"{what}: purchases", f"{found} {wanted}")
    found = {k: report["subscriptions"][k] for k in ("distinct", "live", "conflict")}
    wanted = {k: oracle.subscriptions[k] for k in found}
    suite.expect(found == wanted, f"{what}: subscriptions", f"{found} {wanted}")
    found = {line["purchaseKey"]: line["account"] for line in stage.lines(name, "owed")}
    suite.expect(found == oracle.owed, f"{what}: owed", differ(found, oracle.owed))
    found = {line["key"]: "settled" if line["settled"] else line["kind"]
             for line in stage.lines(name, "conflicts")}
    suite.expect(found == oracle.conflicts, f"{what}: conflicts", differ(found, oracle.conflicts))
    found = {line["purchaseKey"]: (line["account"], line["percentage"])
             for line in stage.lines(name, "takeback")}
    suite.expect(found == oracle.takeback, f"{what}: takeback", differ(found, oracle.takeback))
    found = {f"{line['environment']}/{line['originalTransactionId']}": line["reason"]
             for line in stage.lines(name, "ask")}
    suite.expect(found == oracle.ask, f"{what}: ask", differ(found, oracle.ask))
    for file in FILES:
        lines = stage.lines(name, file)
        suite.expect(len(lines) == report["files"][file], f"{what}: lines of {file}")
    if ledger:
        rows = tables(ledger)
        found = {dict(row)["purchase_key"]: (dict(row)["state"], dict(row)["owner"])
                 for row in rows["assay_purchase"]}
        suite.expect(found == oracle.ledger, f"{what}: purchases of the ledger",
                     differ(found, oracle.ledger))
        found = {f"{dict(r)['environment']}/{dict(r)['original_transaction_id']}": dict(r)["owner"]
                 for r in rows["assay_subscription"]}
        suite.expect(found == oracle.lines, f"{what}: subscriptions of the ledger",
                     differ(found, oracle.lines))


def differ(found, wanted):
    return str([(k, found.get(k), wanted.get(k)) for k in sorted({*found, *wanted})
                if found.get(k) != wanted.get(k)][:6])


def check_oracle(stage, seeds, count):
    """MIG-60, MIG-62: the oracle, and the same result for other orders of rows and jobs."""
    suite = stage.suite
    for seed in range(1, seeds + 1):
        world = stage.world(seed, count)
        (stage.folder / "rows.ndjson").write_bytes(world.write(seed))
        ledger, name = stage.ledger(), f"o{seed}"
        code, report, err = stage.migrate(name, "--ledger", f"sqlite:{ledger}")
        if not suite.expect(code == 1 and report["state"] == "done", f"seed {seed} ends", err):
            continue
        check_against(stage, f"seed {seed}", name, Oracle(world), ledger)
        if seed > 2:
            continue
        for order, jobs in ((seed + 100, 1), (seed + 200, 3)):
            (stage.folder / "rows.ndjson").write_bytes(world.write(order))
            other, again = stage.ledger(), f"s{order}"
            code, report, err = stage.migrate(
                again, "--ledger", f"sqlite:{other}", "--jobs", jobs, "--batch", 7)
            suite.expect(code == 1, f"order {order} ends", err)
            without = ("note", "attempt_id")
            suite.expect(tables(other, without) == tables(ledger, without),
                         f"order {order}: the same ledger")
            one, two = stage.report(name), stage.report(again)
            same = ("rows", "evidence", "purchases", "subscriptions", "ask", "files")
            suite.expect({k: one[k] for k in same} == {k: two[k] for k in same},
                         f"order {order}: the same counts")
        before = tables(ledger)
        code, report, err = stage.migrate(f"again{seed}", "--ledger", f"sqlite:{ledger}")
        suite.expect(report["store"]["changed"] == 0 and tables(ledger) == before,
                     f"seed {seed}: a second run writes nothing", f"{report['store']} {err}")
        suite.expect(report["purchases"]["granted"] == 0
                     and report["purchases"]["present"] == one["purchases"]["granted"],
                     f"seed {seed}: a second run finds all present", str(report["purchases"]))


def check_dry(stage):
    """MIG-37: a dry run says what the real one would."""
    suite, world = stage.suite, stage.world(50, 150)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    code, report, err = stage.migrate("dry", "--dry-run")
    suite.expect(code == 1, "a dry run without ledger ends", err)
    check_against(stage, "dry run", "dry", Oracle(world), None)
    ledger = stage.ledger()
    before = tables(ledger)
    code, report, err = stage.migrate("dryled", "--dry-run", "--ledger", f"sqlite:{ledger}")
    suite.expect(code == 1 and tables(ledger) == before, "a dry run writes nothing", err)
    check_against(stage, "dry run with a ledger", "dryled", Oracle(world), None)
    names = sqlite3.connect(ledger).execute(
        "SELECT name FROM sqlite_master WHERE name = 'assay_migration'").fetchall()
    suite.expect(names == [], "a dry run makes no table", str(names))
    code, report, err = stage.migrate("early", "--dry-run", "--conflict", "earliest")
    check_against(stage, "--conflict earliest", "early", Oracle(world, "earliest"), None)


def check_kills(stage, kills):
    """MIG-61: killed at any moment and started again, the result is that of an undisturbed run."""
    suite, world = stage.suite, stage.world(60, 250)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    calm = stage.ledger()
    begun = time.monotonic()
    code, _, err = stage.migrate("calm", "--ledger", f"sqlite:{calm}", "--batch", 5, "--owed",
                                 "claim")
    length = time.monotonic() - begun
    suite.expect(code == 1, "the undisturbed run ends", err)
    chance = random.Random(7)
    killed = collections.Counter()
    rounds = 0
    while sum(killed.values()) < kills and rounds < kills * 3:
        rounds += 1
        ledger, name = stage.ledger(), f"k{rounds}"
        for _ in range(40):
            process = subprocess.Popen(
                stage.arguments(name, "--ledger", f"sqlite:{ledger}", "--batch", 5, "--owed",
                                "claim"),
                cwd=stage.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            try:
                process.wait(chance.uniform(0, length))
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                process.wait(30)
            if process.returncode in (0, 1):
                break
            killed[number] += 1
            if process.returncode not in (-number, 130):
                suite.expect(False, f"killed run {name}", str(process.returncode))
        code, _, err = stage.migrate(name, "--ledger", f"sqlite:{ledger}", "--batch", 5, "--owed",
                                     "claim")
        suite.expect(code == 1, f"killed run {name} ends", err)
        without = ("note", "attempt_id")
        suite.expect(tables(ledger, without) == tables(calm, without),
                     f"killed run {name}: the same ledger")
        suite.expect(stage.outcome(name) == stage.outcome("calm"),
                     f"killed run {name}: the same report")
        for path in (ledger, *stage.folder.glob(f"{ledger.name}-*")):
            path.unlink()
    print(f"killed {dict(killed)} in {rounds} runs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--suite", default="migrate")
    options = parser.parse_args()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory(prefix="assay-migrate-") as folder:
        stage = Stage(suite, options.binary.resolve(), folder)
        check_oracle(stage, options.seeds, options.rows)
        check_dry(stage)
        check_kills(stage, options.kills)
    suite.finish()


if __name__ == "__main__":
    main()
