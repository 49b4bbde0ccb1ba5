"""Test what a store does about refunds in a world of random purchases, refunds and reversals, of
which every notification comes in any order, repeatedly, and to a host that is stopped everywhere.

At the end what was given less what was taken back is what the newest signed state of each purchase
leaves (RFA-46), and Apple has got an answer about every question that its customer consented to,
and about no other (RFA-20, RFA-47).

  test_refunds.py            with ASSAY_LIBRARY and ASSAY_PROGRAM, on each engine that is installed
"""

import contextlib
import os
import pathlib
import random
import sys
import tempfile
import unittest
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import engines  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402

NOW = 1_790_000_000_000
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
COINS = "com.example.app.coins100"
FULL = 100_000
DECISIONS = {"REFUND": "refunded", "REFUND_DECLINED": "declined", "REFUND_REVERSED": "reversed"}


class Stopped(BaseException):
    """The process ends here."""


class Fragile:
    """An executor that stops the process before or after one of its steps."""

    def __init__(self, executor):
        self.executor, self.left = executor, None

    def __getattr__(self, name):
        return getattr(self.executor, name)

    def count(self):
        if self.left is not None:
            self.left -= 1
            if self.left <= 0:
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


class Purchase:
    """One purchase: what Apple signs about it, in the order in which Apple does."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        self.known = str(2_000_000_100_000_000 + number)
        self.quantity = world.random.choice((4, 20, 100))
        self.account = f"user{number % 5}"
        self.signed, self.notes, self.share, self.peak = NOW - 20 * DAY, 0, 0, 0
        # When Apple asked last, and what it has decided last.
        self.asked_at, self.decided_at, self.outcome = 0, 0, None
        self.consents = world.random.random() < 0.6
        self.bought = self.transaction()

    def transaction(self):
        revoked = {"revocationDate": self.signed, "revocationReason": 0,
                   "revocationPercentage": self.share} if self.share else {}
        return self.world.authority.transaction(
            product=COINS, type="consumable", transaction_id=self.known, quantity=self.quantity,
            original_transaction_id=self.known, purchased=NOW - 21 * DAY, signed=self.signed,
            set=revoked)

    def tell(self, type):
        """Return a notification, signed a minute to a day after the one before it."""
        self.signed += self.world.random.randrange(MINUTE, DAY)
        self.notes += 1
        return self.world.authority.mint(
            "notification", notification_type=type, product=COINS, type="consumable",
            transaction_id=self.known, original_transaction_id=self.known, quantity=self.quantity,
            purchased=NOW - 21 * DAY, signed=self.signed, set={
                "notificationUUID": str(uuid.UUID(int=self.number * 1000 + self.notes)),
                "data.signedTransactionInfo": self.transaction()}).decode().strip()

    def live(self):
        """Yield what Apple notifies: questions, refunds of a growing share, reversals."""
        for _ in range(self.world.random.randrange(1, 5)):
            if self.world.random.random() < 0.6:
                yield "CONSUMPTION_REQUEST", self.tell("CONSUMPTION_REQUEST")
                self.asked_at, self.outcome = self.signed, None
            if self.world.random.random() < 0.3:
                continue
            if self.share and self.world.random.random() < 0.5:
                type, self.share = "REFUND_REVERSED", 0
            elif self.world.random.random() < 0.3:
                type = "REFUND_DECLINED"
            elif self.share == FULL:
                continue
            else:
                # Never of a smaller share than one before: that takes nothing (RFA-45), also where
                # the reversal between them comes late.
                type = "REFUND"
                self.share = self.peak = min(FULL, max(self.peak, self.share + 25_000))
            yield type, self.tell(type)
            self.decided_at, self.outcome = self.signed, DECISIONS[type]

    @property
    def stays(self):
        """The units that the newest signed state leaves: the nearest, a half stays."""
        return self.quantity - (2 * self.quantity * self.share + FULL - 1) // (2 * FULL)


class World:
    """A host with a wallet beside its store, and an Apple that repeats what was not answered."""

    def __init__(self, authority, url, seed):
        self.authority, self.random, self.now = authority, random.Random(seed), NOW
        self.paid, self.taken, self.unsure = {}, {}, {}
        self.sent, self.decided, self.attempts = [], {}, 0
        self.ledger = Ledger(url, {
            **authority.config, "refunds": {"mode": "answer", "late": "send"},
            "ledger": {"engine": url.partition(":")[0].replace("postgresql", "postgres"),
                       **({"table": "assay"} if url.startswith("dynamodb") else {})}},
            create=True, clock=lambda: self.now / 1000)
        self.fragile = self.ledger.executor = Fragile(self.ledger.executor)
        self.purchases = {}

    def attempt(self):
        self.attempts += 1
        return f"attempt-{self.attempts}".ljust(24, "-")

    # ---- the host -----------------------------------------------------------------------

    def pay(self, grant):
        """Pay once for a grant id, and remember that nobody has confirmed it yet."""
        self.paid[grant.grant_id] = grant.purchase_key, grant.units
        self.unsure[grant.grant_id] = grant.purchase_key, grant.account

    def take(self, take):
        self.taken[take.take_id] = take.purchase_key, take.units

    def wallet(self, known):
        key = f"Sandbox/{known}"
        return sum(units for at, units in self.paid.values() if at == key) - \
            sum(units for at, units in self.taken.values() if at == key)

    def claim(self, purchase):
        evidence = self.ledger.verifier.verify_transaction(purchase.bought, now=self.now)
        found = self.ledger.claim(
            evidence, purchase.account, attempt_id=self.attempt(), grant=self.pay)
        return found.client_result not in (None, "deferred")

    def hear(self, purchase, type, text):
        """Handle a notification; return whether Apple hears 200."""
        note = self.ledger.verifier.verify_notification(text, now=self.now)
        if type == "CONSUMPTION_REQUEST":
            return self.ledger.open_refund(note).ok
        found = self.ledger.apply_event(
            note, attempt_id=self.attempt(), grant_mode="lease", take_back=self.take,
            grant=self.pay)
        if found.ok:
            self.decided[purchase.known] = max(
                self.decided.get(purchase.known, 0), note.signed_date)
        return found.ok

    def answer(self):
        """Answer the open cases, as far as their customers consented."""
        due = self.ledger.lease_due_refunds(attempt_id=self.attempt())
        for case in due.refunds:
            purchase = self.purchases[case.transaction_id]
            given = {"usage": {"consumed": self.random.randrange(5), "granted": 4}}
            if purchase.consents:
                given["consent"] = {"isGiven": True, "answeredAtMs": purchase.signed - DAY}
            answer, status = self.ledger.verifier.assess_refund(
                case.purchase, given, now=self.now), None
            if answer.request is not None:
                assert purchase.consents, "a request without consent"
                assert self.decided.get(purchase.known, 0) < case.asked_at_ms, \
                    "a request after Apple's decision"
                status = self.random.choice((
                    "ok", "ok", "unavailable.app-store.no-response"))
                self.sent += [(purchase.known, case.asked_at_ms)] * (status == "ok")
            self.ledger.settle_refund(
                case.environment, case.transaction_id, answer, status=status)
        return due.has_more

    def sweep(self):
        while self.ledger.resume_expired_revocations(
                attempt_id=self.attempt(), take_back=self.take).has_more:
            pass
        while self.ledger.resume_expired(attempt_id=self.attempt(), grant=self.pay).has_more:
            pass
        for grant_id, (key, account) in list(self.unsure.items()):
            found = self.ledger.complete(key, account, grant_id)
            was_taken = any(take.startswith(grant_id) for take in self.taken)
            if not found.ok and not was_taken:
                # A refund was faster: this payment was never told of.
                del self.paid[grant_id]
            del self.unsure[grant_id]

    # ---- the run -----------------------------------------------------------------------

    def run(self, count):
        """Deliver everything in any order and repeatedly, stopped at random places."""
        work = []
        for number in range(count):
            purchase = Purchase(self, number)
            self.purchases[purchase.known] = purchase
            if number % 2:
                # The customer has it before anything else happens.
                assert self.claim(purchase)
                self.unsure.clear()
            else:
                work.append(lambda purchase=purchase: self.claim(purchase))
            for type, text in purchase.live():
                work.append(lambda given=(purchase, type, text): self.hear(*given))
            if number % 2 == 0 and 0 < purchase.share < FULL:
                # A part of what nobody claimed before gives nothing (STO-35).
                purchase.share = FULL
                text = purchase.tell("REFUND")
                purchase.decided_at, purchase.outcome = purchase.signed, "refunded"
                work.append(lambda given=(purchase, "REFUND", text): self.hear(*given))
        work += self.random.sample(work, len(work) // 2)
        for _ in range(60):
            self.random.shuffle(work)
            left = []
            for each in work:
                if self.random.random() < 0.2:
                    self.stoppable(self.answer)
                if not self.stoppable(each):
                    left.append(each)
                self.now += self.random.randrange(SECOND)
            self.now += 2 * MINUTE
            self.stoppable(self.sweep)
            work = left
            if not work:
                break
        assert not work, f"{len(work)} notifications are refused for ever"

    def stoppable(self, work):
        self.fragile.left = self.random.randrange(1, 25) if self.random.random() < 0.3 else None
        try:
            return work()
        except Stopped:
            return False
        finally:
            self.fragile.left = None

    def settle(self):
        """Let the leases run out, and nobody be stopped any more."""
        for _ in range(8):
            self.now += 2 * MINUTE
            self.sweep()
            while self.answer():
                pass
        for purchase in self.purchases.values():
            # What was refunded before it was claimed, and is paid again.
            assert self.claim(purchase)


class Refunds(unittest.TestCase):
    def world(self, url, seed, count):
        with tempfile.TemporaryDirectory() as folder:
            world = World(Authority(folder=pathlib.Path(folder)), url, seed)
            with contextlib.closing(world.ledger):
                world.run(count)
                world.settle()
                self.check(world)

    def check(self, world):
        for purchase in world.purchases.values():
            self.assertEqual(world.wallet(purchase.known), purchase.stays, purchase.known)
        cases = {case.transaction_id: case for case in self.report(world)}
        asked = {each.known: each for each in world.purchases.values() if each.asked_at}
        self.assertEqual(set(cases), set(asked))
        sent = set(world.sent)
        for known, purchase in asked.items():
            case = cases[known]
            self.assertEqual(case.asked_at_ms, purchase.asked_at)
            self.assertEqual(case.outcome, purchase.outcome)
            is_decided = purchase.decided_at >= purchase.asked_at
            self.assertEqual(is_decided, purchase.outcome is not None)
            was_sent = (known, purchase.asked_at) in sent
            self.assertTrue(purchase.consents or not was_sent)
            if not is_decided:
                self.assertEqual(case.state, "sent" if purchase.consents else "silent")
            if case.sent_at_ms is not None:
                self.assertTrue(was_sent)

    def report(self, world):
        found = []
        for state in ("closed", "open"):
            after = None
            while True:
                page = world.ledger.report_refunds(
                    state=state, from_ms=NOW - 60 * DAY, until_ms=NOW + DAY, after=after)
                self.assertEqual(page.asked, len(page.refunds))
                self.assertEqual(page.answered, sum(
                    case.sent_at_ms is not None for case in page.refunds))
                self.assertEqual(page.asked, sum(each.count for each in page.outcomes))
                self.assertEqual(page.taken_units, sum(case.taken_units for case in page.refunds))
                if state == "closed":
                    found += page.refunds
                else:
                    self.assertEqual(page.refunds, ())
                if not page.has_more:
                    break
                after = page.after
        return found

    def on(self, name, seed, count):
        # moto's server is in the environment of the clients.
        is_environment = sys.prefix != sys.base_prefix
        with engines.scratch(pathlib.Path(sys.prefix) / "bin" if is_environment else None) as place:
            engine = place.engine(name)
            if engine.missing:
                self.skipTest(engine.missing)
            os.environ.update(engine.environment)
            engine.start()
            try:
                self.world(engine.url, seed, count)
            except ImportError as error:
                self.skipTest(f"no client: {error}")

    def test_sqlite(self):
        with tempfile.TemporaryDirectory() as folder:
            self.world(f"sqlite:///{folder}/ledger.db", 11, 60)

    def test_postgres(self):
        self.on("postgres", 12, 30)

    def test_mariadb(self):
        self.on("mariadb", 13, 30)

    def test_dynamodb(self):
        self.on("dynamodb", 14, 20)


if __name__ == "__main__":
    unittest.main()
