"""The ledger on SQLite, end to end, with evidence of a test authority: the requests of each call,
and its results in Python. The Swift tests check the rows (Tests/AssayTests/Ledger*Tests.swift), and
Tests/Stores/scenes.py the races of every engine."""
import asyncio
import base64
import importlib.util
import inspect
import json
import logging
import os
import sqlite3
import tempfile
import time
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

from steps import sql, step

import assay
from assay.ledger import AsyncLedger, Ledger, SQLite
from assay.ledger import results as kinds
from assay.ledger._sql import SQLSession
from assay.ledger._urls import opened

if importlib.util.find_spec("assay_testing") is None:
    raise unittest.SkipTest("assay_testing is not here")

HOUR, DAY = 3_600_000, 86_400_000
COINS, MONTHLY = "com.example.app.coins100", "com.example.app.premium.monthly"
LIFETIME = "com.example.app.lifetime"
FORGET_KEY = "k" * 43 + "="


def authority():
    """Return the authority of all tests, because making keys is slow."""
    if not hasattr(authority, "made"):
        from assay_testing import Authority

        authority.made = Authority()
    return authority.made


class LedgerTest(unittest.TestCase):
    numbers = iter(range(400_000_000_000_000, 500_000_000_000_000))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.now = int(time.time() * 1000)
        self.ledger = self.opened()
        self.pocket = {}

    def quietly(self):
        """Disable the log."""
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def config(self, **stores):
        return {**authority().config, "ledger": stores,
                "quotas": {"free": {"text": 20, "image": 0}, "premium": {"text": 3}}}

    def opened(self, name="shop.db", **stores):
        found = Ledger(f"sqlite:///{self.folder / name}", self.config(**stores), create=True,
                       clock=lambda: self.now / 1000)
        self.addCleanup(found.close)
        return found

    def rows(self, sql, name="shop.db"):
        other = sqlite3.connect(self.folder / name)
        try:
            return other.execute(sql).fetchall()
        finally:
            other.close()

    def transaction(self, product=COINS, type="consumable", id=None, signed=None, **options):
        id = id or str(next(self.numbers))
        jws = authority().transaction(
            product=product, type=type, environment="Production", transaction_id=id,
            original_transaction_id=options.pop("original", id),
            signed=self.now - 60_000 if signed is None else signed, **options)
        return self.ledger.verifier.verify_transaction(jws, self.now)

    def subscription(self, **options):
        options.setdefault("purchased", self.now - DAY)
        options.setdefault("expires", self.now + DAY)
        return self.transaction(MONTHLY, "auto-renewable", **options)

    def pay(self, grant):
        """Record a grant, once for each id."""
        self.pocket.setdefault(grant.grant_id, (grant.account, grant.product, grant.quantity))

    def assert_outcome(self, result, outcome, status="ok", http=None):
        self.assertEqual((result.outcome, result.status, result.ok),
                         (outcome, status, status == "ok"), result)
        if http is not None:
            self.assertEqual(result.http_status, http)


class ClaimTest(LedgerTest):
    def test_once_for_each_purchase_and_account(self):
        bought = self.transaction(quantity=2)
        first = self.ledger.claim(bought, "ann", grant=self.pay)
        self.assert_outcome(first, "new", http=200)
        self.assertEqual((first.client_result, first.changed, first.remaining),
                         ("granted", True, 0))
        self.assertEqual(list(self.pocket.values()), [("ann", COINS, 2)])
        again = self.ledger.claim(bought, "ann", grant=self.pay)
        self.assert_outcome(again, "already-granted", "rejected.purchase.already-granted", 200)
        self.assertEqual((again.client_result, again.changed), ("already-granted", False))
        self.assertEqual(again.claim.granted_at_ms, self.now)
        other = self.ledger.claim(bought, "bob", grant=self.pay)
        self.assert_outcome(other, "other-account", "rejected.purchase.other-account", 409)
        self.assertEqual((other.client_result, len(self.pocket)), ("refused-final", 1))

    def test_by_hand(self):
        bought = self.transaction()
        claim = self.ledger.claim(bought, "ann").claim
        self.assertTrue(claim.needs_grant)
        self.assertEqual((claim.client_result, claim.fencing_token, claim.lease_expires_at_ms),
                         (None, 1, self.now + 60_000))
        busy = self.ledger.claim(bought, "ann")
        self.assert_outcome(busy, "in-progress", "unavailable.claim.in-progress", 202)
        self.assertEqual((busy.client_result, busy.retry_after_ms), ("deferred", 60_000))
        for changed in (True, False):
            self.now += 1
            done = self.ledger.complete(claim.purchase_key, "ann", claim.grant_id, fencing_token=1)
            self.assert_outcome(done, "granted")
            self.assertEqual((done.client_result, done.changed), ("granted", changed))
        wrong = self.ledger.complete(claim.purchase_key, "ann", "0" * 64)
        self.assert_outcome(wrong, "superseded", "rejected.claim.superseded", 409)
        gone = self.ledger.complete("Production/1", "ann", "0" * 64)
        self.assert_outcome(gone, "resume", "unavailable.database.row-missing", 503)
        self.assertEqual(gone.client_result, "deferred")
        with self.assertRaises(assay.UnavailableError):
            gone.raise_for_status()

    def test_the_same_attempt_again(self):
        bought = self.transaction()
        first = self.ledger.claim(bought, "ann", attempt_id="a" * 22)
        again = self.ledger.claim(bought, "ann", attempt_id="a" * 22)
        self.assertEqual((again.outcome, again.claim.grant_id), ("new", first.claim.grant_id))

    def claim_with(self, bought, meanwhile):
        """Return a claim that finds an expired lease, with an action before it takes the claim
        over."""
        request = {"operation": "claim", "account": "ann", "attemptId": "b" * 22}
        with self.ledger.verifier.exchange(request, [bought], self.now) as exchange, \
                self.ledger.executor.session() as execute:
            while not exchange.done:
                given = exchange.payload["database"]
                if given["calls"][0]["sql"].startswith("UPDATE assay_purchase SET attempt_id"):
                    meanwhile()
                    meanwhile = None
                exchange.step(execute(given), self.now)
            self.assertIsNone(meanwhile, "it takes nothing over")
            return exchange.document.json["exchange"]["outcome"]

    def test_a_take_over_that_comes_too_late(self):
        for wanted, meanwhile in (
                ("already-granted", lambda bought, claim: self.ledger.complete(
                    claim.purchase_key, "ann", claim.grant_id, fencing_token=1)),
                ("other-account", lambda bought, claim: self.ledger.merge_accounts("ann", "eve")),
                ("in-progress", lambda bought, claim: self.ledger.resume(
                    claim.purchase_key, "ann"))):
            bought = self.transaction()
            claim = self.ledger.claim(bought, "ann", lease_ms=5000).claim
            self.now += 5000
            with self.subTest(wanted):
                self.assertEqual(
                    self.claim_with(bought, partial(meanwhile, bought, claim)), wanted)

    def test_a_grant_that_raises(self):
        bought = self.transaction()

        def fail(grant):
            raise LookupError("no such account")

        with self.assertRaises(LookupError):
            self.ledger.claim(bought, "ann", grant=fail)
        self.now += 60_000
        due = self.ledger.resume_expired(grant=self.pay)
        self.assertEqual([(each.outcome, each.client_result, each.fencing_token)
                          for each in due.claims],
                         [("resume", "granted", 2)])
        self.assertEqual((due.has_more, len(self.pocket)), (False, 1))
        self.assertEqual(self.ledger.resume_expired(grant=self.pay).claims, ())

    def test_a_grant_that_says_no(self):
        bought = self.transaction()
        found = self.ledger.claim(bought, "ann", grant=lambda given: False)
        self.assertEqual((found.client_result, found.changed), (None, False))
        self.assertEqual(self.rows("SELECT state FROM assay_purchase"), [("claimed",)])

    def test_hold_and_resume(self):
        bought = self.transaction()
        claim = self.ledger.claim(bought, "ann", lease_ms=5000).claim
        self.now += 6000
        held = self.ledger.claim(bought, "ann", on_expired_lease="hold")
        self.assert_outcome(held, "held", "unavailable.claim.held", 202)
        self.assertEqual(held.client_result, "deferred")
        self.assertEqual(
            [each.grant_id for each in self.ledger.resume_expired(on_expired_lease="hold").held],
                         [claim.grant_id])
        found = self.ledger.resume(claim.purchase_key, "ann", on_expired_lease="hold",
                                   resolution="not-granted", grant=self.pay, note="asked by phone")
        self.assert_outcome(found, "resume")
        self.assertEqual((found.client_result, len(self.pocket)), ("granted", 1))

    def test_refunded_then_revoked(self):
        bought = self.transaction()
        self.ledger.claim(bought, "ann", grant=self.pay)
        refunded = self.transaction(id=bought.transaction_id, refunded=True, signed=self.now)
        revoked = self.ledger.revoke(refunded)
        self.assertTrue(revoked.ok)
        self.assertEqual([(each.outcome, each.product, each.changed, each.grant_id)
                          for each in revoked.revocations],
                         [("was-granted", COINS, True, next(iter(self.pocket)))])
        again = self.ledger.claim(bought, "ann", grant=self.pay)
        self.assert_outcome(again, "revoked", "rejected.purchase.revoked", 409)
        self.assertEqual((again.client_result, len(self.pocket)), ("refused-final", 1))
        self.assertEqual(self.ledger.revoke(refunded).revocations[0].outcome, "already")

    def test_several_purchases(self):
        many = [self.transaction(purchased=self.now - HOUR * back) for back in (3, 2, 1)]
        self.ledger.claim(many[1], "bob", grant=self.pay)
        found = self.ledger.claim(many, "ann", grant=self.pay)
        self.assert_outcome(found, "new")
        self.assertEqual([each.outcome for each in found.claims],
                         ["new", "other-account", "new"])
        self.assertEqual((len(self.pocket), found.client_result), (3, "granted"))
        one = self.ledger.claim(many, "ann", max_purchases=1)
        self.assertEqual((len(one.claims), one.remaining), (1, 2))
        one = self.ledger.claim(many, "ann", transaction_ids=[many[1].transaction_id])
        self.assertEqual([each.outcome for each in one.claims], ["other-account"])

    def test_no_product_of_ours(self):
        found = self.ledger.claim(self.transaction("com.example.app.gone"), "ann")
        self.assert_outcome(found, "unknown-product", "rejected.product.unknown", 409)
        self.assertEqual(found.client_result, "refused-keep")

    def test_in_a_transaction(self):
        self.rows("CREATE TABLE coins (grant_id TEXT PRIMARY KEY, n INTEGER)")

        def pay(grant):
            grant.connection.execute("INSERT INTO coins VALUES (?, ?)",
                                     (grant.grant_id, 100 * grant.quantity))

        def fail(grant):
            pay(grant)
            raise LookupError

        bought = self.transaction()
        with self.assertRaises(LookupError):
            self.ledger.claim(bought, "ann", grant_mode="transaction", grant=fail)
        self.assertEqual(self.rows("SELECT * FROM assay_purchase"), [])
        no = self.ledger.claim(bought, "ann", grant_mode="transaction",
                               grant=lambda grant: pay(grant) is not None)
        self.assert_outcome(no, "in-progress", "unavailable.claim.in-progress", 202)
        self.assertEqual((no.client_result, no.retry_after_ms, no.claims), ("deferred", 0, ()))
        found = self.ledger.claim(bought, "ann", grant_mode="transaction", grant=pay)
        self.assert_outcome(found, "new")
        self.assertEqual((found.client_result, found.changed), ("granted", True))
        self.assertEqual(self.rows("SELECT n FROM coins"), [(100,)])
        again = self.ledger.claim(bought, "ann", grant_mode="transaction", grant=pay)
        self.assertEqual(again.client_result, "already-granted")
        with self.assertRaisesRegex(TypeError, "needs a grant"):
            self.ledger.claim(bought, "ann", grant_mode="transaction")

    def test_lookup(self):
        bought = self.transaction()
        self.assert_outcome(self.ledger.find(evidence=bought), "unused")
        self.ledger.claim(bought, "ann", grant=self.pay, note="by hand")
        self.now += 1000
        for found in (self.ledger.find("ann"), self.ledger.find("ann", evidence=bought),
                      self.ledger.find(environment="Production",
                                         transaction_id=bought.transaction_id)):
            row, = found.rows
            self.assertEqual((row.product, row.state, row.quantity, row.granted_at_ms),
                             (COINS, "granted", 1, self.now - 1000))
            self.assertIsNone(row.operator_view)
        other = self.ledger.find("bob", evidence=bought).rows[0]
        self.assertEqual((other.is_own, other.grant_id), (False, None))
        self.assertNotIn("ann", json.dumps(self.ledger.find("bob", evidence=bought).raw))
        own = self.ledger.find("bob", evidence=bought, operator_view=True).rows[0].operator_view
        self.assertEqual((own["account"], own["note"]), ("ann", "by hand"))

    def test_misuse(self):
        bought = self.transaction()
        for wrong in ({"account": "ann "}, {"account": "ann", "attempt_id": "short"},
                      {"account": "ann", "lease_ms": 1}):
            with self.assertRaises(assay.MisuseError):
                self.ledger.claim(bought, **wrong)
        self.assertRaises(TypeError, self.ledger.claim, "a JWS", "ann")


class EventTest(LedgerTest):
    """The effects of notifications, in every order (STO-33 to 36)."""

    def setUp(self):
        super().setUp()
        self.wallet, self.taken = {}, {}

    def give(self, grant):
        """Grant once for each id, as with a unique index."""
        self.wallet.setdefault(grant.grant_id, grant.units)

    def take(self, take):
        self.taken.setdefault(take.take_id, take.units)

    @property
    def balance(self):
        return sum(self.wallet.values()) - sum(self.taken.values())

    def signed(self, id, minutes, **options):
        """Return the transaction as Apple signed it so many minutes after the purchase."""
        return self.transaction(id=id, signed=self.now - HOUR + minutes * 60_000, **options)

    def event(self, evidence, **options):
        return self.ledger.apply_event(evidence, grant=self.give, take_back=self.take, **options)

    def row(self, id, name="shop.db"):
        """Return the state, and how many units are granted."""
        found = self.rows(
            f"SELECT state, granted_units FROM assay_purchase WHERE transaction_id = '{id}'", name)
        return found[0] if found else ("absent", 0)

    def refunded(self, **options):
        id = str(next(self.numbers))
        self.ledger.claim(self.signed(id, 10), "ann", grant=self.give)
        return id, self.signed(id, 20, refunded=True, **options)

    def test_take_backs_in_two_phases(self):
        """Check that an uncompleted take-back comes again under the same id (STO-35)."""
        id, refund = self.refunded()

        def dies(take):
            self.take(take)
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.ledger.apply_event(refund, take_back=dies)
        self.assertEqual(self.row(id), ("revoked", 1))
        busy = self.event(self.signed(id, 30))
        self.assertEqual((busy.status, busy.http_status, self.balance),
                         ("unavailable.claim.in-progress", 503, 0),
                         "effects follow states in their order")
        self.assertEqual(self.ledger.resume_expired_revocations().takes, ())
        self.now += 60_000
        due = self.ledger.resume_expired_revocations(take_back=self.take)
        self.assertEqual(([each.take_id for each in due.takes], len(self.taken), due.has_more),
                         (list(self.taken), 1, False))
        self.assertEqual(self.row(id), ("revoked", 0))
        take, = due.takes
        again = self.ledger.complete_revocation(take.purchase_key, take.take_id, take.fencing_token)
        self.assert_outcome(again, "already")
        late = self.ledger.complete_revocation(take.purchase_key, "0" * 64 + "-0",
                                               take.fencing_token)
        self.assert_outcome(late, "superseded", "rejected.claim.superseded", 409)
        back = self.event(self.signed(id, 30))
        self.assertEqual(([each.client_result for each in back.give], self.balance),
                         (["granted"], 1))
        self.assertNotEqual(*self.wallet)

    def test_what_is_told_without_a_take_back(self):
        """Check mode "none": a take-back is returned once, to the first caller (STO-35)."""
        id, refund = self.refunded()
        first, again = self.ledger.revoke(refund), self.ledger.revoke(refund)
        self.assertEqual([each.outcome for each in (*first.revocations, *again.revocations)],
                         ["was-granted", "already"])
        self.assertEqual([(each.units, each.account) for each in first.take], [(1, "ann")])
        self.assertEqual((again.take, again.revocations[0].grant_id), ((), None))
        self.assertEqual(self.row(id), ("revoked", 0))

    def test_less_than_was_given(self):
        """Check a customer who has spent units: the rest is stored, and does not come again
        (STO-35)."""
        id, refund = self.refunded(quantity=1)
        found = self.ledger.revoke(refund, take_back=lambda take: 0)
        self.assertEqual((found.ok, self.row(id)), (True, ("revoked", 0)))
        self.assertEqual(self.rows("SELECT action, note FROM assay_audit"), [("debt", "1")])
        id, refund = self.refunded()
        self.ledger.revoke(refund, take_back=lambda take: False)
        self.assertEqual(self.row(id), ("revoked", 1))

    def test_in_one_transaction(self):
        """Check mode "transaction": take-back and refund are committed together or not at all
        (STO-35)."""
        id, refund = self.refunded()
        self.rows("CREATE TABLE taken (take_id TEXT PRIMARY KEY, n INTEGER)")

        def take(given):
            given.connection.execute("INSERT INTO taken VALUES (?, ?)",
                                     (given.take_id, given.units))

        def fail(given):
            take(given)
            raise LookupError

        def give(given):
            given.connection.execute("DELETE FROM taken")

        for kind in (self.ledger.revoke, partial(self.ledger.apply_event, grant=give)):
            with self.assertRaises(LookupError):
                kind(refund, grant_mode="transaction", take_back=fail)
            self.assertEqual((self.row(id), self.rows("SELECT * FROM taken")),
                             (("granted", 1), []))
            with self.assertRaisesRegex(TypeError, "take_back"):
                kind(refund, grant_mode="transaction")
        for times in range(2):
            found = self.ledger.apply_event(refund, grant_mode="transaction", grant=give,
                                            take_back=take)
            self.assertEqual((found.ok, len(found.take), self.row(id)),
                             (True, 1 - times, ("revoked", 0)))
        self.assertEqual(self.rows("SELECT n FROM taken"), [(1,)])
        for times in range(2):
            back = self.ledger.apply_event(self.signed(id, 30), grant_mode="transaction",
                                           grant=give,
                                           take_back=take)
            self.assertEqual([each.client_result for each in back.give], ["granted"] * (1 - times))
        self.assertEqual((self.row(id), self.rows("SELECT * FROM taken")), (("granted", 1), []))

    def test_what_is_refused_of_an_event_is_said(self):
        """Check that the refused parts of an event are returned (BCK-42)."""
        found = self.event(self.signed(str(next(self.numbers)), 10, product="com.example.gone"))
        self.assertEqual((found.http_status, found.give, found.take), (200, (), ()))
        self.assertEqual([each.status for each in found.refused], ["rejected.product.unknown"])

    def test_a_store_that_is_away_in_the_middle(self):
        """Check a database that fails after a grant, which gives `deferred`, and after a take-back,
        which gives 503 (STO-20, STO-35)."""
        self.quietly()
        self.ledger.create_schema()
        away = mock.patch.object(SQLite, "run", side_effect=sqlite3.OperationalError("disk I/O"))
        self.addCleanup(mock.patch.stopall)

        def pays(grant):
            self.give(grant)
            away.start()

        def takes(take):
            self.take(take)
            away.start()

        id = str(next(self.numbers))
        found = self.ledger.claim(self.signed(id, 10), "ann", grant=pays)
        away.stop()
        self.assertEqual((found.client_result, found.http_status), ("deferred", 503))
        self.now += 60_000
        self.assertEqual(self.ledger.resume_expired(grant=self.give).claims[0].client_result,
                         "granted")
        self.assertEqual(self.balance, 1)
        refund = self.signed(id, 20, refunded=True)
        found = self.ledger.apply_event(refund, take_back=takes)
        away.stop()
        self.assertEqual((found.ok, found.http_status), (False, 503))
        self.now += 60_000
        self.assertEqual(self.event(refund).http_status, 200)
        self.assertEqual((self.row(id), self.balance), (("revoked", 0), 0))

    def test_two_modes_of_one_purchase(self):
        """Check that what was handed out under a lease is not granted in a transaction, too
        (STO-37)."""
        bought = self.transaction()

        def dies(grant):
            self.give(grant)
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.ledger.claim(bought, "ann", grant=dies)
        self.now += 60_000
        held = self.ledger.claim(bought, "ann", grant_mode="transaction", grant=self.fail)
        self.assert_outcome(held, "held", "unavailable.claim.held", 202)
        self.assertEqual((held.client_result, held.claim.reason), ("deferred", "lease"))
        told = []

        def pays(grant):
            told.append(grant.repeat)
            self.give(grant)

        found = self.ledger.claim(bought, "ann", grant_mode="transaction", allow_repeat=True,
                                  grant=pays)
        self.assertEqual((found.client_result, told, self.balance), ("granted", [True], 1))


class LineTest(LedgerTest):
    def test_apply_and_read(self):
        self.assertEqual(self.ledger.get_plan("ann").plan, "free")
        applied = self.ledger.update_subscriptions(self.subscription(), "ann")
        self.assertEqual((applied.ok, applied.plan, applied.expires_at_ms, applied.changed),
                         (True, "premium", self.now + DAY, True))
        line, = self.ledger.get_plan("ann").subscriptions
        self.assertEqual((line.plan, line.is_active, line.product_id), ("premium", True, MONTHLY))
        self.assertEqual(applied.subscriptions[0].subscription.expires_at_ms, line.expires_at_ms)
        self.now += DAY
        self.assertEqual(self.ledger.get_plan("ann").plan, "free")

    def test_a_line_that_moves(self):
        asking = self.opened(transfer="confirm")
        bought = self.subscription()
        asking.update_subscriptions(bought, "ann")
        newer = self.subscription(id=bought.transaction_id, signed=self.now)
        refused = asking.update_subscriptions(newer, "bob")
        self.assertEqual((refused.ok, refused.subscriptions[0].can_transfer), (False, True))
        self.now += DAY // 2
        asking.update_subscriptions(newer, "bob", confirm_transfer=True).raise_for_status()
        self.assertEqual([asking.get_plan(each).plan for each in ("ann", "bob")],
                         ["free", "premium"])

    def test_clear(self):
        bought = self.transaction(LIFETIME, "non-consumable")
        self.ledger.update_subscriptions(bought, "ann")
        cleared = self.ledger.deactivate_subscriptions("ann")
        self.assertEqual((cleared.plan, cleared.deactivated, cleared.changed), ("free", 1, True))
        self.assertEqual(self.ledger.update_subscriptions(bought, "ann").plan, "premium")

    def test_due_lines(self):
        bought = self.subscription()
        self.ledger.update_subscriptions(bought, "ann")
        self.assertEqual(self.ledger.lease_due_subscriptions().subscriptions, ())
        self.now += 2 * DAY
        due, = self.ledger.lease_due_subscriptions().subscriptions
        self.assertEqual((due.account, due.transaction_id, due.product_id),
                         ("ann", bought.transaction_id, MONTHLY))
        self.assertEqual(self.ledger.lease_due_subscriptions().subscriptions, ())

    def test_the_store_is_away(self):
        kept = self.opened(failOpen={"planMaxAgeMs": HOUR, "meters": []})
        self.ledger.update_subscriptions(self.subscription(), "ann")
        last = kept.get_plan("ann")
        self.quietly()
        with mock.patch.object(SQLite, "run", side_effect=sqlite3.OperationalError("disk I/O")):
            closed, opened = self.ledger.get_plan("ann"), kept.get_plan("ann", cached_plan=last)
        self.assertEqual((closed.ok, closed.plan, closed.http_status), (False, "free", 503))
        self.assertEqual((opened.ok, opened.plan, opened.is_cached), (True, "premium", True))


class MeterTest(LedgerTest):
    def test_quota(self):
        taken = [self.ledger.consume_quota("ann", "text", "free") for _ in range(21)]
        self.assertEqual((taken[0].limit, taken[0].left, taken[19].left), (20, 19, 0))
        self.assert_outcome(taken[0], "consumed", http=200)
        self.assert_outcome(taken[20], "exhausted", "rejected.quota.exhausted", 429)
        self.assertIn("Retry-After", taken[20].headers)
        back = self.ledger.release_quota(taken[3].ticket)
        self.assertEqual((back.outcome, back.used), ("released", 19))

    def test_units_and_none(self):
        self.assertEqual(self.ledger.consume_quota("ann", "text", "premium", 3).left, 0)
        none = self.ledger.consume_quota("ann", "image", "free")
        self.assert_outcome(none, "not-in-plan", "rejected.quota.not-in-plan", 403)
        self.assertEqual(none.fallback, "text")
        with self.assertRaises(assay.MisuseError):
            self.ledger.release_quota("forged")

    def test_sign_up(self):
        ledger = self.opened(signup={"limit": 2})
        name = "u_0123456789abcdef"
        first = ledger.begin_signup("192.0.2.1", name, 24)
        self.assertEqual((first.ok, first.left), (True, 1))
        exists = ledger.finish_signup(first.ticket, "exists")
        self.assertEqual((exists.outcome, exists.released, exists.http_status),
                         ("exists", True, 409))
        for _ in range(2):
            made = ledger.finish_signup(ledger.begin_signup("192.0.2.1", name, 24).ticket,
                                        "created")
            self.assertEqual((made.released, made.http_status), (False, 200))
        full = ledger.begin_signup("192.0.2.1", name, 24)
        self.assert_outcome(full, full.outcome, "rejected.signup.exhausted", 429)
        shape = ledger.begin_signup("192.0.2.1", "ann", 24)
        self.assert_outcome(shape, shape.outcome, "malformed.signup.credentials", 400)
        self.assertTrue(ledger.begin_signup(None, name, 24).ok)

    def test_pace(self):
        found = self.ledger.acquire_rate_permit("get-transaction-info", "Sandbox",
                                 bundle_id="com.example.app")
        self.assertEqual((found.outcome, found.used), ("acquired", 1))


class KeyTest(LedgerTest):
    def test_a_device(self):
        config = self.config()
        self.ledger = Ledger(self.ledger.executor, {**config, "attest": {
            **config["attest"], "challenge": {"mode": "whole"}}}, create=True,
            clock=lambda: self.now / 1000)
        made = self.ledger.issue_challenge("attest", "ann")
        self.assertEqual((len(made.challenge), made.expires_at_ms), (43, self.now + 300_000))
        object_ = authority().attestation(made.challenge)
        attestation = self.ledger.verifier.verify_attestation(
            object_.object, key_id=object_.key_id, client_data=object_.client_data)
        for _ in range(2):
            self.assert_outcome(
                self.ledger.consume_challenge("attest", "ann", evidence=attestation),
                                "consumed")
        self.assert_outcome(self.ledger.register_device_key(attestation, "ann"), "registered")
        self.now += 1
        self.assert_outcome(self.ledger.register_device_key(attestation, "ann"), "already")
        other = self.ledger.register_device_key(attestation, "bob")
        self.assert_outcome(other, "other-account", "rejected.device-key.other-account", 403)
        key = self.ledger.get_device_key(attestation.key_id, "ann").key
        self.assertEqual((key.public_key, key.counter),
                         (base64.b64encode(attestation.public_key).decode(), 0))
        request = self.ledger.issue_challenge("assert", "ann").challenge
        said = authority().assertion(request, counter=1)
        assertion = self.ledger.verifier.verify_assertion(
            said.object, public_key=key.public_key, counter=key.counter,
            client_data=said.client_data)
        self.assertTrue(self.ledger.consume_challenge("assert", "ann", evidence=assertion).ok)
        moved = self.ledger.advance_device_key_counter(assertion, "ann")
        self.assertEqual((moved.ok, moved.counter), (True, 1))
        again = self.ledger.advance_device_key_counter(assertion, "ann")
        self.assert_outcome(again, "replayed", "rejected.device-key.replayed", 409)
        self.assertTrue(self.ledger.retire_device_key(attestation.key_id, "ann").ok)
        self.assert_outcome(self.ledger.advance_device_key_counter(assertion, "ann"), "retired",
                            "rejected.device-key.retired", 401)

    def test_a_challenge_of_the_host(self):
        made = self.ledger.issue_challenge("apple-id", "ann", challenge="c" * 43)
        self.assertEqual(made.challenge, "c" * 43)
        used = [self.ledger.consume_challenge("apple-id", "ann", challenge=made.challenge,
                                              used_by=by)
                for by in ("one", "one", "two")]
        self.assertEqual([each.outcome for each in used], ["consumed", "consumed", "used"])
        self.assert_outcome(used[2], "used", "rejected.challenge.used", 401)
        self.assert_outcome(self.ledger.consume_challenge("apple-id", "ann", challenge="d" * 43,
                                                          used_by="x"),
                            "unknown", "rejected.challenge.unknown")

    def test_once(self):
        found = [self.ledger.record_event("NOTE#1"), self.ledger.record_event("NOTE#1")]
        self.assertEqual([(each.ok, each.outcome) for each in found],
                         [(True, "first"), (False, "duplicate")])
        self.assertEqual(self.ledger.record_event("NOTE#2", attempt_id="a" * 22).outcome, "first")
        self.assertEqual(self.ledger.record_event("NOTE#2", attempt_id="a" * 22).outcome, "first")


class AccountTest(LedgerTest):
    def test_link(self):
        bought = self.transaction()
        self.ledger.claim(bought, "anon", grant=self.pay)
        self.ledger.update_subscriptions(self.subscription(), "anon")
        linked = self.ledger.merge_accounts("anon", "ann", reason="signed in")
        self.assert_outcome(linked, "merged")
        self.assertEqual((linked.moved.subscriptions, linked.moved.purchases, linked.has_more),
                         (1, 1, False))
        self.assertEqual(self.ledger.get_plan("ann").plan, "premium")
        self.assertEqual(self.ledger.claim(bought, "ann").outcome, "already-granted")
        self.assert_outcome(self.ledger.merge_accounts("anon", "ann"), "already")
        for one, other in (("ann", "anon"), ("anon", "bob")):
            refused = self.ledger.merge_accounts(one, other)
            self.assert_outcome(refused, refused.outcome, "rejected.account.merged", 409)

    def test_forget(self):
        ledger = self.opened(forgetKey=FORGET_KEY)
        bought = self.transaction()
        ledger.claim(bought, "ann@example.com", grant=self.pay)
        ledger.update_subscriptions(self.subscription(), "ann@example.com")
        self.assert_outcome(ledger.forget_account("ann@example.com"), "forgotten")
        self.assert_outcome(ledger.forget_account("ann@example.com"), "already")
        self.assertEqual(ledger.claim(bought, "new").outcome, "other-account")
        other = sqlite3.connect(self.folder / "shop.db")
        self.addCleanup(other.close)
        self.assertNotIn("ann@example.com", "".join(other.iterdump()))
        with self.assertRaises(assay.ConfigError):
            self.ledger.forget_account("ann").raise_for_status()

    def test_evidence(self):
        ledger = self.opened(keepEvidence=True)
        bought = self.transaction()
        claim = ledger.claim(bought, "ann", grant=self.pay).claim
        kept, = ledger.get_evidence(purchase_key=claim.purchase_key).evidence
        self.assertEqual(ledger.verifier.verify_transaction(kept.text).transaction_id,
                         bought.transaction_id)
        self.assertEqual(ledger.get_evidence([kept.sha256]).evidence, (kept,))
        self.assertEqual(ledger.get_evidence(["0" * 64]).missing, ("0" * 64,))


class OpeningTest(LedgerTest):
    def test_the_schema(self):
        self.ledger.create_schema()
        self.ledger.consume_quota("ann", "text", "free")
        self.ledger.create_schema()
        self.ledger.delete_expired_rows()
        self.assertEqual(self.rows("SELECT used FROM assay_quota"), [(1,)])
        self.now += 30 * DAY
        self.ledger.delete_expired_rows()
        self.assertEqual(self.rows("SELECT used FROM assay_quota"), [])

    def test_a_schema_that_drifted(self):
        found = self.ledger.check_schema()
        self.assertEqual((found.ok, found.primary), (True, True))
        self.assertIn("subscription", found.raw["tables"])
        self.quietly()
        for change, status, http in (
                ("ALTER TABLE assay_subscription RENAME COLUMN owner TO holder",
                 "unavailable.database.statement-failed", 503),
                ("DROP TABLE assay_subscription", "config.ledger.schema", 500)):
            with self.ledger.executor.session() as execute:
                execute(step(sql(change)))
            found = self.ledger.check_schema()
            self.assertEqual((found.ok, found.status, found.http_status),
                             (False, status, http), change)

    def test_tables_are_made_when_asked(self):
        """Check that only `create_schema` creates the tables and the file (STO-78)."""
        self.quietly()
        bare = Ledger(SQLite(self.folder / "bare.db"), self.config())
        self.assertEqual(bare.get_plan("ann").status, "unavailable.database.statement-failed")
        self.assertFalse((self.folder / "bare.db").exists())
        made = bare.create_schema()
        self.assertEqual((made.outcome, made.version, len(made.lineage)), ("created", 3, 32))
        checked = bare.check_schema()
        self.assertEqual((checked.version, checked.lineage), (3, made.lineage))
        self.assertEqual(bare.get_plan("ann").plan, "free")
        again = bare.create_schema()
        self.assertEqual((again.outcome, again.lineage), ("exists", made.lineage))

    def test_nothing_begins_anew(self):
        """Check that a missing table, a missing file, another folder and an empty file are refused,
        and that no purchase is granted again (STO-78)."""
        self.quietly()
        bought = self.transaction()

        def dropped(path):
            other = sqlite3.connect(path)
            other.execute("DROP TABLE assay_purchase")
            other.close()

        def moved(path):
            path.rename(path.with_name("elsewhere.db"))

        def emptied(path):
            path.unlink()
            path.touch()

        for number, lose in enumerate((dropped, Path.unlink, moved, emptied)):
            store = SQLite(self.folder / f"lost{number}.db")
            first = Ledger(store, self.ledger.verifier, create=True,
                           clock=lambda: self.now / 1000)
            self.assertEqual(first.claim(bought, "ann", grant=self.pay).client_result, "granted")
            store.close()
            for left in self.folder.glob(f"lost{number}.db-*"):
                left.unlink()
            lose(self.folder / f"lost{number}.db")
            later = Ledger(SQLite(self.folder / f"lost{number}.db"), self.ledger.verifier)
            with self.subTest(lose.__name__):
                found = later.claim(bought, "bob", grant=self.fail)
                self.assertEqual((found.client_result, found.http_status), ("deferred", 503))
                self.assertFalse(later.check_schema().ok)
        # In a database with a part of the tables nothing is created, whichever ledger tries.
        part = Ledger(SQLite(self.folder / "lost0.db"), self.ledger.verifier, create=True)
        for call in (part.create_schema, lambda: part.claim(bought, "bob", grant=self.fail)):
            with self.assertRaises(assay.ConfigError) as caught:
                call()
            self.assertEqual((caught.exception.status, caught.exception.at),
                             ("config.ledger.schema", "assay_purchase"))

    def test_another_database_under_one_name(self):
        """Check another database under one name (STO-78)."""
        first = self.ledger.check_schema() if self.ledger.create_schema() else None
        self.assertTrue(first.ok and first.lineage)
        self.assertTrue(self.ledger.check_schema().ok)
        self.ledger.close()
        for left in self.folder.glob("shop.db*"):
            left.unlink()
        self.opened().create_schema()
        other = self.ledger.check_schema()
        self.assertEqual((other.ok, other.status), (False, "config.ledger.lineage"))

    def test_forget_leaves_nothing(self):
        """Check that neither rows nor the write-ahead log contain a forgotten account or an account
        merged into it, with the ledger still open (STO-93)."""
        keeping = self.opened(forgetKey=FORGET_KEY, keepEvidence=True)
        keeping.claim(self.transaction(), "device-17", grant=self.pay, note="of device-17")
        keeping.consume_quota("customer-4711", "text", "premium")
        keeping.merge_accounts("device-17", "customer-4711", reason="signed in")
        self.assertTrue(keeping.forget_account("customer-4711").ok)
        for file in self.folder.iterdir():
            for name in (b"device-17", b"customer-4711"):
                self.assertNotIn(name, file.read_bytes(), file.name)

    def test_a_store_that_is_away_at_the_first_use(self):
        self.quietly()
        first = Ledger(SQLite(self.folder / "first.db"), self.config(), create=True)
        away = sqlite3.OperationalError("disk I/O error")
        with mock.patch.object(SQLite, "run", side_effect=away):
            self.assertEqual(first.get_plan("ann").status, "unavailable.database.statement-failed")
            with self.assertRaises(assay.UnavailableError):
                first.create_schema()
        self.assertEqual(first.get_plan("ann").plan, "free")

    def test_one_verifier_for_two_stores(self):
        second = Ledger(SQLite(self.folder / "other.db"), self.ledger.verifier, create=True)
        self.assertIs(second.verifier, self.ledger.verifier)
        second.claim(self.transaction(), "ann", grant=self.pay)
        self.assertEqual(self.ledger.find("ann").rows, ())

    def test_what_does_not_fit(self):
        config = self.config()
        with self.assertRaisesRegex(ValueError, "no block `ledger`"):
            Ledger("sqlite:////x/x.db", authority().verifier)
        with self.assertRaisesRegex(ValueError, "the URL says 'sqlite'"):
            Ledger("sqlite:////x/x.db", {**config, "ledger": {"engine": "redis"}})
        with self.assertRaises(assay.ConfigError):
            Ledger("sqlite:////x/x.db", self.config(leaseMs=1))
        with self.assertRaises(TypeError):
            Ledger(7, config)
        self.assertEqual(Ledger("sqlite:////x/x.db", json.dumps(config)).verifier
                         .configuration["ledger"]["engine"], "sqlite")

    def test_urls(self):
        for wrong in ("shop.db", "oracle://x", "sqlite://shop.db", "sqlite:////x.db?mode=ro",
                      "sqlite:///", "sqlite:///x.db", "dynamodb://t?zone=1"):
            with self.assertRaises(ValueError):
                opened(wrong, False)
        with self.assertRaisesRegex(ValueError, "not async"):
            AsyncLedger("sqlite:////x/x.db", self.config())
        self.assertEqual(opened("sqlite:///./a%20b.db", False)[0]._path,
                         Path("a b.db").absolute())
        self.assertEqual(opened("sqlite:////a/b.db", False)[0]._path, Path("/a/b.db"))

    def test_both_ledgers_are_the_same(self):
        for name, method in inspect.getmembers(Ledger, inspect.isfunction):
            if not name.startswith("_"):
                other = getattr(AsyncLedger, name)
                self.assertTrue(asyncio.iscoroutinefunction(other), name)
                self.assertEqual(inspect.signature(method), inspect.signature(other), name)
        self.assertIn("sqlite", repr(self.ledger))

    def test_async(self):
        """Check `AsyncLedger` over an executor that calls SQLite."""
        class Session:
            def __init__(self, real):
                self.real = real

            @property
            def connection(self):
                return self.real.connection

            async def __call__(self, step):
                return self.real(step)

            async def grant(self, step, call):
                given = []
                said = self.real.grant(step, given.append)
                await call(given[0])
                return said

            async def __aenter__(self):
                return self

            async def __aexit__(self, *_):
                self.real.close()

        self.ledger.create_schema()
        real = self.ledger.executor
        store = mock.Mock(engine="sqlite", session=lambda: Session(real.session()))
        ledger = AsyncLedger(store, self.config(), create=True)
        bought = self.transaction()

        async def pay(grant):
            self.pay(grant)

        async def run():
            first = await ledger.claim(bought, "ann", grant=pay)
            again = await ledger.claim(bought, "ann", grant=pay, grant_mode="transaction")
            return first.client_result, again.client_result, (
                await ledger.resume_expired(grant=pay)).claims, \
                (await ledger.get_plan("ann")).plan

        self.assertEqual(asyncio.run(run()), ("granted", "already-granted", (), "free"))

    def test_a_claim_is_one_step(self):
        """Check that a claim leaves nothing if its commit fails (EXC-24)."""
        self.quietly()
        self.ledger.get_plan("ann")  # creates the tables
        bought, marks, carry_out = self.transaction(), [], SQLSession.__call__

        def noted(session, step):
            marks.append(step["transaction"])
            return carry_out(session, step)

        with mock.patch.object(SQLSession, "__call__", noted):
            with mock.patch.object(SQLite, "commit", side_effect=sqlite3.OperationalError(
                    "disk I/O error")):
                self.assertEqual(self.ledger.claim(bought, "ann").status,
                                 "unavailable.database.statement-failed")
            self.assertEqual(self.rows("SELECT * FROM assay_purchase_key"), [])
            self.assertEqual(self.ledger.claim(bought, "ann").outcome, "new")
        self.assertEqual(marks, ["single", "single"])

    def test_in_a_child(self):
        """Check one ledger for a server that forks."""
        self.ledger.get_plan("ann")
        bought = self.transaction()
        child = os.fork()
        if child == 0:
            found = self.ledger.claim(bought, "ann", grant=self.pay).client_result
            os._exit(0 if found == "granted" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.ledger.claim(bought, "ann").client_result, "already-granted")

    def test_a_wait_longer_than_the_patience(self):
        self.quietly()
        hasty = Ledger(self.ledger.executor, self.config(), max_wait=0)
        self.ledger.create_schema()
        with mock.patch.object(SQLite, "run", side_effect=sqlite3.OperationalError(
                "database is locked")):
            found = hasty.get_plan("ann")
        self.assertEqual((found.ok, found.status, found.http_status),
                         (False, "pending.exchange.wait", 503))
        with self.assertRaises(assay.PendingError):
            found.raise_for_status()

    def test_a_step_prints_no_values(self):
        """Check that a step prints no values (EXC-22)."""
        request = {"operation": "find", "account": "ann@example.com"}
        with self.ledger.verifier.exchange(request) as exchange:
            self.assertIn("ann@example.com", json.dumps(exchange.payload))
            for shown in (exchange.payload, exchange.payload["database"],
                          exchange.payload["database"]["calls"][0]):
                self.assertNotIn("ann@example.com", repr(shown))
                self.assertIn("assay_purchase", repr(shown))

    def test_results_print_no_document(self):
        self.assertNotIn("document", repr(self.ledger.get_plan("ann")))
        self.assertIsNone(kinds.ClaimResult.of(self.ledger.get_plan("ann").document).claim)


if __name__ == "__main__":
    unittest.main()
