"""What the pages' shops on a framework are asked, whichever it is (docs/tasks/frameworks.md)."""
import itertools
import json
import pathlib
import sqlite3
import time
from contextlib import closing

import minted

from assay.store import Ledger

COINS = ("--product", "com.example.app.coins100", "--type", "consumable")


def prepare():
    """The two files that a shop reads at its start."""
    for left in pathlib.Path(".").glob("shop.db*"):
        left.unlink()
    pathlib.Path("keys.json").write_text(minted.mint("keyset"))
    config = json.loads((minted.AUTHORITY / "config.json").read_text())
    config["tokens"] = json.loads((minted.AUTHORITY / "tokens.json").read_text())
    pathlib.Path("config.json").write_text(json.dumps(config))
    Ledger("sqlite:///./shop.db", config).create_schema()
    with shop_db() as database:
        database.execute("CREATE TABLE booking (id TEXT PRIMARY KEY, account TEXT NOT NULL,"
                         " units INTEGER NOT NULL)")


def shop_db():
    return closing(sqlite3.connect("shop.db", isolation_level=None, timeout=10))


def ask(post, bad_body):
    """post(path, body, headers) gives the status, the JSON and the headers of an answer;
    bad_body is the framework's own status for a body without the member."""
    import shop

    bearer = {"Authorization": "Bearer " + minted.mint("token")}
    bought = {"jws": minted.mint("transaction", *COINS)}
    refund = {"signedPayload": minted.mint(
        "notification", "--notification-type", "REFUND", "--refunded", *COINS)}

    def expect(path, body, headers, status, answer=None):
        found, text, more = post(path, body, headers)
        assert found == status, (path, found, text)
        assert answer is None or text == answer, (path, text)
        assert ("Retry-After" in more) == (status == 503), (path, more)

    expect("/v1/purchases", bought, {}, 401, {"error": "refused"})
    expect("/v1/purchases", {"jws": bought["jws"][:-8] + "AAAAAAAA"}, bearer, 400)
    expect("/v1/purchases", {"receipt": 1}, bearer, bad_body)
    expect("/v1/purchases", bought, bearer, 200, {"answer": "granted"})
    expect("/v1/purchases", bought, bearer, 200, {"answer": "already-granted"})
    expect("/v1/notifications", {"signedPayload": bought["jws"]}, {}, 400, {"error": "refused"})
    for _ in range(2):
        expect("/v1/notifications", refund, {}, 200)
    expect("/v1/purchases", bought, bearer, 409, {"answer": "refused-final"})
    assert shop.ledger.lookup(evidence=shop.ledger.verifier.verify_transaction(
        bought["jws"])).rows[0].state == "revoked"
    def status(path, body):
        return post(path, body, bearer)[0]

    ask_in_every_order(status, told_later("REFUND", "REFUND_REVERSED"), left=1)
    ask_in_every_order(status, told_later("REFUND_REVERSED", "REFUND"), left=0, every=3)


def told_later(*kinds):
    """A purchase, and what Apple tells of it ten and twenty minutes later: path and body."""
    same = (*COINS, "--transaction-id", "940001", "--original-transaction-id", "940001")
    start = int(time.time() * 1000) - 3_600_000
    bought = minted.mint("transaction", "--signed", str(start), *same)
    found = [("/v1/purchases", {"jws": bought})]
    for number, kind in enumerate(kinds, 1):
        refunded = ["--refunded"] if kind == "REFUND" else []
        found.append(("/v1/notifications", {"signedPayload": minted.mint(
            "notification", "--notification-type", kind, *refunded,
            "--signed", str(start + number * 600_000), *same)}))
    return found


def ask_in_every_order(post, told, left, every=1):
    """BCK-16, BCK-41: each twice, in 90 orders. At each moment the wallet is what the ledger says,
    given and taken back in turn; at the end it is what was signed last."""
    for order in sorted(set(itertools.permutations((0, 0, 1, 1, 2, 2))))[::every]:
        with shop_db() as database:
            empty(database)
            # Who was refused in between shows the purchase again.
            for at in (*order, 0, 1, 2, 0):
                status = post(*told[at])
                assert status == 200 or at == 0, (order, at, status)
                booked = [units for units, in database.execute(
                    "SELECT units FROM booking ORDER BY rowid")]
                out, = database.execute("SELECT total(out_n) FROM assay_ledger").fetchone()
                assert sum(booked) == out, (order, at, booked, out)
                assert booked == [1, -1, 1, -1, 1, -1][:len(booked)], (order, at, booked)
            assert sum(booked) == left, (order, booked)


def empty(database):
    """All rows but the one of the schema: a new store would take longer."""
    for table, in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'assay_schema'"
            " AND (name = 'booking' OR name LIKE 'assay%')").fetchall():
        database.execute(f"DELETE FROM {table}")
