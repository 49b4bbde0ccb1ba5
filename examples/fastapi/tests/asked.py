"""What a shop is asked by apps and by Apple, on FastAPI and on Django the same.

Importing this makes the files that shop.py reads at its start, under a test authority, in a
folder that becomes the current one.
"""
import itertools
import json
import logging
import os
import pathlib
import sqlite3
import tempfile
import time
from contextlib import closing

from assay_testing import Authority

COINS = {"environment": "Production", "type": "consumable", "product": "com.example.app.coins100"}
PURCHASES, NOTIFICATIONS = "/v1/purchases", "/v1/notifications"
REFUSED = {"error": "refused"}

_folder = tempfile.TemporaryDirectory()
os.chdir(_folder.name)
authority = Authority("authority")
bearer = {"Authorization": "Bearer " + authority.mint("token").decode().strip()}
pathlib.Path("keys.json").write_bytes(authority.mint("keyset"))
_tokens = json.loads(pathlib.Path("authority/tokens.json").read_text())
pathlib.Path("config.json").write_text(json.dumps({**authority.config, "tokens": _tokens}))

import shop  # noqa: E402

shop.setup()
logging.getLogger("shop").setLevel(logging.ERROR)  # refusals are what these tests are about


class Asked:
    """The tests of a shop. A class that has it adds `post`, which gives the status, the JSON and
    the headers of an answer, and BAD_BODY, its framework's status for a body of another form."""

    def setUp(self):
        super().setUp()
        self.database = self.enterContext(closing(
            sqlite3.connect("shop.db", isolation_level=None, timeout=10)))
        self.clear()

    def clear(self):
        """All rows but the one of the schema: a new store would take longer."""
        for table, in self.database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'assay_schema'"
                " AND (name = 'booking' OR name LIKE 'assay%')").fetchall():
            self.database.execute(f"DELETE FROM {table}")

    def expect(self, path, body, headers, status, answer=None):
        found, said, more = self.post(path, body, headers)
        self.assertEqual(found, status, (path, said))
        self.assertEqual("Retry-After" in more, status == 503)
        if answer is not None:
            self.assertEqual(said, answer)

    def test_a_purchase_is_paid_once_and_taken_back(self):
        bought = {"jws": authority.transaction(**COINS)}
        refund = {"signedPayload": notified("REFUND", **COINS)}
        self.expect(PURCHASES, bought, bearer, 200, {"answer": "granted"})
        self.expect(PURCHASES, bought, bearer, 200, {"answer": "already-granted"})
        for _ in range(2):
            self.expect(NOTIFICATIONS, refund, {}, 200)
        self.expect(PURCHASES, bought, bearer, 409, {"answer": "refused-final"})
        found = shop.ledger.find(
            evidence=shop.ledger.verifier.verify_transaction(bought["jws"]))
        self.assertEqual(found.rows[0].state, "revoked")

    def test_what_is_not_genuine_is_refused(self):
        bought = authority.transaction(**COINS)
        self.expect(PURCHASES, {"jws": bought}, {}, 401, REFUSED)
        self.expect(PURCHASES, {"jws": bought[:-8] + "AAAAAAAA"}, bearer, 400, REFUSED)
        self.expect(NOTIFICATIONS, {"signedPayload": bought}, {}, 400, REFUSED)
        self.expect(PURCHASES, {"receipt": 1}, bearer, self.BAD_BODY)

    def test_refund_and_reversal_in_every_order(self):
        self.in_every_order(self.status, ("REFUND", "REFUND_REVERSED"), left=1)

    def test_reversal_and_refund_in_orders(self):
        self.in_every_order(self.status, ("REFUND_REVERSED", "REFUND"), left=0, every=3)

    def status(self, path, body):
        return self.post(path, body, bearer)[0]

    def in_every_order(self, status, kinds, left, every=1):
        """BCK-16, BCK-41: each twice, in 90 orders. At each moment the wallet is what the ledger
        says, given and taken back in turn; at the end it is what was signed last."""
        told = told_later(*kinds)
        orders = sorted(set(itertools.permutations((0, 0, 1, 1, 2, 2))))
        self.assertEqual(len(orders), 90)
        for order in orders[::every]:
            self.clear()
            # Who was refused in between shows the purchase again.
            for at in (*order, 0, 1, 2, 0):
                found = status(*told[at])
                self.assertTrue(found == 200 or at == 0, (order, at, found))
                booked = [units for units, in self.database.execute(
                    "SELECT units FROM booking ORDER BY rowid")]
                out, = self.database.execute(
                    "SELECT total(granted_units) FROM assay_purchase").fetchone()
                self.assertEqual(sum(booked), out, (order, at, booked))
                self.assertEqual(booked, [1, -1, 1, -1, 1, -1][:len(booked)], (order, at))
            self.assertEqual(sum(booked), left, order)


def told_later(*kinds):
    """A purchase, and what Apple tells of it ten and twenty minutes later: path and body."""
    same = {**COINS, "transaction_id": "940001", "original_transaction_id": "940001"}
    start = int(time.time() * 1000) - 3_600_000
    found = [(PURCHASES, {"jws": authority.transaction(signed=start, **same)})]
    for number, kind in enumerate(kinds, 1):
        text = notified(kind, signed=start + number * 600_000, **same)
        found.append((NOTIFICATIONS, {"signedPayload": text}))
    return found


def notified(kind, **options):
    """What Apple tells of a purchase; `type` is that of the product."""
    return authority.mint("notification", notification_type=kind, refunded=kind == "REFUND",
                          **options).decode().strip()
