#!/usr/bin/env python3
"""Test `assay migrate`: worlds of rows against an oracle that knows only their truth.

  migrate.py BINARY [--seeds N] [--rows N] [--kills N]
"""
import argparse
import collections
import contextlib
import fcntl
import json
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/Gates"), str(ROOT / "Tests/CLI")]
import assay as binding
import migrate_ask
import migrate_out
import migrate_world as worlds
from assay.ledger import Ledger
from cli import Command, heeds
from migrate_oracle import Oracle
from report import Suite

FILES = ("owed", "conflicts", "takeback", "ask", "reject")
OUTCOMES = ("conflict", "unknownProduct", "excluded", "ownerless", "present", "pending", "stale",
            "granted", "owed", "revoked", "expired", "live")


class Stage:
    """A folder with an authority, a foreign one, a configuration, and ledgers of SQLite."""

    def __init__(self, suite, binary, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.suite, self.assay = suite, Command(binary.resolve(), self.folder)
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
        with contextlib.closing(Ledger(f"sqlite:///{path}", self.config)) as ledger:
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
        found = {path.name: path.read_bytes() for path in sorted(folder.glob("*.ndjson"))}
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
    code, _, err = stage.migrate("dry", "--dry-run")
    suite.expect(code == 1, "a dry run without ledger ends", err)
    check_against(stage, "dry run", "dry", Oracle(world), None)
    ledger = stage.ledger()
    before = tables(ledger)
    code, _, err = stage.migrate("dryled", "--dry-run", "--ledger", f"sqlite:{ledger}")
    suite.expect(code == 1 and tables(ledger) == before, "a dry run writes nothing", err)
    check_against(stage, "dry run with a ledger", "dryled", Oracle(world), None)
    names = sqlite3.connect(ledger).execute(
        "SELECT name FROM sqlite_master WHERE name = 'assay_migration'").fetchall()
    suite.expect(names == [], "a dry run makes no table", str(names))
    code, _, err = stage.migrate("early", "--dry-run", "--conflict", "earliest")
    suite.expect(code == 1, "--conflict earliest ends", err)
    check_against(stage, "--conflict earliest", "early", Oracle(world, "earliest"), None)


def check_stop(stage):
    """MIG-35: SIGINT, SIGTERM and SIGHUP end a run after the batch in hand; started again, its
    result is that of an undisturbed run."""
    suite, world = stage.suite, stage.world(61, 400)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    calm, without = stage.ledger(), ("note", "attempt_id")
    code, _, err = stage.migrate("unstopped", "--ledger", f"sqlite:{calm}", "--batch", 1)
    suite.expect(code == 1, "MIG-35: the undisturbed run ends", err)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name, ledger = f"stop{number.name}", stage.ledger()
        words = ("--ledger", f"sqlite:{ledger}", "--batch", 1)
        process = subprocess.Popen(
            stage.arguments(name, *words), cwd=stage.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, preexec_fn=heeds(number))
        while process.poll() is None and not (stage.folder / f"report-{name}/owed.ndjson").exists():
            time.sleep(0.002)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        suite.expect(process.returncode == 130 and b"goes on" in err, f"MIG-35: {number.name}",
                     f"{process.returncode} {err}")
        suite.expect(stage.report(name)["state"] == "running",
                     f"MIG-35: a run that {number.name} stopped is not done")
        code, report, err = stage.migrate(name, *words)
        suite.expect(code == 1 and report["state"] == "done",
                     f"MIG-34: goes on after {number.name}", err)
        check_against(stage, f"after {number.name}", name, Oracle(world), ledger)
        suite.expect(tables(ledger, without) == tables(calm, without),
                     f"MIG-35: the same ledger after {number.name}")
        suite.expect(stage.outcome(name) == stage.outcome("unstopped"),
                     f"MIG-35: the same report after {number.name}")
        code, again, err = stage.migrate(name, *words)
        suite.expect(code == 1 and again == report and "is over" in err,
                     "MIG-34: a run that is over does nothing", err)


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
                cwd=stage.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            try:
                process.wait(chance.uniform(0, length))
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                process.wait(30)
            err = process.stderr.read().decode()
            process.stderr.close()
            if process.returncode in (0, 1):
                break
            killed[number] += 1
            if process.returncode not in (-number, 130):
                suite.expect(False, f"killed run {name}", f"{process.returncode} {err}")
                break
        code, _, err = stage.migrate(name, "--ledger", f"sqlite:{ledger}", "--batch", 5, "--owed",
                                     "claim")
        suite.expect(code == 1, f"killed run {name} ends", err)
        without = ("note", "attempt_id")
        suite.expect(tables(ledger, without) == tables(calm, without),
                     f"killed run {name}: the same ledger")
        suite.expect(stage.outcome(name) == stage.outcome("calm"),
                     f"killed run {name}: the same report")
        left = [sorted(path.name for path in (stage.folder / f"report-{each}").rglob("*"))
                for each in (name, "calm")]
        suite.expect(left[0] == left[1], f"killed run {name}: nothing is left", str(left))
        for path in (ledger, *stage.folder.glob(f"{ledger.name}-*")):
            path.unlink()
    print(f"killed {dict(killed)} in {rounds} runs")


def check_rows(stage):
    """MIG-1, MIG-4, MIG-10, MIG-11: how rows are written, and what is not one."""
    suite, mint = stage.suite, stage.mint
    world = worlds.World(mint, stage.foreign, 70, 0)
    group, purchase = world.single(worlds.COINS)
    group.environment = "Production"
    text = mint.jws(world.payload(group, purchase))
    good = world.row(account="u1", evidence=text, granted=True)
    long = b'{"account":"u1","evidence":"' + b"A" * (5 << 20) + b'"}\n'
    rows = stage.folder / "rows.ndjson"
    cases = [
        ("a byte order mark", b"\xef\xbb\xbf" + good, 0, {"good": 1}),
        ("a mark in the middle", good + b"\xef\xbb\xbf" + good, 1, {"good": 1, "rejected": 1}),
        ("no line end at the end", good[:-1], 0, {"good": 1}),
        ("an empty file", b"", 0, {}),
        ("a line of 5 MiB", good + long + good, 1, {"good": 2, "rejected": 1}),
        ("5 MiB without line end", good + long[:-1], 1, {"good": 1, "rejected": 1}),
        ("a member that nobody knows", world.row(account="u1", evidence=text, granted=True, shoe=9),
         0, {"good": 1}),
        ("a member in other letters", world.row(Account="u1", evidence=text, granted=True), 1,
         {"rejected": 1}),
        ("an object around evidence",
         world.row(account="u1", evidence={"signedTransactionInfo": text}, granted=True), 0,
         {"good": 1}),
        ("a list of evidence", world.row(account="u1", evidences=[text, text], granted=True), 0,
         {"good": 1}),
        ("an answer around a receipt",
         world.row(account="u1", evidence={"status": 0, "latest_receipt": text}, granted=True), 0,
         {"good": 1}),
    ]
    for at, (what, content, code, counts) in enumerate(cases):
        rows.write_bytes(content)
        found, report, err = stage.migrate(f"r{at}", "--dry-run")
        read = {k: v for k, v in report["rows"].items() if v and k != "read"}
        suite.expect(found == code and read == counts, f"MIG-10: {what}", f"{found} {read} {err}")
    lines = stage.lines("r4", "reject")
    suite.expect([(line["line"], line["status"]) for line in lines]
                 == [(2, "too-large.migrate.row")], "MIG-4: the line that is too long", str(lines))
    suite.expect(stage.report("r6")["unknownMembers"] == {"shoe": 1}, "MIG-11: a name is counted")
    line = stage.lines("r7", "reject")[0]
    suite.expect(line["at"] == "Account" and line["status"] == "malformed.migrate.row",
                 "MIG-11: a typing error", str(line))
    rows.write_bytes(good)
    code, report, err = stage.migrate("stdin", "--dry-run", rows="-", stdin=good + good)
    suite.expect(code == 0 and report["rows"]["good"] == 2, "MIG-1: standard input", err)
    for file in FILES:
        mode = (stage.folder / f"report-r4/{file}.ndjson").stat().st_mode & 0o777
        suite.expect(mode == 0o600, f"MIG-41: the mode of {file}", oct(mode))
    old = mint.jws(world.payload(group, purchase, as_of=purchase.bought + 5))
    config = stage.config | {"storekit": stage.config["storekit"]
                             | {"maxAgeMs": {"transaction": 1}}}
    (stage.folder / "strict.json").write_text(json.dumps(config))
    rows.write_bytes(world.row(account="u1", evidence=old, granted=True))
    code, report, err = stage.migrate("age", "--dry-run", "--config", "strict.json")
    suite.expect(code == 2, "MIG-20: an option given twice", err)
    words = stage.arguments("age", "--dry-run")
    words[words.index("config.json")] = "strict.json"
    done = subprocess.run(words, cwd=stage.folder, capture_output=True, check=False)
    suite.expect(done.returncode == 0, "MIG-20: age is normal", done.stderr.decode())


def check_refusals(stage):
    """MIG-2, 3, 12, 14, 34, 46: what ends a run, and the code."""
    suite, mint = stage.suite, stage.mint
    world = worlds.World(mint, stage.foreign, 71, 0)
    group, purchase = world.single(worlds.COINS)
    text = mint.jws(world.payload(group, purchase))
    rows = stage.folder / "rows.ndjson"
    rows.write_bytes(world.row(account="u1", evidence=text))
    (stage.folder / "empty.db").write_bytes(b"")
    (stage.folder / "table.csv").write_text("user,blob\nu1,x\n")
    cases = [
        ("nothing says whether it was delivered", ["--dry-run"], 2, "misuse.migrate.assume"),
        ("no ledger", [], 2, "--ledger is missing"),
        ("a URL that is none", ["--ledger", "oracle://x"], 2, "misuse.migrate.url"),
        ("a password in the URL", ["--ledger", "postgresql://u:secret@h/d"], 2,
         "misuse.migrate.url"),
        ("a password of a user with @", ["--ledger", "postgresql://u@s:secret@h/d"], 2,
         "misuse.migrate.url"),
        ("a password with a slash", ["--ledger", "postgresql://u:secret/x@h/d"], 2,
         "misuse.migrate.url"),
        ("a password with ?", ["--ledger", "postgresql://u:secret?x@h/d"], 2,
         "misuse.migrate.url"),
        ("a password beside the URL", ["--ledger", "postgresql://u@h/d?password=secret"], 2,
         "misuse.migrate.url"),
        ("a password of its key", ["--ledger", "postgresql://u@h/d?a=b&sslpassword=secret"], 2,
         "misuse.migrate.url"),
        ("a password in the other URL", ["--ledger", "mysql://u:secret@h/d"], 2,
         "misuse.migrate.url"),
        ("a file that is missing", ["--ledger", "sqlite:none.db"], 2, "misuse.migrate.url"),
        ("a file without tables", ["--ledger", "sqlite:empty.db"], 2, "config.ledger.schema"),
        ("an export that nobody knows", ["--dry-run", "--format", "qonversion"], 2,
         "unsupported.migrate.format"),
        ("a column that is missing", ["--dry-run", "--format", "revenuecat"], 2,
         "malformed.migrate.column"),
        ("a member that no row has",
         ["--dry-run", "--format", "columns", "--columns", "colour=x"], 2,
         "malformed.migrate.column"),
        ("columns without their map", ["--dry-run", "--format", "columns"], 2, "--columns"),
        ("a file beside a ledger", ["--ledger", "sqlite:empty.db", "--out", "lines"], 2,
         "--out takes the place"),
        ("a file in a dry run", ["--dry-run", "--out", "lines"], 2, "--out takes the place"),
        ("too many jobs", ["--dry-run", "--jobs", "257"], 2, "give 1 to 256"),
        ("a word that no option has", ["--dry-run", "--owed", "all"], 2, "there are list, claim"),
    ]
    for at, (what, words, code, message) in enumerate(cases):
        found, _, err = stage.migrate(f"x{at}", *words)
        suite.expect(found == code and message in err and "secret" not in err, f"MIG-46: {what}",
                     f"{found} {err}")
    found, _, err = stage.migrate("same", "--dry-run", "--assume", "owed")
    suite.expect(found == 0, "a run", err)
    rows.write_bytes(world.row(account="u2", evidence=text))
    found, _, err = stage.migrate("same", "--dry-run", "--assume", "owed")
    suite.expect(found == 2 and "misuse.migrate.run" in err and "input" in err,
                 "MIG-34: other input under the same name", err)
    found, _, err = stage.migrate("same", "--dry-run", "--assume", "granted")
    suite.expect(found == 2 and "misuse.migrate.run" in err, "MIG-34: other options", err)
    rows.write_bytes(b"nonsense\n" * 50)
    found, _, err = stage.migrate("many", "--dry-run", "--max-rejects", 10)
    suite.expect(found == 1 and "rejected.migrate.rows" in err, "MIG-4: too many rejects", err)
    report = stage.report("many")
    suite.expect(report["state"] == "running", "MIG-40: such a run is not done", str(report))
    work = stage.folder / "report-busy/work"
    work.mkdir(parents=True)
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found, _, err = stage.migrate("busy", "--dry-run")
        suite.expect(found == 3 and "unavailable.migrate.running" in err, "MIG-34: two at once", err)


def check_tables(stage):
    """MIG-14, MIG-63: rows of a CSV, and the exports of services."""
    suite, mint = stage.suite, stage.mint
    world = worlds.World(mint, stage.foreign, 72, 0)
    made = [world.single(worlds.COINS) for _ in range(3)]
    for group, _ in made:
        group.environment = "Production"
    texts = [mint.jws(world.payload(*each)) for each in made]
    table = stage.folder / "table.csv"
    for at, (mark, name) in enumerate(((",", "comma"), (";", "semicolon"), ("\t", "tab"))):
        lines = [["user id", "note", "blob", "at", "done"],
                 ["u1", '"a ""quoted""\r\nline"', texts[0], "2026-01-31 12:00:00.250", "t"],
                 ["u2", f'"with {mark} in it"', f'"{texts[1]}"', "1769860800", "0"],
                 ["", "", texts[2], "", "1"], ["u4", "short"]]
        table.write_text("\ufeff" + "\r\n".join(mark.join(each) for each in lines))
        code, report, err = stage.migrate(
            f"t{at}", "--dry-run", "--format", "columns", "--separator", name, "--columns",
            "account=user id,evidence=blob,receivedAtMs=at,granted=done", rows="table.csv")
        counts = {k: v for k, v in report["rows"].items() if v}
        suite.expect(code == 1 and counts == {"read": 4, "good": 3, "rejected": 1},
                     f"MIG-14: a table with {name}", f"{code} {counts} {err}")
        reject = stage.lines(f"t{at}", "reject")
        suite.expect([(line["line"], line["at"]) for line in reject] == [(6, "csv")],
                     "MIG-41: the line in which a record begins", str(reject))
        found = {k: report["purchases"][k] for k in ("owed", "ownerless", "granted")}
        suite.expect(found == {"owed": 1, "ownerless": 1, "granted": 1} or
                     found == {"owed": 2, "ownerless": 1, "granted": 0},
                     f"MIG-12: booleans of a table with {name}", str(found))
    for version, true, false in ((3, "t", "f"), (7, "true", "false")):
        header = ("rc_original_app_user_id,rc_last_seen_app_user_id_alias,country,product_identifier,"
                  "start_time,end_time,store,is_auto_renewable,is_trial_period,is_sandbox,"
                  "refunded_at,unsubscribe_detected_at,store_transaction_id,"
                  "original_store_transaction_id,effective_end_time,updated_at")
        anonymous = "$RCAnonymousID:0123"
        lines = [
            (f"u1,u1,DE,x,2026-01-01 00:00:00,2026-02-01 00:00:00,app_store,{true},{false},{false},,,"
             "7001,7000,2026-02-01 00:00:00,2026-01-01 00:00:00"),
            (f"{anonymous},u2,DE,x,2026-01-01,,app_store,{true},{false},{true},2026-01-05 00:00:00,,"
             "8001,8000,,2026-01-01"),
            (f"{anonymous},{anonymous},DE,x,2026-01-01,,mac_app_store,{true},{false},{false},,,9001,"
             "9000,,2026-01-01"),
            f"u4,u4,DE,x,2026-01-01,,play_store,{true},{false},{false},,,GPA.1,GPA.1,,2026-01-01",
            f"u5,u5,DE,x,2026-01-01,,promotional,{true},{false},{false},,,p1,p1,,2026-01-01"]
        table.write_text("\n".join([header, *lines]) + "\n")
        code, report, err = stage.migrate(f"rc{version}", "--dry-run", "--format", "revenuecat",
                                          rows="table.csv")
        suite.expect(code == 0 and report["skippedStores"] == {"play_store": 1, "promotional": 1}
                     and report["rows"]["hearsay"] == 3, f"MIG-63: RevenueCat {version}",
                     f"{code} {err} {report['rows']}")
        asked = [(line["environment"], line["originalTransactionId"], line["account"])
                 for line in stage.lines(f"rc{version}", "ask")]
        suite.expect(asked == [("Production", "7000", "u1"), ("Production", "9000", None),
                               ("Sandbox", "8000", "u2")], f"MIG-22: whom to ask {version}",
                     str(asked))
    table.write_text(
        "profile_id,customer_user_id,event_type,event_datetime,store,environment,"
        "original_transaction_id,transaction_id,subscription_expires_at,vendor_product_id\n"
        "p1,u1,subscription_renewed,2024-11-15T10:45:36.181000+0000,app_store,Production,7000,7001,"
        "2024-12-15T10:45:36.181000+0000,x\n"
        "p2,,subscription_refunded,2024-11-15T10:45:36Z,app_store,Sandbox,8000,8001,,x\n"
        "p3,u3,x,2024-11-15T10:45:36Z,play_store,Production,1,1,,x\n")
    code, report, err = stage.migrate("adapty", "--dry-run", "--format", "adapty", rows="table.csv")
    suite.expect(code == 0 and report["rows"]["hearsay"] == 2 and report["rows"]["skipped"] == 1
                 and report["ask"] == {"hearsay": 2}, "MIG-63: Adapty", f"{err} {report['rows']}")


def check_by_hand(stage):
    """MIG-30: the rows are those that claim and complete leave."""
    suite = stage.suite
    world = stage.world(80, 80, receipts=0)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    one, two = stage.ledger(), stage.ledger()
    code, _, err = stage.migrate("hand", "--ledger", f"sqlite:{one}")
    suite.expect(code == 1, "a run", err)
    oracle = Oracle(world)
    owners = {key: owner for key, (state, owner) in oracle.ledger.items() if state == "granted"}
    seen = set()
    with contextlib.closing(Ledger(f"sqlite:///{two}", stage.config)) as ledger:
        for text, is_good in world.texts:
            if not is_good or text in seen:
                continue
            seen.add(text)
            try:
                found = ledger.verifier.verify_transaction(text, now=worlds.NOW)
            except binding.AssayError:
                continue
            key = found.keys.purchase
            # Of a purchase that was restored, the row has the ids of the text that came first.
            if key in owners and found.product_id == worlds.COINS and not found.revocation_date:
                ledger.claim(found, owners[key], grant=lambda grant: None, now=worlds.NOW)
    without = ("note", "attempt_id", "evidence", "as_of_ms", "lease_expires_at_ms", "repeats")
    found, wanted = ([row for row in tables(path, without)["assay_purchase"]
                      if dict(row)["state"] == "granted"
                      and dict(row)["product"] == worlds.COINS] for path in (one, two))
    suite.expect(found == wanted and len(found) > 10, "MIG-30: the rows of claim and complete",
                 f"{len(found)} {len(wanted)} {[x for x in zip(found, wanted) if x[0] != x[1]][:1]}")


def check_live(stage):
    """MIG-36: a shop that claims the same purchases meanwhile grants each once."""
    suite = stage.suite
    world = stage.world(90, 400, receipts=0)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    path, granted = stage.ledger(), collections.Counter()
    owners = {}
    for group in world.groups:
        for purchase in group.purchases:
            named = {account for account, *_ in purchase.rows if account}
            if purchase.product == worlds.COINS and len(named) == 1 and not purchase.revoked:
                owners[Oracle.key(group, purchase)] = named.pop()
    texts = [text for text, is_good in dict.fromkeys(world.texts) if is_good]
    random.Random(3).shuffle(texts)
    with contextlib.closing(Ledger(f"sqlite:///{path}", stage.config)) as ledger:
        process = subprocess.Popen(
            stage.arguments("live", "--ledger", f"sqlite:{path}", "--batch", 20, "--owed", "claim"),
            cwd=stage.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for text in texts:
            try:
                found = ledger.verifier.verify_transaction(text, now=worlds.NOW)
            except binding.AssayError:
                continue
            owner = owners.get(found.keys.purchase)
            if owner and not found.revocation_date:
                ledger.claim(found, owner, grant=lambda grant: granted.update([grant.purchase_key]),
                             now=worlds.NOW)
        _, err = process.communicate(timeout=120)
    suite.expect(process.returncode == 1, "MIG-36: the migration ends", err.decode())
    report = stage.report("live")
    rows = [dict(row) for row in tables(path)["assay_purchase"]]
    moved = {row["purchase_key"] for row in rows
             if str(row["note"]).startswith("migrate:") and row["state"] == "granted"}
    both = moved & set(granted)
    suite.expect(not both and max(granted.values(), default=1) == 1,
                 "MIG-36: each is granted once", str(sorted(both)[:3]))
    print(f"live: {sum(granted.values())} by the shop, {len(moved)} by the migration, "
          f"{report['purchases']['present']} present, {report['purchases']['pending']} pending")


@contextlib.contextmanager
def cutting(port, word):
    """Yield the port of a way to another, which breaks off where a client has sent this word."""
    listener = socket.create_server(("127.0.0.1", 0))

    def carry(source, sink):
        with contextlib.suppress(OSError):
            while (data := source.recv(65536)) and word not in data:
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=carry, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield listener.getsockname()[1]


def check_reason(stage, url):
    """What PostgreSQL says about a statement that it refuses is shown."""
    import psycopg
    with psycopg.connect(url, autocommit=True) as store:
        store.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                      "$$ BEGIN RAISE EXCEPTION 'refused by a trigger'; END $$")
        store.execute("CREATE TRIGGER refuse BEFORE INSERT ON assay_purchase EXECUTE "
                      "FUNCTION refuse()")
        code, _, err = stage.migrate("trigger", "--ledger", url)
        store.execute("DROP FUNCTION refuse CASCADE")
    stage.suite.expect(code == 3 and "P0001 refused by a trigger" in err,
                       "MIG-35: the server's reason is shown", f"{code} {err}")


def check_engines(stage):
    """MIG-2: PostgreSQL and MariaDB by the machine's client libraries."""
    suite = stage.suite
    sys.path[:0] = [str(ROOT / "Tests/Stores")]
    from engines import scratch
    world = stage.world(95, 200)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    oracle = Oracle(world)
    config = {k: v for k, v in stage.config.items() if k != "ledger"}
    with scratch() as place:
        for name in ("postgres", "mariadb"):
            engine = place.engine(name)
            if engine.missing:
                suite.skip(name, engine.missing)
                continue
            try:
                Ledger(engine.url, config).close()
            except ImportError as missing:
                suite.skip(name, str(missing))
                continue
            engine.start()
            with contextlib.closing(Ledger(engine.url, config)) as ledger:
                ledger.create_schema()
            code, report, err = stage.migrate(f"e{name}", "--ledger", engine.url, "--batch", 40)
            if suite.expect(code == 1, f"MIG-2: {name}", err):
                check_against(stage, name, f"e{name}", oracle, None)
            code, report, err = stage.migrate(f"f{name}", "--ledger", engine.url)
            suite.expect(code == 1 and report["store"]["changed"] == 0
                         and report["purchases"]["present"] == oracle.purchases["granted"],
                         f"MIG-29: a second run on {name}", f"{report and report['purchases']} {err}")
            code, _, err = stage.migrate(f"i{name}", "--ledger", f"{engine.url}_none")
            suite.expect(code == 3 and "unavailable.migrate.store" in err and "_none" in err,
                         f"MIG-35: why {name} was not connected is said", f"{code} {err}")
            if name == "postgres":
                check_reason(stage, engine.url)
            with cutting(engine.port, b"information_schema") as port:
                code, _, err = stage.migrate(
                    f"h{name}", "--ledger", engine.url.replace(f":{engine.port}", f":{port}"))
            suite.expect(code == 3 and "unavailable.migrate.store" in err,
                         f"MIG-35: {name} went away before the schema was read", f"{code} {err}")
            killed = 0
            process = subprocess.Popen(
                stage.arguments(f"g{name}", "--ledger", engine.url, "--batch", 1, "--owed", "claim"),
                cwd=stage.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(0.4)
            engine.kill()
            killed += process.poll() is None
            engine.restart()
            _, err = process.communicate(timeout=120)
            code = process.returncode
            if code == 3:  # killed before the first batch
                code, _, err = stage.migrate(f"g{name}", "--ledger", engine.url, "--batch", 1,
                                             "--owed", "claim")
            suite.expect(code == 1, f"MIG-35: {name} was restarted", str(err))
            found = stage.report(f"g{name}")["purchases"]
            suite.expect(found["owed"] + found["pending"] == oracle.purchases["owed"],
                         f"MIG-35: what is owed on {name}", str(found))
            print(f"{name}: at work when the server was killed: {bool(killed)}")


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
        stage = Stage(suite, options.binary, folder)
        check_oracle(stage, options.seeds, options.rows)
        check_rows(stage)
        check_refusals(stage)
        check_tables(stage)
        check_dry(stage)
        check_by_hand(stage)
        check_live(stage)
        check_engines(stage)
        migrate_ask.check(stage)
        migrate_out.check(stage)
        check_stop(stage)
        check_kills(stage, options.kills)
    suite.finish()


if __name__ == "__main__":
    main()
