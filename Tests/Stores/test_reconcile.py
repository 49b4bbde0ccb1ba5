"""Test `reconcile` in a month of purchases whose notifications were partly lost, which
reconcile_world.py plays, and on single answers of Apple's.

  test_reconcile.py          with ASSAY_LIBRARY and ASSAY_PROGRAM, on each engine that is installed
"""

import base64
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import engines  # noqa: E402
import reconcile_world  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402
from reconcile_apple import COINS, DAY, DENSE, HISTORY, HOUR, MINUTE, NOW, NOWHERE, PREMIUM  # noqa: E402
from reconcile_host import PACE, Fragile, Stopped  # noqa: E402

STATUSES = "/inApps/v1/subscriptions/"


class World:
    """A host with one ledger on SQLite, and the mock Apple."""

    def __init__(self, apple, path, **settings):
        self.apple, self.path = apple, path
        self.begun, self.now = time.monotonic(), NOW - 5 * DAY
        self.wallet, self.granted, self.taken = {}, set(), set()
        self.number, self.attempts = 0, 0
        self.ledger = Ledger(f"sqlite:///{path}", {
            **apple.config, **settings, "ledger": {"engine": "sqlite", "rateLimits": PACE}},
            create=True, clock=self.clock)
        fragile = Fragile(self.ledger.executor, apple.sender)
        self.ledger.executor, self.ledger._sender = fragile, fragile.send
        apple.play("clock", {"now": self.now})

    def clock(self):
        return self.now / 1000 + time.monotonic() - self.begun

    def pass_time(self, ms):
        self.now += ms
        self.apple.play("clock", {"now": self.now})

    def attempt(self):
        self.attempts += 1
        return f"attempt-{self.attempts}".ljust(24, "-")

    def notify(self, known, type, subtype=None):
        """Let Apple notify, and return the signed notification, which does not arrive."""
        more = {"subtype": subtype} if subtype else {}
        return self.apple.play("notify", {"url": NOWHERE, "type": type, "transactionId": known,
                                          **more})["signedPayload"]

    def tell(self, known, type, subtype=None):
        """Let Apple notify, and return the notification as evidence."""
        return self.ledger.verifier.verify_notification(
            self.notify(known, type, subtype), now=self.now)

    def buy(self, product=COINS, type="consumable", environment="Sandbox"):
        self.number += 1
        known = str(2_000_000_100_000_000 + self.number)
        self.apple.play("purchase", {
            "environment": environment, "type": type, "product": product, "transactionId": known,
            "purchased": self.now})
        return known

    # ---- the host ------------------------------------------------------------------

    def pay(self, grant):
        assert grant.grant_id not in self.granted, "a grant was paid twice"
        self.granted.add(grant.grant_id)
        known = grant.purchase_key.partition("/")[2]
        self.wallet[known] = self.wallet.get(known, 0) + grant.units

    def take(self, take):
        assert take.take_id not in self.taken, "a take-back was done twice"
        self.taken.add(take.take_id)
        self.wallet[take.purchase_key.partition("/")[2]] -= take.units

    def claim(self, evidence, account):
        return self.ledger.claim(evidence, account, attempt_id=self.attempt(), grant=self.pay)

    def sweep(self):
        self.ledger.resume_expired(attempt_id=self.attempt(), grant=self.pay)
        self.ledger.resume_expired_revocations(attempt_id=self.attempt(), take_back=self.take)

    def open(self):
        """Return the open differences, of which this world has one page."""
        page = self.ledger.list_differences()
        assert not page.has_more
        return page.differences


class Reconcile(unittest.TestCase):
    """A month of 60 purchases, on each engine; fewer on the double of DynamoDB, which is slow."""

    def on(self, name, seed, purchases=60, kills=20):
        # moto's server is in the environment of the clients.
        is_environment = sys.prefix != sys.base_prefix
        with engines.scratch(pathlib.Path(sys.prefix) / "bin" if is_environment else None) as place:
            engine = place.engine(name)
            if engine.missing:
                self.skipTest(engine.missing)
            os.environ.update(engine.environment)
            engine.start()
            with reconcile_world.apple_of(purchases, seed, DENSE) as apple:
                try:
                    _, complaints = reconcile_world.play(apple, engine.url, seed, kills)
                except ImportError as error:
                    self.skipTest(f"no client: {error}")
            self.assertEqual(complaints, [])

    def test_sqlite(self):
        self.on("sqlite", 7)

    def test_postgres(self):
        self.on("postgres", 8)

    def test_mariadb(self):
        self.on("mariadb", 9)

    def test_dynamodb(self):
        self.on("dynamodb", 10, purchases=24, kills=8)


class Pages(unittest.TestCase):
    """Single pages of Apple's answers, on SQLite."""

    @contextlib.contextmanager
    def world(self, **settings):
        with tempfile.TemporaryDirectory() as folder, MockApple(
                Authority(folder=pathlib.Path(folder)), clock=NOW - 5 * DAY) as apple:
            world = World(apple, f"{folder}/ledger.db", **settings)
            with contextlib.closing(world.ledger):
                yield world

    def ask(self, world, **more):
        more = {"from_ms": world.now - HOUR, **more}
        return world.ledger.reconcile(
            "Sandbox", parts=["events"], attempt_id=world.attempt(), **more)

    def is_revoked(self, world, known):
        found = world.ledger.find(environment="Sandbox", transaction_id=known, operator_view=True)
        return [one.state for one in found.rows] == ["revoked"]

    # ---- a page that is read again ---------------------------------------------------

    def refund(self, world):
        """Let a purchase be granted and refunded, and return its id."""
        known = world.buy()
        world.claim(world.tell(known, "ONE_TIME_CHARGE"), "ann")
        world.apple.play("refund", {"transactionId": known})
        world.pass_time(MINUTE)
        world.notify(known, "REFUND")
        world.pass_time(MINUTE)
        return known

    def test_read_again_by_the_next_run(self):
        with self.world() as world:
            self.refund(world)
            first, again = self.ask(world), self.ask(world)
            self.assertEqual((first.revoked, first.lost_count, len(first.lost)), (1, 1, 1))
            self.assertEqual((again.revoked, again.lost_count, again.lost), (0, 0, ()))
            self.assertEqual((again.notifications, again.purchases), (2, 1))
            world.pass_time(MINUTE)
            self.refund(world)
            self.assertEqual(self.ask(world).revoked, 1)

    def test_read_again_after_a_stop(self):
        """Stop a run after each of its statements; whatever it had done before counts no more."""
        with self.world() as world:
            world.ledger.create_schema()
            fragile, was_done = world.ledger.executor, []
            for calls in range(1, 200):
                known = self.refund(world)
                fragile.left = calls
                try:
                    self.assertEqual(self.ask(world, from_ms=world.now - 10 * MINUTE).revoked, 1)
                    break
                except Stopped:
                    was_done.append(self.is_revoked(world, known))
                # The lease of the stopped process runs out.
                world.pass_time(6 * MINUTE)
                found = self.ask(world, from_ms=world.now - 10 * MINUTE)
                self.assertFalse(found.has_more, found.document.json)
                self.assertEqual(found.revoked, 0 if was_done[-1] else 1, f"after {calls} calls")
                self.assertEqual(found.lost_count, found.revoked)
                self.assertTrue(self.is_revoked(world, known))
                # The next run has no more to do than this one.
                world.sweep()
                world.pass_time(20 * MINUTE)
            fragile.left = None
            self.assertEqual(set(was_done), {False, True})

    # ---- no answer ------------------------------------------------------------------------

    def test_no_answer(self):
        """Each ends with a status of its own and changes no row; the next exchange goes on."""
        hour = {"retryAfter": NOW}  # hours ahead
        for fault, count, status in (
                (hour, 1, "unavailable.app-store.rate-limited"),
                ({"status": 503}, 1, "unavailable.app-store.no-response"),
                ({"errorCode": 5_000_001}, 1, "unavailable.app-store.no-response"),
                ({"reset": True}, 1, "unavailable.app-store.no-response"),
                ({"status": 401}, 2, "rejected.app-store.unauthorized")):
            with self.subTest(fault=fault), self.world() as world:
                known = self.refund(world)
                before = reconcile_world.rows_of(f"sqlite:///{world.path}")
                world.apple.play("script", [
                    {"path": HISTORY, "nth": list(range(1, count + 1)), "fault": fault}])
                found = self.ask(world, attempts=1)
                self.assertEqual((found.status, found.has_more, found.notifications),
                                 (status, True, 0), found.document.json)
                self.assertEqual(found.not_before_ms is None, fault is not hour)
                self.assertEqual(reconcile_world.rows_of(f"sqlite:///{world.path}"), before)
                found = self.ask(world)
                self.assertTrue(found.ok, found.document.json)
                self.assertEqual((found.resumed, found.has_more, found.revoked),
                                 (True, False, 1))
                self.assertTrue(self.is_revoked(world, known))

    def test_dead_token(self):
        """A token that died costs its window a second look; one that dies again ends the exchange,
        and the next one goes on."""
        for code in 4_000_014, 4_000_017:
            for deaths, requests in ([2], 4), ([2, 4], 4):
                with self.subTest(code=code, deaths=deaths), self.world() as world:
                    known = world.buy()
                    world.claim(world.tell(known, "ONE_TIME_CHARGE"), "ann")
                    for _ in range(20):
                        world.notify(known, "PRICE_INCREASE", "PENDING")
                    # The refund is on the second page.
                    world.apple.play("refund", {"transactionId": known})
                    world.pass_time(MINUTE)
                    world.notify(known, "REFUND")
                    world.pass_time(MINUTE)
                    world.apple.play("script", [
                        {"path": HISTORY, "nth": deaths, "fault": {"errorCode": code}}])
                    found = self.ask(world)
                    self.assertEqual(found.requests, requests, found.document.json)
                    if len(deaths) > 1:
                        self.assertEqual((found.status, found.has_more, found.revoked),
                                         ("malformed.app-store.paging", True, 0))
                        self.assertFalse(self.is_revoked(world, known))
                        found = self.ask(world)
                        self.assertTrue(found.resumed)
                    self.assertEqual((found.ok, found.has_more, found.revoked),
                                     (True, False, 1))

    # ---- a reversal of what was not yet taken back --------------------------------------------

    def test_reversal_waits(self):
        """A reversal that was read while its take-back was pending is reported until it is read
        again: the customer has paid, and what was bought is taken back."""
        with self.world() as world:
            known = world.buy()
            world.claim(world.tell(known, "ONE_TIME_CHARGE"), "ann")
            bought_at = world.now
            world.apple.play("refund", {"transactionId": known})
            world.pass_time(MINUTE)
            world.notify(known, "REFUND")
            world.pass_time(MINUTE)
            self.assertEqual(self.ask(world).revoked, 1)
            reversal = world.apple.authority.mint(
                "notification", notification_type="REFUND_REVERSED", product=COINS,
                type="consumable", transaction_id=known, original_transaction_id=known,
                purchased=bought_at, signed=world.now, now=world.now).decode().strip()
            world.pass_time(MINUTE)
            self.answer(world, reversal)
            self.assertTrue(self.ask(world).ok)
            self.assert_kinds(world, "refund-not-taken-back")
            world.sweep()
            self.assertEqual(world.wallet[known], 0)
            for _ in range(2):
                self.assertTrue(self.ask(world, from_ms=world.now).ok)
                self.assert_kinds(world, "reversal-not-given-back")
            self.answer(world, reversal)
            self.assertEqual(self.ask(world).reopened, 1)
            world.sweep()
            self.assertEqual(world.wallet[known], 1)
            self.assertTrue(self.ask(world, from_ms=world.now).ok)
            self.assert_kinds(world)

    def assert_kinds(self, world, *kinds):
        self.assertEqual(tuple(one.kind for one in world.open()), kinds)

    # ---- a text that counts for nothing ---------------------------------------------------

    def answer(self, world, *texts):
        """Let Apple's next page of its history have these texts."""
        page = {"notificationHistory": [{"signedPayload": text} for text in texts],
                "hasMore": False}
        world.apple.play("script", [{"path": HISTORY, "nth": 1, "fault": {
            "status": 200, "contentType": "application/json", "body": page}}])

    def test_text_of_another_environment(self):
        with self.world(environments=["Production", "Sandbox"]) as world:
            good, other, more = (
                world.notify(world.buy(environment=environment), "ONE_TIME_CHARGE")
                for environment in ("Sandbox", "Production", "Production"))
            world.pass_time(20 * MINUTE)
            self.answer(world, other, more)
            found = self.ask(world)
            self.assertEqual(found.status, "rejected.app-store.inconsistent")
            self.assertEqual((found.has_more, found.notifications), (True, 0))
            self.answer(world, other, good)
            found = self.ask(world)
            self.assertTrue(found.ok, found.document.json)
            self.assertEqual(
                (found.has_more, found.notifications, found.purchases, found.refused),
                (False, 1, 1, 1))
            self.assertEqual(
                {(one.kind, one.detail) for one in world.open()},
                {("paid-not-granted", None), (
                    "not-verified", "rejected.app-store.inconsistent "
                    "notificationHistory[0].signedPayload.environment")})

    def test_subscription_of_another_line(self):
        with self.world() as world:
            lines, signed = [world.buy(PREMIUM, "auto-renewable") for _ in range(2)], []
            for known in lines:
                note = world.notify(known, "SUBSCRIBED", "INITIAL_BUY")
                told = world.ledger.verifier.verify_notification(note, now=world.now)
                self.assertTrue(world.ledger.update_subscriptions(told, "ann").ok)
                body = json.loads(base64.urlsafe_b64decode(note.split(".")[1] + "=="))
                signed.append(body["data"]["signedTransactionInfo"])
            world.pass_time(40 * DAY)
            # Apple's answer about each line has the text of the other one.
            world.apple.play("script", [
                {"path": f"{STATUSES}{known}", "nth": 1, "fault": {
                    "status": 200, "contentType": "application/json", "body": {"data": [{
                        "subscriptionGroupIdentifier": "1", "lastTransactions": [{
                            "originalTransactionId": known, "status": 1,
                            "signedTransactionInfo": text}]}]}}}
                for known, text in zip(lines, reversed(signed), strict=True)])
            found = world.ledger.reconcile(
                "Sandbox", parts=["open"], attempt_id=world.attempt())
            self.assertTrue(found.ok, found.document.json)
            self.assertEqual((found.has_more, found.requests, found.refused), (False, 2, 2))
            self.assertEqual({(one.kind, one.detail) for one in world.open()}, {
                ("not-verified", "rejected.app-store.inconsistent "
                 "data[0].lastTransactions[0].originalTransactionId")})

    # ---- questions about refunds ----------------------------------------------------------

    def test_lost_question_and_decision(self):
        with self.world() as world:
            known = world.buy()
            for type, open, outcomes in (("CONSUMPTION_REQUEST", [known], []),
                                         ("REFUND_DECLINED", [], ["declined"])):
                world.notify(known, type)
                world.pass_time(MINUTE)
                self.assertTrue(self.ask(world).ok)
                found = world.ledger.report_refunds(state="open").refunds
                self.assertEqual([case.transaction_id for case in found], open)
                found = world.ledger.report_refunds().refunds
                self.assertEqual([case.outcome for case in found], outcomes)

    # ---- a time of which Apple tells nothing ---------------------------------------------

    def test_start_too_far_in_the_past(self):
        with self.world() as world:
            begun = world.now
            for faults, gap in ([], []), ([{"errorCode": 4_000_012}], [8, 7]):
                world.apple.play("script", [
                    {"path": HISTORY, "nth": 1, "fault": fault} for fault in faults])
                found = self.ask(world, from_ms=begun - 8 * DAY, until_ms=begun - 6 * DAY)
                self.assertEqual((found.ok, found.has_more), (True, False), found.document.json)
                self.assert_gap(world, [begun - days * DAY for days in gap])

    def test_place_that_is_too_old(self):
        with self.world() as world:
            for waits, gap in (HOUR, []), (2 * DAY, [29, 27]):
                begun = world.now
                times = {"from_ms": begun - 29 * DAY, "until_ms": begun - 26 * DAY}
                self.assertTrue(self.ask(world, max_requests=1, **times).has_more)
                world.pass_time(waits)
                found = self.ask(world)
                self.assertEqual((found.ok, found.resumed, found.has_more), (True, True, False))
                self.assert_gap(world, [begun - days * DAY for days in gap])

    def assert_gap(self, world, times):
        found = [(one.kind, one.detail, one.settled_by) for one in world.open()]
        if not times:
            self.assertEqual(found, [])
            return
        [(kind, detail, settled_by)] = found
        self.assertEqual((kind, settled_by), ("history-gap", None))
        # The clock goes on between the requests.
        for said, expected in zip(detail.split("\u2013"), times, strict=True):
            self.assertAlmostEqual(int(said), expected, delta=MINUTE)


if __name__ == "__main__":
    unittest.main()
