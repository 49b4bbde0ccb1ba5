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
MINUTE, DAY = 60_000, 86_400_000
COINS, GONE = "com.example.app.coins100", "com.example.app.coins500"
PREMIUM = "com.example.app.premium.monthly"
# Nobody listens there: a delivery fails.
NOWHERE = "http://127.0.0.1:1/"
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

    def __init__(self, apple, url, seed):
        self.apple, self.random = apple, random.Random(seed)
        self.begun, self.now = time.monotonic(), NOW - 5 * DAY
        self.wallet, self.granted, self.taken = {}, set(), set()
        self.expected, self.target = set(), {}
        products = {**apple.config["products"], GONE: {"type": "consumable"}}
        config = {**apple.config, "ledger": {"engine": url.partition(":")[0].replace(
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

    def tell(self, known, type, subtype=None):
        """Let Apple notify, and return the notification as evidence."""
        more = {"subtype": subtype} if subtype else {}
        made = self.apple.play("notify", {"url": NOWHERE, "type": type, "transactionId": known,
                                          **more})
        return self.late.verifier.verify_notification(made["signedPayload"], now=self.now)

    def buy(self, product=COINS, type="consumable"):
        self.number += 1
        known = str(2_000_000_100_000_000 + self.number)
        self.apple.play("purchase", {
            "environment": "Sandbox", "type": type, "product": product, "transactionId": known,
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


if __name__ == "__main__":
    unittest.main()
