"""`assay migrate --out` and the recipe that loads its file into a ledger (MIG-43)."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import migrate_ask
import migrate_world as worlds
import node_tools
from assay.ledger import Ledger
from cli import heeds
from migrate_oracle import Oracle

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples/migrate"
# The program that loads, killed after so many operations; 0: never.
PYTHON = """
import contextlib, itertools, os, pathlib, sys
import load
from assay.ledger import Ledger
path, config, url, kill = sys.argv[1:]
count = itertools.count(1)
run = load.run
def killed(*asked):
    if next(count) == int(kill):
        os._exit(9)
    return run(*asked)
load.run, load.CHUNK = killed, 16
with contextlib.closing(Ledger(url, load.configuration(pathlib.Path(config)))) as ledger:
    print(load.load(pathlib.Path(path), ledger))
"""

NODE = """
import { readFileSync } from "node:fs";
import { Ledger, SQLite } from "assay/ledger";
import { configuration, load } from "./load.mjs";
const [path, config, database] = process.argv.slice(2);
const ledger = new Ledger(new SQLite(database), configuration(readFileSync(config)));
console.log(await load(path, ledger, 16));
"""


def start(stage, path, url, kill=0, command=(sys.executable, "-c", PYTHON)):
    return subprocess.Popen(
        [*map(str, [*command, path, stage.folder / "plain.json", url, kill])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(
            [str(RECIPES), str(ROOT / "bindings/python")]), "PYTHONDONTWRITEBYTECODE": "1"})


def end(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out.strip(), err


def everything(path):
    """Return the rows of all tables but the journal."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        names = [name for name, in base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'assay_%'"
            " AND name <> 'assay_migration' AND name <> 'assay_schema'")]
        return {name: sorted(base.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


def differ(found, wanted):
    return str([(name, [row for row in found[name] if row not in wanted[name]][:2],
                 [row for row in wanted[name] if row not in found[name]][:2])
                for name in wanted if found[name] != wanted[name]])[:1500]


def fresh(stage, path, name):
    """Return a copy of the file, without a place that was reached."""
    folder = stage.folder / name
    folder.mkdir()
    shutil.copy(path, folder)
    return folder / path.name


def check(stage):
    """Fill a ledger by the command, and others by the loader; they are equal."""
    suite, world = stage.suite, stage.world(44, 160, receipts=6)
    (stage.folder / "rows.ndjson").write_bytes(world.write())
    config = {k: v for k, v in stage.config.items() if k != "ledger"}
    (stage.folder / "plain.json").write_text(json.dumps(config))
    for owed, words in (("claim", ["--periods"]), ("list", [])):
        direct, path = stage.ledger(), stage.folder / f"{owed}.ndjson"
        words = [*words, "--owed", owed, "--assume", "granted"]
        code, report, err = stage.migrate(owed, "--ledger", f"sqlite:{direct}", *words)
        shutil.move(stage.folder / f"report-{owed}", stage.folder / f"direct-{owed}")
        code, other, err = stage.migrate(owed, "--out", path, *words)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        suite.expect(code == 1 and other["files"]["out"] == len(lines) > 50
                     and path.stat().st_mode & 0o777 == 0o600, f"MIG-43: --out, {owed}",
                     f"{code} {err} {other['files']} {len(lines)}")
        same = ("rows", "evidence", "purchases", "subscriptions", "ask")
        suite.expect({k: report[k] for k in same} == {k: other[k] for k in same},
                     f"MIG-43: counts of an empty ledger, {owed}", str(other["purchases"]))
        loaded = check_loaded(stage, owed, path, direct, len(lines))
        if owed == "claim":
            check_repeated(stage, path, direct, loaded, len(lines))
            check_stopped(stage, owed, path, words)
    check_node(stage, path, direct, len(lines))
    check_owner(stage, path, lines)
    check_refunds(stage)
    check_dynamo(stage, fresh(stage, path, "dynamo"), Oracle(world))


def check_loaded(stage, name, path, direct, count):
    """Load the file into an empty ledger, and return that."""
    suite, wanted = stage.suite, everything(direct)
    calm, loaded = stage.ledger(), fresh(stage, path, f"{name}-calm")
    code, out, err = end(start(stage, loaded, f"sqlite:///{calm}"))
    suite.expect(code == 0 and out == str(count), f"MIG-43: the file is loaded, {name}",
                 f"{out} {err}")
    suite.expect(everything(calm) == wanted, f"MIG-43: the same ledger, {name}",
                 differ(everything(calm), wanted))
    refused = loaded.with_name(loaded.name + ".refused")
    suite.expect(refused.read_text() == "", f"MIG-43: nothing is refused, {name}",
                 refused.read_text()[:500])
    return calm


def check_repeated(stage, path, direct, loaded, count):
    """Load the file a second time, killed and gone on, and by two loaders at once."""
    suite, wanted = stage.suite, everything(direct)
    code, _, err = end(start(stage, fresh(stage, path, "twice"), f"sqlite:///{loaded}"))
    suite.expect(code == 0 and everything(loaded) == wanted, "MIG-43: loaded twice",
                 err + differ(everything(loaded), wanted))
    ledger, torn = stage.ledger(), fresh(stage, path, "killed")
    code, _, err = end(start(stage, torn, f"sqlite:///{ledger}", kill=40))
    place, = torn.parent.glob("*.loaded-*")
    suite.expect(code == 9 and json.loads(place.read_text())[0] == 32,
                 "MIG-43: the loader is killed", f"{code} {err}")
    code, out, err = end(start(stage, torn, f"sqlite:///{ledger}"))
    suite.expect(code == 0 and out == str(count) and everything(ledger) == wanted,
                 "MIG-43: the loader goes on", err + differ(everything(ledger), wanted))
    ledger, both = stage.ledger(), fresh(stage, path, "both")
    ends = [end(each) for each in [start(stage, both, f"sqlite:///{ledger}") for _ in range(2)]]
    suite.expect([code for code, *_ in ends] == [0, 0] and everything(ledger) == wanted,
                 "MIG-43: two loaders at once",
                 f"{ends} {differ(everything(ledger), wanted)}")


def check_stopped(stage, name, path, words):
    """Fill the disk at several bytes, and end the command while it writes the file; started again,
    it writes the same one."""
    suite, wanted = stage.suite, path.read_bytes()
    path.unlink()
    shutil.move(stage.folder / f"report-{name}", stage.folder / f"out-{name}")
    arguments = stage.arguments(name, "--out", path, *words)
    for room in (0, 600, len(wanted) // 20, len(wanted) // 2, len(wanted) - 1):
        code, err = stage.assay.into(os.devnull, *arguments[1:], room=room)
        suite.expect(code == 3 and "unavailable.migrate.disk" in err and not path.exists(),
                     f"MIG-46: no file has more than {room} bytes", f"{code} {err}")

    def is_begun():
        with contextlib.suppress(FileNotFoundError):
            return any(part.stat().st_size for part in path.parent.glob(f"{path.name}.part-*"))

    def ended_by(number, before=None):
        process = subprocess.Popen(arguments, cwd=stage.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=before)
        while process.poll() is None and not is_begun():
            time.sleep(0.001)
        process.send_signal(number)
        return process.wait(60)

    for number in (signal.SIGHUP, signal.SIGTERM):
        code = ended_by(number, heeds(number))
        left = [each.name for each in path.parent.glob(f"{path.name}*")]
        suite.expect(code == 130 and not left, f"CLI-6: {number.name} leaves no part of --out",
                     f"{code} {left}")
    code = ended_by(signal.SIGKILL)
    suite.expect(code == -signal.SIGKILL and not path.exists(),
                 "MIG-43: a file that is not whole has no name", str(code))
    _, _, err = stage.migrate(name, "--out", path, *words)
    suite.expect(path.read_bytes() == wanted, "MIG-43: the same file after a kill", err)


def check_node(stage, path, direct, count):
    """The recipe in JavaScript goes on where the one in Python was killed."""
    suite, ledger = stage.suite, stage.ledger()
    node, why = node_tools.find_program()
    if why or not migrate_ask.NODE_PACKAGE.exists():
        suite.skip("MIG-43: Node.js", why or "make node was not run")
        return
    torn = fresh(stage, path, "node")
    for name in ("ask.mjs", "load.mjs"):
        shutil.copy(RECIPES / name, torn.parent)
    (torn.parent / "drive.mjs").write_text(NODE)
    (torn.parent / "node_modules").mkdir()
    (torn.parent / "node_modules/assay").symlink_to(migrate_ask.NODE_PACKAGE)
    end(start(stage, torn, f"sqlite:///{ledger}", kill=40))
    code, out, err = end(start(stage, torn, ledger, command=(node, torn.parent / "drive.mjs")))
    places = list(torn.parent.glob("*.loaded-*"))
    suite.expect(code == 0 and out == str(count) and everything(ledger) == everything(direct)
                 and len(places) == 1, "MIG-43: Node.js goes on",
                 f"{err} {places} {differ(everything(ledger), everything(direct))}")


def check_owner(stage, path, lines):
    """A purchase that another account has in the ledger stays with it, and is listed."""
    suite, ledger = stage.suite, stage.ledger()
    number, taken = next((at, line) for at, line in enumerate(lines, 1)
                         if line["operation"] == "claim" and len(line["evidence"]) == 1
                         and line["evidence"][0]["kind"] == "transaction")
    with contextlib.closing(Ledger(f"sqlite:///{ledger}", stage.config)) as shop:
        found = shop.verifier.verify_transaction(taken["evidence"][0]["text"], now=worlds.NOW)
        shop.claim(found, "stranger", grant=lambda grant: None, now=worlds.NOW)
    file = fresh(stage, path, "owner")
    code, _, err = end(start(stage, file, f"sqlite:///{ledger}"))
    refused = [json.loads(line) for line in
               file.with_name(file.name + ".refused").read_text().splitlines()]
    wanted = {"line": number, "operation": "claim", "account": taken["account"],
              "transactionIds": taken["transactionIds"],
              "status": "rejected.purchase.other-account"}
    suite.expect(code == 0 and wanted in refused, "MIG-43: another owner is listed",
                 f"{err} {refused}")
    with contextlib.closing(sqlite3.connect(ledger)) as base:
        owner, = base.execute("SELECT owner FROM assay_purchase WHERE transaction_id = ?",
                              taken["transactionIds"]).fetchone()
    suite.expect(owner == "stranger", "MIG-43: another owner stays", owner)


def check_refunds(stage):
    """Of refunds that the shop has granted meanwhile, each is told once: in takeback.ndjson if its
    row says that it was delivered, else by the ledger."""
    suite, ledger = stage.suite, stage.ledger()
    rows, keys = [], {}
    with contextlib.closing(Ledger(f"sqlite:///{ledger}", stage.config)) as shop:
        for at, granted in ((1, True), (2, False)):
            common = ("transaction", "--type", "consumable", "--product", worlds.COINS,
                      "--environment", "Production", "--transaction-id", 81000 + at,
                      "--original-transaction-id", 81000 + at)
            bought = stage.mint.run(*common, "--signed", worlds.NOW - worlds.DAY, "--purchased",
                                    worlds.NOW - 2 * worlds.DAY)
            found = shop.verifier.verify_transaction(bought, now=worlds.NOW)
            shop.claim(found, "u1", grant=lambda grant: None, now=worlds.NOW - worlds.DAY)
            keys[granted] = found.keys.purchase
            rows.append({"account": "u1", "granted": granted, "evidence": stage.mint.run(
                *common, "--refunded", "--purchased", worlds.NOW - 2 * worlds.DAY)})
        (stage.folder / "rows.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
        path = stage.folder / "refunds.ndjson"
        _, _, err = stage.migrate("refunds", "--out", path)
        for turn in range(2):
            code, _, more = end(start(stage, fresh(stage, path, f"refunds-{turn}"),
                                      f"sqlite:///{ledger}"))
            suite.expect(code == 0, "MIG-43: refunds are loaded", err + more)
        taken = []
        shop.resume_expired_revocations(take_back=lambda take: taken.append(take.purchase_key),
                                        now=worlds.NOW + worlds.DAY)
    listed = [line["purchaseKey"] for line in stage.lines("refunds", "takeback")]
    suite.expect(listed == [keys[True]] and taken == [keys[False]],
                 "MIG-43: each refund is told once", f"{listed} {taken} {keys}")


def check_dynamo(stage, path, oracle):
    """The same file fills DynamoDB."""
    suite = stage.suite
    sys.path[:0] = [str(ROOT / "Tests/Stores")]
    from engines import scratch
    with scratch(ROOT / "build/python-tools/bin") as place:
        engine = place.engine("dynamodb")
        if engine.missing:
            suite.skip("MIG-43: dynamodb", engine.missing)
            return
        engine.start()
        os.environ.update(engine.environment)
        config = {k: v for k, v in stage.config.items() if k != "ledger"}
        with contextlib.closing(Ledger(engine.url, config)) as ledger:
            ledger.create_schema()
            code, _, err = end(start(stage, path, engine.url))
            suite.expect(code == 0, "MIG-43: DynamoDB is loaded", err)
            rows = {row.purchase_key: (row.state, account)
                    for account in {owner for _, owner in oracle.ledger.values() if owner}
                    for row in ledger.find(account).rows}
    wanted = {key: found for key, found in oracle.ledger.items() if found[1]}
    suite.expect(rows == wanted and len(rows) > 20, "MIG-43: the same purchases in DynamoDB",
                 f"{len(rows)} {len(wanted)} {list(set(rows.items()) ^ set(wanted.items()))[:3]}")
