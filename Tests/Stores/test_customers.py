"""Test the index of customers on every engine: withdrawn consent between joins, restricted plans,
deletion, who is found how, and the same twice at once and killed in the middle.

  test_customers.py            with ASSAY_LIBRARY and ASSAY_PROGRAM
"""

import base64
import contextlib
import functools
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / "bindings/python"),
                str(ROOT / "bindings/python_testing")]

from tools.contract.reader import Contract  # noqa: E402

import assay  # noqa: E402
import engines  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402

NOW = 1_790_000_000_000
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
COINS, PREMIUM = "com.example.app.coins100", "com.example.app.premium.monthly"
KEY = base64.b64encode(bytes(range(32))).decode()
OTHER_KEY = base64.b64encode(bytes(range(1, 33))).decode()
CHILD = "704000000000000001"  # the download of all that the authority mints
TOKEN = "6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d10"
ENVIRONMENT = "Sandbox"


class Stopped(BaseException):
    """The process ends here."""


class Fragile:
    """An executor that stops the process, before or after one of its steps."""

    def __init__(self, executor):
        self.executor, self.left = executor, None

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


@functools.lru_cache(None)
def authority():
    return Authority(now=NOW)


class World:
    """A ledger with an index, and evidence for it."""

    def __init__(self, url, **more):
        self.url, self.now, self.number, self.attempts = url, NOW, 0, 0
        self.lock, self.more = threading.Lock(), more
        self.ledger = self.open()

    def open(self, create=True, **more):
        engine = self.url.partition(":")[0].replace("postgresql", "postgres")
        block = {"engine": engine, "forgetKey": KEY, "customerKey": KEY,
                 **self.more, **more}
        block = {name: value for name, value in block.items() if value is not None}
        config = {**authority().config, "ledger": block}
        return Ledger(self.url, config, create=create, clock=lambda: self.now / 1000)

    def attempt(self):
        with self.lock:
            self.attempts += 1
            return f"attempt-{self.attempts}".ljust(24, "-")

    def minted(self, product, type, download=CHILD, token=None, **options):
        with self.lock:
            self.number += 1
            known = str(2_000_000_100_000_000 + self.number)
        known = options.pop("known", known)
        members = {"appTransactionId": download}
        if token:
            members["appAccountToken"] = token
        jws = authority().transaction(
            product=product, type=type, transaction_id=known, original_transaction_id=known,
            purchased=options.pop("purchased", NOW - DAY),
            signed=options.pop("signed", NOW - HOUR),
            set={**members, **options.pop("set", {})}, **options)
        return self.ledger.verifier.verify_transaction(jws, self.now)

    def coins(self, **options):
        return self.minted(COINS, "consumable", **options)

    def month(self, **options):
        return self.minted(PREMIUM, "auto-renewable", expires=NOW + 30 * DAY, **options)

    def app(self, download=CHILD, **options):
        jws = authority().app_transaction(set={"appTransactionId": download}, **options)
        return self.ledger.verifier.verify_app_transaction(jws, self.now)

    def consent(self, signed=NOW - MINUTE, type="RESCIND_CONSENT"):
        jws = authority().notification(type, signed=signed)
        return self.ledger.verifier.verify_notification(jws, self.now)

    def claim(self, evidence, account, ledger=None):
        return (ledger or self.ledger).claim(evidence, account, attempt_id=self.attempt())

    def rescind(self, signed=NOW - MINUTE):
        return self.ledger.apply_event(self.consent(signed), attempt_id=self.attempt())

    def plan(self, account, ledger=None):
        """Return the plan of an account, and why it is restricted."""
        found = (ledger or self.ledger).get_plan(account)
        if found.restriction:
            assert found.status == "rejected.account.restricted", found.status
            assert found.http_status == 403, found.http_status
        else:
            assert found.ok, found.status
        return found.plan, found.restriction and found.restriction.reason

    def found(self, **question):
        """Return who is found, and how."""
        rows = self.ledger.find_customer(**question, operator_view=True).accounts
        return {row.account: row.by for row in rows}


class Cases:
    """What holds on every engine."""

    @contextlib.contextmanager
    def world(self, **more):
        raise NotImplementedError

    def test_off(self):
        """Without the setting nothing is joined, and the operations are refused (CUS-1)."""
        with self.world(customerKey=None) as world:
            claimed = world.claim(world.coins(), "ann")
            self.assertIsNone(claimed.restriction)
            self.assertEqual(world.rescind().restricted, ())
            for call in (lambda: world.ledger.find_customer(account="ann"),
                         lambda: world.ledger.record_customer(world.app(), "ann"),
                         lambda: world.ledger.restrict_customer(account="ann", reason="fraud"),
                         lambda: world.ledger.lift_restriction("ann", "fraud", "a note"),
                         lambda: world.ledger.get_customer_signals("ann"),
                         lambda: world.ledger.forget_customer(world.consent())):
                self.assertEqual(call().status, "config.ledger.customer-key")
            later = world.open(customerKey=KEY)
            self.assertEqual(later.find_customer(account="ann").account_count, 0)
            later.close()

    def test_consent(self):
        """All accounts at a download are restricted, and those that come later (CUS-20, 21)."""
        with self.world() as world:
            world.claim(world.coins(), "kim")
            world.ledger.update_subscriptions(world.month(), "kim-2")
            world.claim(world.coins(download="1"), "eve")
            self.assertEqual(world.plan("kim-2"), ("premium", None))
            first = world.rescind()
            self.assertEqual(
                {(one.account, one.role, one.changed) for one in first.restricted},
                {("kim", "payer", True), ("kim-2", "payer", True)})
            self.assertTrue(first.changed)
            again = world.rescind()
            self.assertEqual({(one.account, one.changed) for one in again.restricted},
                             {("kim", False), ("kim-2", False)})
            self.assertFalse(again.changed)
            self.assertEqual(world.plan("kim"), ("free", "consent"))
            self.assertEqual(world.plan("kim-2"), ("free", "consent"))
            self.assertEqual(world.plan("eve"), ("free", None))
            # A new purchase is recorded, by an account that comes later.
            late = world.claim(world.coins(), "kim-3")
            self.assertEqual((late.outcome, late.restriction.reason), ("new", "consent"))
            self.assertEqual(late.restriction.restricted_at_ms, NOW - MINUTE)
            updated = world.ledger.update_subscriptions(world.month(), "kim-3")
            self.assertEqual((updated.plan, updated.restriction.reason), ("free", "consent"))
            self.assertEqual(world.plan("kim-3"), ("free", "consent"))
            gone = world.ledger.deactivate_subscriptions("kim-3")
            self.assertEqual((gone.plan, gone.restriction.reason), ("free", "consent"))
            self.assertIsNone(world.claim(world.coins(download="1"), "eve").restriction)

    def test_unknown(self):
        """Consent is withdrawn before any account is known (CUS-20)."""
        with self.world() as world:
            first = world.rescind()
            self.assertEqual((first.restricted, first.has_more, first.changed), ((), False, False))
            found = world.ledger.record_customer(world.app(), "kim")
            self.assertEqual((found.outcome, found.restriction.reason), ("recorded", "consent"))
            self.assertEqual(world.plan("kim"), ("free", "consent"))

    def test_strangers(self):
        """Evidence of another account joins nothing (CUS-4)."""
        with self.world() as world:
            bought, month = world.coins(), world.month()
            world.claim(bought, "kim")
            world.ledger.update_subscriptions(month, "kim")
            self.assertEqual(world.claim(bought, "eve").outcome, "other-account")
            refused = world.ledger.update_subscriptions(month, "eve")
            self.assertEqual(refused.status, "rejected.subscription.other-account")
            self.assertEqual(world.found(environment=ENVIRONMENT, app_transaction_id=CHILD),
                             {"kim": ("download",)})
            with self.assertRaises(assay.MisuseError) as refused:
                world.ledger.record_customer(bought, "eve")
            self.assertEqual(refused.exception.status, "misuse.exchange.evidence")

    def test_person(self):
        """A person restricts and lifts; each reason is lifted by itself (CUS-23)."""
        with self.world() as world:
            world.ledger.update_subscriptions(world.month(), "kim")
            world.rescind()
            for changed in (True, False):
                made = world.ledger.restrict_customer(
                    account="kim", reason="fraud", note="chargeback", attempt_id=world.attempt())
                self.assertEqual([(one.account, one.role, one.changed) for one in made.restricted],
                                 [("kim", None, changed)])
                world.now += SECOND
            lift = functools.partial(world.ledger.lift_restriction, "kim", note="asked the parent")
            none = lift("legal")
            self.assertEqual((none.outcome, none.restriction.reason), ("none", "consent"))
            lifted = lift("consent")
            self.assertEqual((lifted.outcome, lifted.restriction.reason), ("lifted", "fraud"))
            self.assertEqual(world.plan("kim"), ("free", "fraud"))
            # The old notification comes late: consent was given again since.
            late = world.rescind()
            self.assertEqual((late.restricted, late.changed), ((), False))
            lifted = lift("fraud")
            self.assertEqual((lifted.outcome, lifted.restriction), ("lifted", None))
            self.assertEqual(world.plan("kim"), ("premium", None))
            # It is withdrawn anew.
            world.now += HOUR
            self.assertEqual([one.account for one in world.rescind(world.now).restricted], ["kim"])
            self.assertEqual(world.plan("kim"), ("free", "consent"))

    def test_evidence(self):
        """Only RESCIND_CONSENT restricts or deletes by evidence (CUS-20, CUS-24)."""
        with self.world() as world:
            for evidence in (world.consent(type="SUBSCRIBED"), world.app(), world.coins()):
                for call in (lambda about: world.ledger.restrict_customer(evidence=about),
                             world.ledger.forget_customer):
                    with self.assertRaises(assay.MisuseError) as refused:
                        call(evidence)
                    self.assertEqual(refused.exception.status, "misuse.exchange.evidence")
            with self.assertRaises(assay.MisuseError):
                world.ledger.restrict_customer(evidence=world.consent(), account="kim")
            self.assertEqual(world.ledger.restrict_customer(
                evidence=world.consent()).restricted, ())

    def test_forget(self):
        """Accounts are forgotten with their rows; the download stays (CUS-24)."""
        with self.world() as world:
            world.claim(world.coins(token=TOKEN), "kim")
            world.claim(world.coins(download="7001"), "kim")
            world.ledger.update_subscriptions(world.month(), "kim-2")
            world.claim(world.coins(download="7001"), "eve")
            gone = world.ledger.forget_customer(world.consent(), attempt_id=world.attempt())
            self.assertEqual({one.account for one in gone.accounts}, {"kim", "kim-2"})
            self.assertEqual((gone.has_more, gone.changed), (False, True))
            self.assertEqual({one.account: (one.forgotten.purchases, one.forgotten.subscriptions)
                              for one in gone.accounts}, {"kim": (2, 0), "kim-2": (0, 1)})
            again = world.ledger.forget_customer(world.consent(), attempt_id=world.attempt())
            self.assertEqual((again.accounts, again.has_more, again.changed), ((), False, False))
            self.assertEqual(world.found(app_account_token=TOKEN), {})
            self.assertEqual(world.found(environment=ENVIRONMENT, app_transaction_id="7001"),
                             {"eve": ("download",)})
            self.assertEqual(world.plan("kim"), ("free", None))
            # A new account of the same child does not pass.
            self.assertEqual(world.claim(world.coins(), "kim-4").restriction.reason, "consent")
            # An account by itself.
            world.ledger.forget_account("eve", attempt_id=world.attempt())
            self.assertEqual(world.found(account="eve"), {})

    def test_many(self):
        """More accounts than one exchange lists or forgets (CUS-20, CUS-24, CUS-62)."""
        with self.world() as world:
            app = world.app()
            for number in range(60):
                world.ledger.record_customer(app, f"user{number}")
            found = world.ledger.find_customer(
                environment=ENVIRONMENT, app_transaction_id=CHILD, account="user59")
            self.assertEqual((found.account_count, found.is_capped, found.accounts),
                             (50, True, ()))
            first = world.rescind()
            self.assertEqual((len(first.restricted), first.has_more), (50, True))
            for number in range(60):
                self.assertEqual(world.plan(f"user{number}"), ("free", "consent"))
            seen, more = set(), True
            while more:
                gone = world.ledger.forget_customer(world.consent(), attempt_id=world.attempt())
                seen |= {one.account for one in gone.accounts}
                more = gone.has_more
            self.assertEqual(len(seen), 60)

    def test_find(self):
        """Each way to an account, the surest first, with and without an operator (CUS-30, 31)."""
        with self.world() as world:
            bought = world.coins(token=TOKEN)
            world.claim(bought, "kim")
            month = world.month(set={"inAppOwnershipType": "FAMILY_SHARED"})
            world.ledger.update_subscriptions(month, "sam")
            world.ledger.record_customer(world.app(), "guest")
            by = {"evidence": bought}
            self.assertEqual(world.found(**by), {
                "kim": ("ledger", "token", "download"), "sam": ("download",),
                "guest": ("download",)})
            rows = world.ledger.find_customer(**by, operator_view=True).accounts
            self.assertEqual(rows[0].account, "kim")
            self.assertEqual({row.account: row.role for row in rows},
                             {"kim": "payer", "sam": "family", "guest": "holder"})
            self.assertEqual(world.found(evidence=month)["sam"], ("subscription", "download"))
            self.assertEqual(set(world.found(evidence=world.app())), {"kim", "sam", "guest"})
            self.assertEqual(set(world.found(evidence=world.consent())), {"kim", "sam", "guest"})
            self.assertEqual(world.found(app_account_token=TOKEN.upper()), {"kim": ("token",)})
            self.assertEqual(world.found(
                environment=ENVIRONMENT, transaction_id=bought.transaction_id),
                {"kim": ("ledger",)})
            self.assertEqual(set(world.found(account="sam")), {"kim", "sam", "guest"})
            # Another environment is another customer.
            self.assertEqual(world.found(environment="Production", app_transaction_id=CHILD), {})
            # Without an operator: counts, and whether the account is among them.
            found = world.ledger.find_customer(**by, account="sam")
            self.assertEqual((found.accounts, found.account_count, found.is_own), ((), 3, True))
            self.assertEqual(world.ledger.find_customer(**by, account="eve").is_own, False)
            self.assertIsNone(world.ledger.find_customer(**by).is_own)
            # Seen again, as a payer, a day later.
            world.now += DAY
            world.claim(world.coins(), "guest")
            row = next(row for row in world.ledger.find_customer(
                account="guest", operator_view=True).accounts if row.account == "guest")
            self.assertEqual((row.role, row.first_seen_at_ms, row.last_seen_at_ms),
                             ("payer", NOW, NOW + DAY))
            for wrong in ({}, {"environment": ENVIRONMENT}, {"app_transaction_id": CHILD},
                          {**by, "transaction_id": "1"},
                          {"app_account_token": TOKEN, "transaction_id": "1"}):
                with self.assertRaises(assay.MisuseError):
                    world.ledger.find_customer(**wrong)

    def test_merge(self):
        """A merge carries rows and restrictions to the other account (CUS-22)."""
        with self.world() as world:
            world.claim(world.coins(), "guest")
            world.claim(world.coins(download="7002", token=TOKEN), "ann")
            world.ledger.restrict_customer(account="guest", reason="legal")
            world.ledger.merge_accounts("guest", "ann", attempt_id=world.attempt())
            self.assertEqual(world.plan("ann"), ("free", "legal"))
            self.assertEqual(world.found(environment=ENVIRONMENT, app_transaction_id=CHILD),
                             {"ann": ("download",)})
            self.assertEqual([one.account for one in world.rescind().restricted], ["ann"])
            self.assertEqual(world.found(account="guest"), {})

    def test_signals(self):
        """Counts of the index and the ledger, which go into a risk as they are (CUS-40, 41)."""
        with self.world(transfer="allow", transferIntervalMs=0) as world:
            first = world.coins(token=TOKEN)
            for evidence in (first, world.coins(), world.coins(), world.coins()):
                world.claim(evidence, "kim")
            world.claim(world.coins(purchased=NOW - 366 * DAY), "kim")
            world.claim(world.coins(), "sam")
            world.claim(world.coins(download="7006"), "sam")
            for number in range(2, 5):
                refund = world.coins(
                    known=str(2_000_000_100_000_000 + number), signed=NOW,
                    set={"revocationDate": NOW - HOUR, "revocationReason": 0})
                world.ledger.revoke(refund)
            month = world.month()
            for turn, account in enumerate(("ann", "kim", "ann", "kim")):
                moved = world.minted(
                    PREMIUM, "auto-renewable", expires=NOW + 30 * DAY,
                    known=month.original_transaction_id, signed=NOW - HOUR + turn * MINUTE)
                world.ledger.update_subscriptions(moved, account)
            counted = world.ledger.get_customer_signals("kim")
            signals = counted.signals
            self.assertEqual(
                (signals.accounts_per_download, signals.download_count, signals.accounts_per_token,
                 signals.purchases, signals.refunds, signals.transfers, signals.is_restricted),
                (3, 1, 1, 4, 3, 3, False))
            self.assertEqual((signals.download_purchases, signals.download_refunds), (6, 3))
            self.assertEqual((signals.new_keys, signals.active_keys, signals.device_risk),
                             (0, 0, None))
            risk = world.ledger.verifier.assess_risk({
                "request": "restore", "attestation": "verified",
                "customer": counted.raw["signals"]})
            self.assertEqual((risk.verdict, list(risk.reasons)), ("step-up", ["RSK-11", "RSK-33"]))
            world.rescind()
            counted = world.ledger.get_customer_signals("kim")
            risk = world.ledger.verifier.assess_risk(
                {"request": "paid", "attestation": "verified", "customer": counted.raw["signals"]})
            self.assertEqual((risk.verdict, list(risk.reasons)),
                             ("deny", ["RSK-11", "RSK-29", "RSK-31"]))

    def test_other_key(self):
        """Another key is another index (CUS-2)."""
        with self.world() as world:
            world.claim(world.coins(), "kim")
            other = world.open(create=False, customerKey=OTHER_KEY)
            self.assertEqual(other.find_customer(
                environment=ENVIRONMENT, app_transaction_id=CHILD).account_count, 0)
            other.close()

    def test_killed(self):
        """Killed at any place, the repetition leads to the same (CUS-4, CUS-20, CUS-24)."""
        for place in range(14):
            with self.subTest(place=place), self.world() as world:
                world.claim(world.coins(), "kim")
                fragile = Fragile(world.ledger.executor)
                world.ledger.executor, bought = fragile, world.coins()
                calls = [
                    (lambda bought=bought, world=world: world.ledger.claim(
                        bought, "kim-2", attempt_id="attempt-of-the-second-one")),
                    lambda world=world: world.rescind(),
                    lambda world=world: world.ledger.forget_customer(
                        world.consent(), attempt_id="attempt-of-the-last-one-"),
                ]
                for call in calls:
                    fragile.left = place
                    with contextlib.suppress(Stopped):
                        call()
                    fragile.left = None
                    call()
                self.assertEqual(
                    world.found(environment=ENVIRONMENT, app_transaction_id=CHILD), {})
                self.assertEqual(world.claim(world.coins(), "kim-3").restriction.reason, "consent")

    def run_at_once(self, calls):
        """Run calls in threads, each again while the database is busy, and return the faults."""
        gate, faults = threading.Barrier(len(calls)), []

        def run(call):
            gate.wait()
            for _ in range(20):
                try:
                    found = call()
                except Exception as fault:
                    faults.append(fault)
                    return
                if found.ok:
                    return
                if not found.status.startswith("unavailable."):
                    faults.append(found.status)
                    return
            faults.append("busy for ever")

        threads = [threading.Thread(target=run, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return faults

    def test_at_once(self):
        """Joins, withdrawals and a merge at once: nobody at the download keeps a plan (CUS-60)."""
        for turn in range(self.turns):
            with self.subTest(turn=turn), self.world() as world:
                world.claim(world.coins(), "guest")
                opened, consent = [world.open(create=False) for _ in range(7)], world.consent()
                calls = [functools.partial(ledger.update_subscriptions, world.month(),
                                           f"kim-{number}")
                         for number, ledger in enumerate(opened[:4])]
                calls += [functools.partial(
                    ledger.apply_event, consent, attempt_id=f"attempt-{number}".ljust(24, "-"))
                    for number, ledger in enumerate(opened[4:6])]
                calls.append(functools.partial(
                    opened[6].merge_accounts, "guest", "kim-0", attempt_id=world.attempt()))
                self.assertEqual(self.run_at_once(calls), [])
                for number in range(4):
                    self.assertEqual(world.plan(f"kim-{number}"), ("free", "consent"), number)
                for ledger in opened:
                    ledger.close()

    turns = 3


class SQLite(Cases, unittest.TestCase):
    @contextlib.contextmanager
    def world(self, **more):
        with tempfile.TemporaryDirectory() as folder:
            self.file = f"{folder}/ledger.db"
            world = World(f"sqlite:///{self.file}", **more)
            yield world
            world.ledger.close()

    def texts(self):
        """Return all that the database has, as one text."""
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            return "\n".join(database.iterdump())

    def audits(self):
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            return database.execute(
                "SELECT action, owner, note FROM assay_audit ORDER BY action, owner").fetchall()

    def test_dump(self):
        """No id of a customer is stored in the clear, and none of a forgotten account (CUS-50)."""
        with self.world() as world:
            world.claim(world.coins(token=TOKEN), "kim")
            world.ledger.update_subscriptions(world.month(download="7003"), "kim")
            world.ledger.record_customer(world.app(), "sam")
            for _ in range(3):
                world.rescind()
            text = self.texts()
            self.assertIn("A#Sandbox#", text)
            for secret in (CHILD, "7003'", TOKEN, TOKEN.upper(), KEY):
                self.assertNotIn(secret, text)
            self.assertEqual(self.audits(), [("restrict", "kim", "consent"),
                                             ("restrict", "sam", "consent")])
            world.ledger.forget_customer(world.consent(), attempt_id=world.attempt())
            text = self.texts()
            self.assertIn("A#Sandbox#", text)
            for account in ("'kim'", "'sam'"):
                self.assertNotIn(account, text)

    def test_log(self):
        """What was deleted is in no file of SQLite, its log included (STO-93)."""
        with self.world() as world:
            world.claim(world.coins(), "account-to-forget")
            world.ledger.forget_customer(world.consent(), attempt_id=world.attempt())
            for file in pathlib.Path(self.file).parent.glob("ledger.db*"):
                self.assertNotIn(b"account-to-forget", file.read_bytes(), file.name)

    def test_audit(self):
        """A restriction and its end are in the audit, once (CUS-23)."""
        with self.world() as world:
            for _ in range(2):
                world.ledger.restrict_customer(account="kim", reason="fraud", note="chargeback")
            world.ledger.lift_restriction("kim", "fraud", "an error")
            self.assertEqual(self.audits(),
                             [("lift", "kim", "an error"), ("restrict", "kim", "chargeback")])

    def test_garbage(self):
        """Rows of accounts that have nothing go after 400 days; rescinded downloads stay."""
        with self.world() as world:
            world.ledger.record_customer(world.app("7004"), "guest")
            world.ledger.record_customer(world.app("7005"), "visitor")
            world.claim(world.coins(), "kim")
            world.ledger.record_customer(world.app(), "sam")
            world.rescind()
            world.now += 401 * DAY
            world.ledger.record_customer(world.app("7005"), "visitor")
            schema = world.ledger.verifier.exchange(
                {"operation": "describe-schema"}, now=world.now).document.json["exchange"]
            with contextlib.closing(sqlite3.connect(self.file)) as database:
                for call in schema["garbage"]:
                    database.execute(call["sql"], call["args"])
                database.commit()
                self.assertEqual(database.execute(
                    "SELECT account FROM assay_customer ORDER BY account").fetchall(),
                    [("kim",), ("visitor",)])
                self.assertEqual(database.execute(
                    "SELECT count(*), count(rescinded_at_ms) FROM assay_download").fetchone(),
                    (2, 1))


class Server(Cases):
    """An engine that is a server of this test."""

    name = ""

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

    number = 0

    @contextlib.contextmanager
    def world(self, **more):
        Server.number += 1
        world = self.empty(f"t{Server.number}_", more)
        yield world
        world.ledger.close()

    def empty(self, word, more):
        """Return a world whose tables are its own."""
        return World(self.engine.url, prefix=word, **more)


class Postgres(Server, unittest.TestCase):
    name = "postgres"


class MariaDB(Server, unittest.TestCase):
    name = "mariadb"


class Locks(unittest.TestCase):
    """Two transactions of the statements at once, each stopped before its end while the other runs
    (CUS-60)."""

    def session(self, name, engine):
        """Return a function that runs statements in one session, and its BEGIN and SLEEP."""
        if name == "postgres":
            command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", engine.url, "-f", "-"]
            words = "BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_sleep(1)"
        else:
            command = ["mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(engine.port), "-u",
                       "assay", "-N", "-B", "assay"]
            words = ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION",
                     "DO SLEEP(1)")

        def play(lines):
            done = subprocess.run(command, input=";\n".join(lines) + ";\n", text=True,
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split()
        return play, *words

    def both(self, play, first, second):
        """Run two sessions, the second while the first sleeps."""
        threads = [threading.Thread(target=play, args=(lines,)) for lines in (first, second)]
        threads[0].start()
        time.sleep(0.3)
        threads[1].start()
        for thread in threads:
            thread.join()

    def locks(self, name):
        contract = Contract()
        statements = {one.name: one.texts[name] for one in contract.statements
                      if name in one.texts}

        def text(statement, **values):
            return re.sub(":([a-z_]+)", lambda word: repr(values[word[1]]), statements[statement])

        with engines.scratch() as place:
            engine = place.engine(name)
            if engine.missing:
                self.skipTest(engine.missing)
            engine.start()
            play, begin, sleep = self.session(name, engine)
            for table in ("download", "customer", "restriction"):
                play([contract.tables[table].create(name)])

            def join(key, account, *between):
                row = {"id": key, "account": account, "role": 3, "first_seen_at_ms": 5,
                       "last_seen_at_ms": 5, "before_ms": 1}
                return [begin, text("downloadTake", id=key), text("customerInsert", **row),
                        text("customerSee", **row), text("restrictionOfDownload", **row),
                        *between, "COMMIT"]

            def rescind(key, *between):
                return [begin, text("downloadTake", id=key),
                        text("downloadRescind", id=key, at_ms=9),
                        text("restrictionsOfDownload", id=key), *between, "COMMIT"]

            def merge(*between):
                both = {"from": "guest", "to": "ann"}
                return [begin, text("linkDownloads", **both), text("linkCustomers", **both),
                        text("linkCustomersClear", **both), text("linkRestrictions", **both),
                        *between, "COMMIT"]

            for key in "ab":
                play(join(key, "known"))
            self.both(play, join("a", "kim", sleep), rescind("a"))
            self.both(play, rescind("b", sleep), join("b", "kim"))
            self.assertEqual(play(["SELECT source FROM assay_restriction WHERE account = 'kim' "
                                   "ORDER BY source"]), ["a", "b"])
            for number, calls in enumerate((
                    (merge(sleep), rescind("c0")), (rescind("c1", sleep), merge()))):
                play(join(f"c{number}", "guest"))
                self.both(play, *calls)
                self.assertEqual(play(["SELECT account FROM assay_restriction WHERE "
                                       f"source = 'c{number}' AND account = 'ann'"]), ["ann"])

    def test_postgres(self):
        self.locks("postgres")

    def test_mariadb(self):
        self.locks("mariadb")


class DynamoDB(Server, unittest.TestCase):
    name = "dynamodb"
    turns = 1

    @classmethod
    def tools(cls):
        import races

        return (races.python_tools.TOOLS.resolve() / "bin",)

    def empty(self, word, more):
        table = word + "assay"
        return World(self.engine.url.replace("//assay", f"//{table}"), table=table, **more)


if __name__ == "__main__":
    unittest.main()
