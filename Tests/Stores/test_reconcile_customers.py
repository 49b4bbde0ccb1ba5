"""Test the parts of `reconcile` that need an index of customers, on every engine: withdrawn
consent in a page, claims for an owner that is known, and the histories of all customers; killed at
any place, and at once with the customer's own claim.

  test_reconcile_customers.py  with ASSAY_LIBRARY and ASSAY_PROGRAM
"""

import base64
import contextlib
import functools
import os
import pathlib
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import assay  # noqa: E402
import engines  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402

NOW = 1_790_000_000_000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
COINS, PREMIUM = "com.example.app.coins100", "com.example.app.premium.monthly"
KEY = base64.b64encode(bytes(range(32))).decode()
TOKEN, SHARED, STRANGE = (f"6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d1{digit}" for digit in "012")
# Nobody listens there: a delivery fails.
NOWHERE = "http://127.0.0.1:1/"
HISTORY, REFUNDS = "/inApps/v2/history/", "/inApps/v2/refund/lookup/"
PACE = {"get-notification-history": 1000, "get-all-subscription-statuses": 1000,
        "get-transaction-history": 1000, "get-refund-history": 1000}


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
        if self.left < 0:
            self.left = None
            raise Stopped

    @contextlib.contextmanager
    def session(self):
        with self.executor.session() as execute:
            def call(step):
                self.count()
                found = execute(step)
                self.count()
                return found
            yield call

    def send(self, request):
        self.count()
        found = self.sender(request)
        self.count()
        return found


class World:
    """A ledger with an index of customers, and purchases of the mock Apple."""

    def __init__(self, apple, url, **block):
        self.apple, self.url, self.block = apple, url, block
        self.now, self.number, self.attempts = NOW, 0, 0
        self.lock, self.paid = threading.Lock(), []
        apple.play("clock", {"now": self.now})
        self.ledger = self.open()

    def open(self, create=True, decision=None, **more):
        engine = self.url.partition(":")[0].replace("postgresql", "postgres")
        block = {"engine": engine, "customerKey": KEY, "forgetKey": KEY, "rateLimits": PACE,
                 **self.block, **more}
        block = {name: value for name, value in block.items() if value is not None}
        config = {**self.apple.config, "environments": ["Production", "Sandbox"], "ledger": block}
        if decision:
            config["decision"] = decision
        ledger = Ledger(self.url, config, create=create, clock=lambda: self.now / 1000)
        fragile = Fragile(ledger.executor, self.apple.sender)
        ledger.executor, ledger._sender = fragile, fragile.send
        return ledger

    def pass_time(self, ms):
        self.now += ms
        self.apple.play("clock", {"now": self.now})

    def attempt(self):
        with self.lock:
            self.attempts += 1
            return f"attempt-{self.attempts}".ljust(24, "-")

    def buy(self, download, product=COINS, type="consumable", token=None, **more):
        self.number += 1
        known = str(2_000_000_100_000_000 + self.number)
        self.apple.play("purchase", {
            "environment": "Sandbox", "type": type, "product": product, "transactionId": known,
            "appTransactionId": download, "purchased": self.now, **more,
            **({"account": token} if token else {})})
        return known

    def tell(self, known, type="ONE_TIME_CHARGE"):
        """Let Apple notify, and return the notification as evidence; it does not arrive."""
        told = self.apple.play("notify", {"url": NOWHERE, "type": type, "transactionId": known})
        return self.ledger.verifier.verify_notification(told["signedPayload"], now=self.now)

    def refund(self, known):
        self.apple.play("refund", {"transactionId": known})

    def pay(self, grant):
        with self.lock:
            self.paid.append((grant.account, grant.purchase_key.partition("/")[2], grant.grant_id))

    def claim(self, evidence, account, ledger=None):
        return (ledger or self.ledger).claim(
            evidence, account, attempt_id=self.attempt(), grant=self.pay)

    def sweep(self):
        self.ledger.resume_expired(attempt_id=self.attempt(), grant=self.pay)

    def shown(self, account, download, **more):
        """Let an account buy and show a consumable, and return its id."""
        known = self.buy(download, **more)
        assert self.claim(self.tell(known), account).outcome == "new"
        return known

    def run(self, *parts, ledger=None, **more):
        more = {"from_ms": self.now - 2 * HOUR, **more}
        return (ledger or self.ledger).reconcile(
            more.pop("environment", "Sandbox"), parts=parts, attempt_id=self.attempt(), **more)

    def whole(self, *parts, **more):
        """Run to the end, and return what each exchange did."""
        done = []
        for _ in range(100):
            done.append(self.run(*parts, **more))
            if not done[-1].ok:
                raise AssertionError(done[-1].document.json)
            if not done[-1].has_more:
                return done
        raise AssertionError("the run does not end")

    def open_differences(self):
        found, after = [], None
        while True:
            page = self.ledger.list_differences(after=after)
            found += [(one.kind, one.transaction_id) for one in page.differences]
            if not page.has_more:
                assert len(found) == len(set(found)), found
                return set(found)
            after = page.after

    def owners(self, known):
        rows = self.ledger.find(
            environment="Sandbox", transaction_id=known, operator_view=True).rows
        return [(one.operator_view["account"] or "", one.state) for one in rows]

    def answer(self, path, *faults):
        """Let Apple's next answers to this path be these."""
        self.apple.play("script", [
            {"path": path, "nth": place, "fault": fault} for place, fault in enumerate(faults, 1)])


def asked(world, path):
    """Return how many requests with this path Apple has got."""
    return sum(one["path"].startswith(path) for one in world.apple.log)


class Cases:
    """What holds on every engine."""

    def place(self):
        """Return a context with a url of an empty ledger, and members of its block."""
        raise NotImplementedError

    @contextlib.contextmanager
    def world(self, **block):
        with self.place() as (url, more), tempfile.TemporaryDirectory() as folder, MockApple(
                Authority(folder=pathlib.Path(folder), now=NOW), clock=NOW) as apple:
            world = World(apple, url, **more, **block)
            try:
                yield world
            finally:
                world.ledger.close()

    # ---- withdrawn consent -----------------------------------------------------------

    def test_consent(self):
        """Withdrawn consent in a page restricts as `apply-event` does, once (RCN-32)."""
        with self.world() as world:
            known = world.shown("kim", "7001")
            world.shown("eve", "7002")
            world.tell(known, "RESCIND_CONSENT")
            world.pass_time(HOUR)
            done = world.run("events")
            self.assertEqual((done.ok, done.restricted, done.lost_count), (True, 1, 1))
            self.assertEqual(world.ledger.get_plan("kim").restriction.reason, "consent")
            self.assertIsNone(world.ledger.get_plan("eve").restriction)
            again = world.run("events")
            self.assertEqual((again.restricted, again.lost_count), (0, 0))
            self.assertEqual(again.notifications, done.notifications)

    # ---- claims for an owner that is known -------------------------------------------

    def test_owned(self):
        """What was paid is claimed for the only account of its token, and paid once (RCN-25)."""
        with self.world() as world:
            world.shown("kim", "7001", token=TOKEN)
            for account in ("ann", "bob"):
                world.shown(account, "7002", token=SHARED)
            world.paid.clear()
            owned = [world.buy("7001", token=TOKEN), world.buy("7009", token=TOKEN.upper())]
            lost = [world.buy("7001"), world.buy("7002", token=SHARED),
                    world.buy("7001", token=STRANGE)]
            gone, refunded = (world.buy("7001", token=TOKEN, **more)
                              for more in ({"product": "com.example.app.gone"}, {}))
            for known in (*owned, *lost, gone):
                world.tell(known)
            world.refund(refunded)
            world.tell(refunded, "REFUND")
            world.pass_time(HOUR)
            report = world.run("events")
            self.assertEqual((report.claimed, len(world.open_differences())), (0, 6))
            done = world.run("events", claim="owned")
            self.assertEqual((done.ok, done.claimed, done.lost_count), (True, 2, 2))
            self.assertEqual(world.paid, [], "a run pays nothing")
            self.assertEqual(world.run("events", claim="owned").claimed, 0)
            world.sweep()
            self.assertEqual({(who, what) for who, what, _ in world.paid},
                             {("kim", known) for known in owned})
            self.assertEqual(len(world.paid), 2)
            # The difference of the run that only reported closes when it is granted.
            world.run("events", claim="owned")
            self.assertEqual(world.open_differences(), {
                *(("paid-not-granted", known) for known in lost), ("unknown-product", gone)})
            self.assertEqual(world.owners(refunded), [("", "revoked")])
            world.sweep()
            self.assertEqual(len(world.paid), 2)

    def test_owned_tombstone(self):
        """A reversed refund of nobody's is claimed for its owner as well (RCN-24, RCN-25)."""
        with self.world() as world:
            world.shown("kim", "7001", token=TOKEN)
            world.paid.clear()
            known = world.buy("7001", token=TOKEN)
            world.refund(known)
            world.pass_time(HOUR)
            self.assertEqual(world.whole("customers", claim="owned")[0].claimed, 0)
            self.assertEqual(world.owners(known), [("", "revoked")])
            world.pass_time(HOUR)
            # Apple reverses the refund: the newest state is in force.
            again = world.apple.authority.transaction(
                product=COINS, type="consumable", transaction_id=known,
                original_transaction_id=known, purchased=NOW, signed=world.now,
                set={"appTransactionId": "7001", "appAccountToken": TOKEN})
            world.answer(HISTORY, {"status": 200, "contentType": "application/json", "body": {
                "signedTransactions": [again], "revision": "r1", "hasMore": False}})
            [done] = world.whole("customers", claim="owned")
            self.assertEqual((done.freed, done.claimed), (1, 1))
            world.sweep()
            self.assertEqual([(who, what) for who, what, _ in world.paid], [("kim", known)])

    def test_ignored_tokens(self):
        """A host that ignores tokens has none of an account (RCN-25)."""
        with self.world() as world:
            other = world.open(create=False, decision={"accountToken": "ignored"})
            world.shown("kim", "7001", token=TOKEN)
            known = world.buy("7001", token=TOKEN)
            world.tell(known)
            world.pass_time(HOUR)
            self.assertEqual(world.run("events", ledger=other, claim="owned").claimed, 0)
            self.assertEqual(world.open_differences(), {("paid-not-granted", known)})
            other.close()

    def test_owned_at_once(self):
        """A run and the customer's own claim at once: one owner, one grant (RCN-25)."""
        for turn in range(self.turns):
            with self.subTest(turn=turn), self.world() as world:
                world.shown("kim", "7001", token=TOKEN)
                world.paid.clear()
                known = world.buy("7001", token=TOKEN)
                told = world.tell(known)
                world.pass_time(HOUR)
                opened, done = [world.open(create=False) for _ in range(3)], []
                gate = threading.Barrier(3)

                def run(call, gate=gate, done=done):
                    gate.wait()
                    for _ in range(20):
                        found = call()
                        if found.ok or not found.status.startswith("unavailable.database"):
                            break
                    done.append(found.status)

                calls = [
                    functools.partial(world.run, "events", ledger=opened[0], claim="owned"),
                    functools.partial(world.claim, told, "kim", opened[1]),
                    functools.partial(world.claim, told, "eve", opened[2])]
                threads = [threading.Thread(target=run, args=(call,)) for call in calls]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(len(done), 3)
                world.sweep()
                self.assertEqual(len({one for one in world.paid if one[1] == known}), 1)
                [(owner, state)] = world.owners(known)
                self.assertEqual((owner, state), (world.paid[0][0], "granted"))
                for ledger in opened:
                    ledger.close()

    turns = 2

    # ---- the customers ---------------------------------------------------------------

    def test_customers(self):
        """Every customer is asked from where the last run ended (RCN-3)."""
        with self.world() as world:
            first = world.shown("kim", "7001")
            world.shown("ann", "7002")
            lost = [world.buy("7001") for _ in range(44)]
            late = world.buy("7002", type="auto-renewable", product=PREMIUM)
            nobody = world.buy("7003")
            world.refund(first)
            world.refund(lost[0])
            world.pass_time(HOUR)
            done = world.whole("customers", max_requests=1)
            # 45 transactions are three pages, two are one, beside the differences and the end.
            self.assertEqual([one.requests for one in done], [0, 1, 1, 1, 1, 0])
            self.assertEqual({one.part for one in done[:-1]}, {"customers"})
            self.assertEqual(sum(one.purchases for one in done), 47)
            self.assertEqual(sum(one.revoked for one in done), 1)
            self.assertEqual(world.open_differences(), {
                *(("paid-not-granted", known) for known in lost[1:]),
                ("refund-not-taken-back", first), ("subscription-unowned", late)})
            self.assertEqual(world.owners(nobody), [])
            world.pass_time(MINUTE)
            [again] = world.whole("customers")
            self.assertEqual((again.requests, again.purchases, again.found), (2, 0, ()))
            # Only what is new is read, and a refund is new.
            world.refund(lost[1])
            world.pass_time(MINUTE)
            [again] = world.whole("customers")
            self.assertEqual((again.requests, again.purchases), (2, 1))
            self.assertEqual([(one.kind, one.count) for one in again.closed],
                             [("paid-not-granted", 1)])
            self.assertNotIn(("paid-not-granted", lost[1]), world.open_differences())

    def test_refunds(self):
        """The refund histories alone, with revisions of their own (RCN-3)."""
        with self.world() as world:
            first = world.shown("kim", "7001")
            lost = [world.buy("7001") for _ in range(24)]
            for known in (first, *lost):
                world.refund(known)
            world.buy("7001")
            world.pass_time(HOUR)
            done = world.whole("refunds", max_requests=1)
            self.assertEqual([one.requests for one in done], [0, 1, 1, 0])
            self.assertEqual(sum(one.purchases for one in done), 25)
            self.assertEqual(sum(one.revoked for one in done), 1)
            self.assertEqual(world.open_differences(), {("refund-not-taken-back", first)})
            self.assertEqual((asked(world, REFUNDS), asked(world, HISTORY)), (2, 0))
            world.pass_time(MINUTE)
            self.assertEqual(world.whole("refunds")[0].purchases, 0)
            world.pass_time(MINUTE)
            self.assertEqual(world.whole("customers")[0].purchases, 26)

    def test_other_place(self):
        """A run asks about customers of its own environment (RCN-31)."""
        with self.world() as world:
            world.shown("kim", "7001")
            world.shown("ann", "7002", environment="Production")
            world.pass_time(HOUR)
            for environment in ("Sandbox", "Production"):
                [done] = world.whole("customers", environment=environment)
                self.assertEqual((done.requests, done.purchases), (1, 1))

    def test_no_transaction(self):
        """A customer without a purchase is not asked about, and with the first one is."""
        with self.world() as world:
            jws = world.apple.authority.app_transaction(set={"appTransactionId": "7001"})
            world.ledger.record_customer(
                world.ledger.verifier.verify_app_transaction(jws, world.now), "kim")
            self.assertEqual(world.whole("customers")[0].requests, 0)
            known = world.shown("kim", "7001")
            world.shown("kim", "7001")
            world.pass_time(MINUTE)
            self.assertEqual(world.whole("customers")[0].requests, 1)
            self.assertEqual(asked(world, HISTORY + known), 1)

    # ---- what Apple answers ----------------------------------------------------------

    def test_revision_refused(self):
        """A revision that Apple refuses is given up; without one the customer is unknown."""
        with self.world() as world:
            known = world.shown("kim", "7001")
            world.pass_time(MINUTE)
            world.whole("customers")
            world.pass_time(MINUTE)
            refused = {"errorCode": 4_000_005}
            world.answer(HISTORY, refused)
            done = world.whole("customers", max_requests=1)
            self.assertEqual([one.requests for one in done], [0, 1, 1, 0])
            self.assertEqual(sum(one.purchases for one in done), 1)
            self.assertEqual(world.open_differences(), set())
            world.pass_time(MINUTE)
            world.answer(HISTORY, refused, refused)
            [done] = world.whole("customers")
            self.assertEqual(done.requests, 2)
            self.assertEqual(world.open_differences(), {("unknown-at-apple", known)})
            # Apple knows the customer again.
            world.answer(HISTORY)
            world.pass_time(MINUTE)
            [done] = world.whole("customers")
            self.assertEqual([(one.kind, one.count) for one in done.closed],
                             [("unknown-at-apple", 1)])
            self.assertEqual(world.open_differences(), set())

    def test_unknown(self):
        """An unknown customer is a difference; ten in sequence end the exchange (RCN-30)."""
        for code in (4_040_010, 4_040_005, 4_040_001, 4_000_006):
            with self.subTest(code=code), self.world() as world:
                known = [world.shown(f"user{number}", str(7000 + number))
                         for number in range(10 if code == 4_040_010 else 2)]
                world.pass_time(MINUTE)
                world.answer(HISTORY, {"errorCode": code})
                [done] = world.whole("customers")
                self.assertEqual(done.requests, len(known))
                self.assertEqual(len(world.open_differences()), 1)
                self.assertEqual({kind for kind, _ in world.open_differences()},
                                 {"unknown-at-apple"})
                if len(known) < 10:
                    continue
                world.pass_time(MINUTE)
                world.answer(HISTORY, *[{"errorCode": code}] * 10)
                done = world.run("customers")
                self.assertEqual((done.status, done.has_more, done.requests),
                                 ("rejected.app-store.not-found", True, 10))

    def test_later(self):
        """Apple takes requests later: the customer is asked by the next exchange."""
        with self.world() as world:
            world.shown("kim", "7001")
            world.pass_time(MINUTE)
            world.answer(HISTORY, {"retryAfter": world.now + 30 * MINUTE})
            done = world.run("customers")
            self.assertEqual((done.status, done.has_more),
                             ("unavailable.app-store.rate-limited", True))
            self.assertGreater(done.not_before_ms, world.now)
            world.answer(HISTORY)
            world.pass_time(HOUR)
            self.assertEqual(world.whole("customers")[-1].purchases, 1)

    # ---- the setting -----------------------------------------------------------------

    def test_off(self):
        """Without an index the parts and the claims are refused, and consent is counted."""
        with self.world(customerKey=None) as world:
            for part, more in (("customers", {}), ("refunds", {}), ("open", {"claim": "owned"})):
                refused = world.run(part, **more)
                self.assertEqual((refused.status, refused.run),
                                 ("config.ledger.customer-key", None))
            with self.assertRaises(assay.MisuseError):
                world.run("open", claim="all")
            world.tell(world.shown("kim", "7001"), "RESCIND_CONSENT")
            world.pass_time(HOUR)
            done = world.run("events")
            self.assertEqual((done.ok, done.restricted, done.notifications), (True, 0, 2))

    def test_setting_taken_away(self):
        """A run that has begun with an index ends without one."""
        with self.world() as world:
            world.shown("kim", "7001")
            world.shown("ann", "7002")
            world.pass_time(MINUTE)
            self.assertTrue(world.run("customers", max_requests=1).has_more)
            other = world.open(create=False, customerKey=None)
            done = world.run("open", ledger=other)
            self.assertEqual((done.ok, done.has_more, done.requests), (True, False, 0))
            other.close()


class SQLite(Cases, unittest.TestCase):
    @contextlib.contextmanager
    def place(self):
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/ledger.db", {}

    def test_killed(self):
        """Stopped after any statement or request, the next exchange ends the same (RCN-12).

        Every third place, which are as often before as after a call.
        """
        stopped = True
        for place in range(0, 201, 3):
            if not stopped:
                return
            with self.subTest(place=place), self.world() as world:
                first = world.shown("kim", "7001", token=TOKEN)
                world.paid.clear()
                lost = [world.buy("7001", token=TOKEN) for _ in range(2)]
                strange = world.buy("7001")
                world.refund(first)
                world.pass_time(HOUR)
                world.ledger.executor.left, stopped = place, False
                try:
                    world.run("customers", claim="owned")
                except Stopped:
                    stopped = True
                world.ledger.executor.left = None
                before = len(world.apple.log)
                # The lease of the stopped process runs out.
                world.pass_time(6 * MINUTE)
                world.whole("customers", claim="owned")
                self.assertLessEqual(len(world.apple.log) - before, 1)
                world.sweep()
                self.assertEqual(sorted((who, what) for who, what, _ in world.paid),
                                 [("kim", known) for known in lost])
                self.assertEqual(world.open_differences(), {
                    ("paid-not-granted", strange), ("refund-not-taken-back", first)})
        self.fail("a run has more than 200 places")


class Server(Cases):
    """An engine that is a server of this test."""

    name = ""
    number = 0

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        place = cls.stack.enter_context(engines.scratch(*cls.tools()))
        cls.engine = place.engine(cls.name)
        if cls.engine.missing:
            cls.stack.close()
            raise unittest.SkipTest(cls.engine.missing)
        cls.engine.start()
        os.environ.update(cls.engine.environment)

    @classmethod
    def tools(cls):
        return ()

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @contextlib.contextmanager
    def place(self):
        Server.number += 1
        yield self.empty(f"t{Server.number}_")

    def empty(self, word):
        """Return a place for tables of its own."""
        return self.engine.url, {"prefix": word}


class Postgres(Server, unittest.TestCase):
    name = "postgres"


class MariaDB(Server, unittest.TestCase):
    name = "mariadb"


class DynamoDB(Server, unittest.TestCase):
    name = "dynamodb"
    turns = 1

    @classmethod
    def tools(cls):
        import races

        return (races.python_tools.TOOLS.resolve() / "bin",)

    def empty(self, word):
        table = word + "assay"
        return self.engine.url.replace("//assay", f"//{table}"), {"table": table}


if __name__ == "__main__":
    unittest.main()
