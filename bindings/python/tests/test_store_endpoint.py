"""notification_endpoint.py: Apple's notifications, in the ledger and in the goods beside it."""
import importlib.util
import io
import json
import pathlib
import sqlite3
import time
import unittest

from test_examples import ACCOUNT, ExampleCase, load

if importlib.util.find_spec("assay_testing") is None:
    raise unittest.SkipTest("assay_testing is not here")
from assay_testing import Authority


class NotificationTest(ExampleCase):
    """Requests in the form of a WSGI server."""

    COINS = "com.example.app.coins100"

    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder / "authority")
        self.database = str(self.folder / "shop.db")
        config = self.folder / "config.json"
        config.write_text(json.dumps(self.authority.config))
        self.example = load("notification_endpoint")
        self.example.main(str(config), self.database, "setup")
        self.ledger = self.example.opened(str(config), self.database)
        self.addCleanup(self.ledger.close)
        self.application = self.example.make_application(self.ledger)
        self.now = int(time.time() * 1000)

    def post(self, body, method="POST"):
        answers = []
        environ = {
            "REQUEST_METHOD": method,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        self.application(environ, lambda *answer: answers.append(answer))
        (status, headers), = answers
        self.assertEqual("retry-after" in dict(headers), status.startswith("503"))
        return status

    def told(self, kind, minutes, product=COINS, **options):
        return json.dumps({"signedPayload": self.authority.mint(
            "notification", notification_type=kind, refunded=kind == "REFUND",
            **self.of(minutes, product), **options).decode().strip()}).encode()

    def of(self, minutes, product):
        return {"product": product, "type": "consumable", "transaction_id": "950001",
                "original_transaction_id": "950001", "signed": self.now + minutes * 60_000}

    def bookings(self):
        return self.sql(self.database, ("select account, units from booking order by rowid",))

    def bought(self):
        return self.ledger.verifier.verify_transaction(
            self.authority.transaction(**self.of(-50, self.COINS)))

    def claim(self):
        return self.ledger.claim(self.bought(), ACCOUNT, grant_mode="transaction",
                                 grant=self.example.pay_out).client_result

    def test_bck41_taken_back_and_given_again_once(self):
        """Check a take-back and a second grant; the shops in examples test all orders."""
        self.assertEqual(self.claim(), "granted")
        refund, reversed = self.told("REFUND", -40), self.told("REFUND_REVERSED", -30)
        for body, wanted in ((refund, [1, -1]), (reversed, [1, -1, 1]), (refund, [1, -1, 1])):
            self.assertEqual([self.post(body) for _ in range(3)], ["200 OK"] * 3)
            self.assertEqual(self.bookings(), [(ACCOUNT, units) for units in wanted])
        self.assertEqual(self.post(json.dumps({"signedPayload": self.authority.notification(
            "TEST")}).encode()), "200 OK")

    def test_bck42_no_200_without_the_goods(self):
        """Check that a booking that cannot be written leaves nothing in the ledger either."""
        self.claim()
        body = self.told("REFUND", -40)
        self.sql(self.database, ("alter table booking rename to away",))
        with self.assertRaises(sqlite3.OperationalError):  # a WSGI server responds with 500
            self.post(body)
        self.sql(self.database, ("alter table away rename to booking",))
        self.assertEqual(self.post(body), "200 OK")
        self.assertEqual(self.bookings(), [(ACCOUNT, 1), (ACCOUNT, -1)])

    def test_bck42_a_store_that_is_away(self):
        """Check for 503, after which Apple repeats the notification."""
        body = self.told("REFUND", -40)
        self.ledger.close()
        pathlib.Path(self.database).rename(self.folder / "away.db")
        with self.assertLogs(level="ERROR"):
            self.assertEqual(self.post(body)[:3], "503")
        (self.folder / "away.db").rename(self.database)
        self.assertEqual(self.post(body), "200 OK")

    def test_bck42_what_is_refused_for_good(self):
        with self.assertLogs("notifications", "WARNING") as logged:
            self.assertEqual(self.post(self.told("DID_RENEW", -40, "com.example.gone")), "200 OK")
        self.assertIn("rejected.product.unknown", logged.output[0])

    def test_refusals(self):
        good = json.loads(self.told("REFUND", -40))["signedPayload"]
        forged = json.dumps({"signedPayload": good[:-4] + "AAAA"}).encode()
        with self.assertLogs("notifications", "WARNING"):
            self.assertEqual(self.post(forged), "400 Refused")
        for body in (b"x", b"{}", b"[]", b'{"signedPayload":5}'):
            with self.subTest(body=body):
                self.assertEqual(self.post(body), "400 Bad Request")
        self.assertEqual(self.post(b""), "413 Content Too Large")
        self.assertEqual(self.post(b" " * 300_000), "413 Content Too Large")
        self.assertEqual(self.post(b"", "GET"), "405 Method Not Allowed")
        self.assertEqual(self.bookings(), [])
