"""Test `reconcile` in a world of purchases whose notifications were partly lost: it is stopped
after random statements and requests, goes on, and what it reports equals what an oracle knows.

  test_reconcile.py            with ASSAY_LIBRARY and ASSAY_PROGRAM, on SQLite and PostgreSQL
"""

import contextlib
import pathlib
import random
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import engines  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402

NOW = 1_790_000_000_000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
COINS, GONE = "com.example.app.coins100", "com.example.app.coins500"
PREMIUM = "com.example.app.premium.monthly"
# Nobody listens there: a delivery fails.
NOWHERE = "http://127.0.0.1:1/"
HISTORY = "/inApps/v1/notifications/history"
PACE = {"get-notification-history": 1000, "get-all-subscription-statuses": 1000}


class Stopped(BaseException):
    """The process ends here."""


class Fragile:
    """An executor and a sender that stop the process, before or after one of their calls."""

    def __init__(self, executor, sender):
        self.executor, self.sender, self.left = executor, sender, None

    def __getattr__(self, name):
        return getattr(self.executor, name)

    def count(self):
        if self.left is None:
            return
        self.left -= 1
        if self.left <= 0:
            self.left = None
            raise Stopped

    @contextlib.contextmanager
    def session(self):
        with self.executor.session() as execute:
            yield self.watched(execute)

    def watched(self, execute):
        def call(step):
            self.count()
            found = execute(step)
            self.count()
            return found
        return call

    def send(self, request):
        self.count()
        found = self.sender(request)
        self.count()
        return found


class World:
    """Purchases of the mock Apple, what the host did about them, and what must be found."""

    def __init__(self, apple, url, seed, **settings):
        self.apple, self.random = apple, random.Random(seed)
        self.begun, self.now = time.monotonic(), NOW - 5 * DAY
        self.wallet, self.granted, self.taken = {}, set(), set()
        self.expected, self.target = set(), {}
        products = {**apple.config["products"], GONE: {"type": "consumable"}}
        config = {**apple.config, **settings, "ledger": {"engine": url.partition(":")[0].replace(
            "postgresql", "postgres"), "rateLimits": PACE}}
        self.ledger = self.opened(url, config)
        self.late = self.opened(url, {**config, "products": products})
        self.number, self.attempts = 0, 0
        apple.play("clock", {"now": self.now})

    def opened(self, url, config):
        ledger = Ledger(url, config, create=True, clock=self.clock)
        fragile = Fragile(ledger.executor, self.apple.sender)
        ledger.executor, ledger._sender = fragile, fragile.send
        return ledger

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
        return self.late.verifier.verify_notification(
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
        return self.late.claim(evidence, account, attempt_id=self.attempt(), grant=self.pay)

    def sweep(self):
        self.late.resume_expired(attempt_id=self.attempt(), grant=self.pay)
        self.late.resume_expired_revocations(attempt_id=self.attempt(), take_back=self.take)

    # ---- what happens ----------------------------------------------------------------

    def coins(self):
        """One consumable: it is claimed, left behind or lost, and perhaps refunded later."""
        known, fate = self.buy(), self.random.randrange(4)
        told = self.tell(known, "ONE_TIME_CHARGE")
        kind, self.target[known] = None, 1
        if fate < 2:
            self.claim(told, f"user{self.number % 9}")
        elif fate == 2:
            self.late.claim(told, f"user{self.number % 9}", attempt_id=self.attempt())
            kind = "claim-left-behind"
        else:
            kind = "paid-not-granted"
        if self.random.random() < 0.3:
            self.apple.play("refund", {"transactionId": known})
            self.pass_time(MINUTE)
            refund = self.tell(known, "REFUND")
            self.target[known] = 0
            kind = "refund-not-taken-back" if fate < 2 else None
            if self.random.random() < 0.3:
                self.late.apply_event(
                    refund, attempt_id=self.attempt(), grant_mode="lease", take_back=self.take)
                kind = None
        if kind:
            self.expected.add((kind, known))

    def gone(self):
        known = self.buy(GONE)
        self.tell(known, "ONE_TIME_CHARGE")
        self.target[known] = 1
        self.expected.add(("unknown-product", known))

    def subscription(self):
        known = self.buy(PREMIUM, "auto-renewable")
        told = self.tell(known, "SUBSCRIBED", "INITIAL_BUY")
        if self.random.random() < 0.7:
            self.late.update_subscriptions(told, f"user{self.number % 9}")
        else:
            self.expected.add(("subscription-unowned", known))

    # ---- the run -----------------------------------------------------------------------

    def reconcile(self, ledger, parts, stops=0):
        """Run to the end, stopped so many times. Return how many requests Apple has got."""
        fragile, begun = ledger.executor, len(self.apple.log)
        for _ in range(400):
            fragile.left = self.random.randrange(1, 60) if stops else None
            try:
                found = ledger.reconcile(
                    "Sandbox", parts=parts, from_ms=NOW - 6 * DAY, attempt_id=self.attempt(),
                    max_requests=self.random.choice((1, 3, 100)))
            except Stopped:
                stops -= 1
                other = ledger.reconcile(
                    "Sandbox", parts=parts, from_ms=NOW - 6 * DAY, attempt_id=self.attempt(),
                    max_requests=1)
                if not other.ok:
                    assert other.status == "unavailable.reconcile.running", other
                    assert other.retry_after_ms > 0
                # The lease of the stopped process runs out.
                self.pass_time(6 * MINUTE)
                continue
            finally:
                fragile.left = None
            assert found.ok, found.document.json
            if not found.has_more:
                assert stops <= 0, f"{stops} stops are left"
                return len(self.apple.log) - begun
        raise AssertionError("the run does not end")

    def open(self, ledger):
        found, after = [], None
        while True:
            page = ledger.list_differences(after=after)
            found += page.differences
            if not page.has_more:
                return found
            after = page.after


class Reconcile(unittest.TestCase):
    def world(self, url, seed, size):
        with tempfile.TemporaryDirectory() as folder, MockApple(
                Authority(folder=pathlib.Path(folder)), clock=NOW - 5 * DAY) as apple:
            world = World(apple, url, seed)
            makes = [world.coins] * 7 + [world.gone] + [world.subscription] * 2
            for _ in range(size):
                world.random.choice(makes)()
                world.pass_time(4 * DAY // size)
            world.pass_time(DAY)
            self.check(world)
            world.ledger.close()
            world.late.close()

    def check(self, world):
        world.reconcile(world.ledger, ["events", "open"], stops=20)
        # What was pending when it was seen is judged by the next run, as by the hour's.
        world.reconcile(world.ledger, ["open"])
        self.assertEqual({(one.kind, one.transaction_id) for one in world.open(world.ledger)},
                         world.expected)
        self.assertTrue(all(one.price == 9990 for one in world.open(world.ledger)
                            if one.kind == "paid-not-granted"))
        # The catalogue has the product again, the sweeps run, the customers' apps come.
        world.reconcile(world.late, ["events", "open"])
        for one in world.open(world.late):
            if one.kind in ("paid-not-granted", "subscription-unowned"):
                self.come(world, one)
        world.sweep()
        world.pass_time(20 * MINUTE)
        world.reconcile(world.late, ["events", "open"])
        self.assertEqual([(one.kind, one.transaction_id) for one in world.open(world.late)], [])
        self.assertEqual({key: world.wallet.get(key, 0) for key in world.target}, world.target)

    def come(self, world, one):
        with world.late.verifier.exchange({
                "operation": "get-transaction-info", "environment": "Sandbox",
                "transactionId": one.transaction_id}, now=world.now) as exchange:
            found = exchange.run(world.apple.sender)
        if one.kind == "paid-not-granted":
            self.assertEqual(world.claim(found, "late").outcome, "new")
        else:
            world.late.update_subscriptions(found, "late")

    def test_sqlite(self):
        with tempfile.TemporaryDirectory() as folder:
            self.world(f"sqlite:///{folder}/ledger.db", 7, 60)

    def test_postgres(self):
        with engines.scratch() as place:
            engine = place.engine("postgres")
            if engine.missing:
                self.skipTest(engine.missing)
            engine.start()
            self.world(engine.url, 8, 60)


class Pages(unittest.TestCase):
    """Single pages of Apple's answers, on SQLite."""

    @contextlib.contextmanager
    def world(self, **settings):
        with tempfile.TemporaryDirectory() as folder, MockApple(
                Authority(folder=pathlib.Path(folder)), clock=NOW - 5 * DAY) as apple:
            world = World(apple, f"sqlite:///{folder}/ledger.db", 1, **settings)
            try:
                yield world
            finally:
                world.ledger.close()
                world.late.close()

    def ask(self, world, **more):
        more = {"from_ms": world.now - HOUR, **more}
        return world.ledger.reconcile(
            "Sandbox", parts=["events"], attempt_id=world.attempt(), **more)

    def is_revoked(self, world, known):
        found = world.late.find(environment="Sandbox", transaction_id=known, operator_view=True)
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
                {(one.kind, one.detail) for one in world.open(world.ledger)},
                {("paid-not-granted", None), (
                    "not-verified", "rejected.app-store.inconsistent "
                    "notificationHistory[0].signedPayload.environment")})

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
        found = [(one.kind, one.detail, one.settled_by) for one in world.open(world.ledger)]
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
