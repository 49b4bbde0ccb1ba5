"""The host of reconcile_world.py: a shop on one engine, its run, and what an oracle expects."""

import collections
import concurrent.futures
import contextlib
import random
import threading
import time

from assay.ledger import Ledger
from reconcile_apple import BEGIN, GONE, HOUR, MINUTE

PACE = {"get-notification-history": 1000, "get-all-subscription-statuses": 1000}
RUNNING, SUPERSEDED = "unavailable.reconcile.running", "rejected.reconcile.superseded"
#: Ends of an exchange that keep the place, while Apple's answers are faulty.
SILENT = {"unavailable.app-store.no-response", "unavailable.app-store.rate-limited"}


class Stopped(BaseException):
    """The process ends here."""


class Fragile:
    """An executor and a sender that stop the process, before or after one of their calls."""

    def __init__(self, executor, sender):
        self.executor, self.sender, self.left, self.calls = executor, sender, None, 0

    def __getattr__(self, name):
        return getattr(self.executor, name)

    def count(self):
        self.calls += 1
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


class Clock:
    """A time that is set, and goes on from there."""

    def __init__(self, now):
        self.set(now)

    def set(self, now):
        self.now, self.begun = now, time.monotonic()

    def __call__(self):
        return self.now / 1000 + time.monotonic() - self.begun

    @property
    def ms(self):
        return int(self() * 1000)

    def add(self, ms):
        self.set(self.ms + ms)


class Host:
    """A shop on one engine: what it grants and takes back, and its run."""

    def __init__(self, apple, url, seed, say=lambda text: None):
        self.apple, self.url, self.say = apple, url, say
        self.random, self.clock = random.Random(seed), Clock(BEGIN)
        self.wallet, self.granted, self.taken = collections.Counter(), set(), set()
        self.fates, self.attempts, self.lock = {}, 0, threading.Lock()
        self.superseded = self.turned_away = self.stopped = 0
        products = {**apple.mock.config["products"], GONE: {"type": "consumable"}}
        config = {**apple.mock.config, "ledger": {
            "engine": url.partition(":")[0].replace("postgresql", "postgres"),
            "rateLimits": PACE, "statementMs": 20_000, "requestMs": 60_000,
            **({"table": "assay"} if url.startswith("dynamodb") else {})}}
        # Two processes with the first catalogue, and one with the product that it lacks.
        self.ledger, self.other = self.opened(config), self.opened(config)
        self.later = self.opened({**config, "products": products})
        self.ledger.create_schema()

    def opened(self, config):
        ledger = Ledger(self.url, config, clock=self.clock)
        fragile = Fragile(ledger.executor, self.apple.send)
        ledger.executor, ledger._sender = fragile, fragile.send
        return ledger

    def close(self):
        for ledger in (self.ledger, self.other, self.later):
            ledger.close()

    def attempt(self):
        with self.lock:
            self.attempts += 1
            return f"attempt-{self.attempts}".ljust(24, "-")

    # ---- what it pays -----------------------------------------------------------------------

    def pay(self, grant):
        assert grant.grant_id not in self.granted, f"{grant.grant_id} was paid twice"
        self.granted.add(grant.grant_id)
        self.wallet[grant.purchase_key.partition("/")[2]] += grant.units

    def take(self, take):
        assert take.take_id not in self.taken, f"{take.take_id} was taken twice"
        self.taken.add(take.take_id)
        self.wallet[take.purchase_key.partition("/")[2]] -= take.units

    def sweep(self):
        for more, call in (("grant", self.later.resume_expired),
                           ("take_back", self.later.resume_expired_revocations)):
            work = self.pay if more == "grant" else self.take
            while True:
                found = call(attempt_id=self.attempt(), **{more: work})
                assert found.ok, found.document.json
                if not found.has_more:
                    break

    # ---- the month ----------------------------------------------------------------------

    def live(self):
        """Hear what arrives, in the order in which Apple sends it, while the customers claim."""
        for number, note in enumerate(self.apple.notes):
            self.clock.set(note.at + 1000)
            told = self.ledger.verifier.verify_notification(note.text, now=self.clock.ms)
            if note.purchase.notes[0] is note and note.purchase.comes == "at once":
                self.show(note.purchase, told)
            if not note.dropped:
                self.hear(note, told)
            self.say(f"{self.url.partition(':')[0]}: heard {number + 1:,} notifications of "
                     f"{len(self.apple.notes):,}, paid {len(self.granted):,} grants")
        self.clock.set(self.apple.now)

    def show(self, purchase, told):
        """The customer's app shows the purchase; one grant of twenty is killed."""
        if purchase.type != "consumable":
            assert self.ledger.update_subscriptions(told, purchase.account).ok
            self.fates[purchase] = "owned"
        elif purchase.product == GONE:
            # The shop refuses what it does not know.
            assert not self.ledger.claim(
                told, purchase.account, attempt_id=self.attempt(), grant=self.pay).ok
        elif self.random.random() < self.apple.chances.killed:
            self.fates[purchase] = "killed"
            assert self.ledger.claim(told, purchase.account, attempt_id=self.attempt()).ok
        else:
            self.fates[purchase] = "paid"
            assert self.ledger.claim(
                told, purchase.account, attempt_id=self.attempt(), grant=self.pay).ok

    def hear(self, note, told):
        """Handle a notification; one take-back of twenty is killed."""
        is_killed = (
            note.type == "REFUND" and self.random.random() < self.apple.chances.killed)
        if is_killed:
            note.dropped = "killed"
        found = self.ledger.apply_event(
            told, attempt_id=self.attempt(), grant_mode="lease", grant=self.pay,
            take_back=None if is_killed else self.take)
        if not found.ok:
            # Apple is told to come again, and does so in vain.
            assert found.status == "unavailable.claim.in-progress", found.document.json
            note.dropped = "failed"

    # ---- the oracle -----------------------------------------------------------------------

    def kind(self, purchase):
        """The difference of a purchase after a run over all notifications, if there is any."""
        fate, lost = self.fates.get(purchase), purchase.share > 0
        if purchase.type != "consumable":
            return None if fate or lost else "subscription-unowned"
        refund, reversal = purchase.note("REFUND"), purchase.note("REFUND_REVERSED")
        is_refund_seen = refund is not None and refund.dropped in (None, "killed")
        if fate is None:
            kind = "unknown-product" if purchase.product == GONE else "paid-not-granted"
            return None if lost else kind
        if fate == "killed":
            if refund is None or (not is_refund_seen and reversal and not reversal.dropped):
                return "claim-left-behind"
            if reversal is None or not reversal.dropped:
                return None
            return "reversal-not-given-back"
        if refund is None or (not is_refund_seen and reversal and not reversal.dropped):
            return None
        if not purchase.units(purchase.refunded):
            # A small part of one unit takes nothing.
            return None
        if refund.dropped:
            # Dropped, or its take-back was killed: a reversal waits for it (STO-35).
            return "refund-not-taken-back"
        return "reversal-not-given-back" if reversal and reversal.dropped else None

    def waits(self, purchase):
        """Whether a reversal came while the take-back of its refund was pending."""
        return self.kind(purchase) == "refund-not-taken-back" and purchase.was_reversed

    def target(self, purchase):
        """The units that the customer has at the end."""
        if purchase.share and self.fates.get(purchase) != "paid":
            # A part of what nobody had been given gives nothing (STO-35).
            return 0
        return purchase.quantity - purchase.units(purchase.share)

    # ---- the run ----------------------------------------------------------------------------

    def reconcile(self, name, ledgers, kills=0):
        """Run to the end, and return how many requests Apple has got.

        ledgers  one; or two, which want the run at once for a third of it
        kills    how often the process ends: four of five times in the history, on pages drawn at
                 random, and then between the rows that were left behind
        """
        apple, begun = self.apple, self.apple.requests
        pages, first = apple.pages_from(BEGIN - HOUR), apple.pages
        for ledger in ledgers:
            ledger.executor.calls = 0
        places = sorted(self.random.randrange(pages) for _ in range(kills * 4 // 5))
        stopped, part, apple.is_faulty = 0, "recheck", kills > 0
        while True:
            read, is_listed = apple.pages - first, part not in ("recheck", "events")
            self.say(f"{name}: {read:,} pages of {pages:,}, at {part}, {stopped} kills")
            left, most, rivals = None, self.random.choice((1, 3, 10)) if kills else 100, ledgers
            if stopped >= kills:
                # The second would begin the next run when the first has finished this one.
                rivals = ledgers[:1]
            if stopped < len(places) and read >= places[stopped]:
                # Anywhere in an exchange of one page.
                left, most = self.random.randrange(1, 10 + self.calls(ledgers) // (read + 1)), 1
            elif len(places) <= stopped < kills:
                most = 1
                if is_listed:
                    left, rivals = self.random.randrange(1, 8), ledgers[:1]
            found = self.turn(rivals, left, most)
            if None in found:
                stopped += 1
                # The lease of the killed process runs out.
                self.clock.add(6 * MINUTE)
            done = [one for one in found if one is not None and one.ok]
            # One of two may have begun the next run when the other had finished this one.
            is_over = all(one is not None and (one.ok or one.status in (RUNNING, SUPERSEDED))
                          for one in found) and not any(one.has_more for one in done)
            if done and is_over and stopped >= kills:
                break
            part = next((one.part for one in done), part) or "recheck"
        apple.is_faulty = False
        self.stopped += stopped
        return apple.requests - begun

    @staticmethod
    def calls(ledgers):
        return sum(ledger.executor.calls for ledger in ledgers)

    def turn(self, ledgers, left, most):
        """Run one exchange, or two at once, of which the first may lose its lease."""
        if len(ledgers) == 1 or self.random.random() > 1 / 3:
            return [self.exchange(ledgers[0], left, most)]
        return self.race(ledgers, left, most, is_slow=self.random.random() < 0.5)

    def race(self, ledgers, left=None, most=100, is_slow=False):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            first = pool.submit(self.exchange, ledgers[0], left, most)
            if is_slow:
                # The lease of the first ends under it.
                time.sleep(self.random.random() / 10)
                self.clock.add(6 * MINUTE)
            second = pool.submit(self.exchange, ledgers[1], None, most)
            return [first.result(), second.result()]

    def exchange(self, ledger, left, most):
        """Run one exchange; None if it was stopped."""
        ledger.executor.left = left
        try:
            found = ledger.reconcile(
                "Sandbox", parts=["events", "open"], from_ms=BEGIN - HOUR,
                attempt_id=self.attempt(), max_requests=most)
        except Stopped:
            return None
        finally:
            ledger.executor.left = None
        if not found.ok:
            assert found.status in SILENT | {RUNNING, SUPERSEDED}, found.document.json
        with self.lock:
            self.turned_away += found.status == RUNNING
            self.superseded += found.status == SUPERSEDED
        return found

    def open(self):
        """Return the open differences, as the oracle writes them."""
        found, after = [], None
        while True:
            page = self.later.list_differences(after=after)
            found += page.differences
            if not page.has_more:
                return found
            after = page.after

    # ---- the end ----------------------------------------------------------------------------

    def come(self):
        """Let the customers of the list come, and the shop find those who never do."""
        for one in self.open():
            purchase = self.known(one)
            if purchase not in self.fates:
                told = self.later.verifier.verify_notification(
                    purchase.notes[-1].text, now=self.clock.ms)
                if purchase.type == "consumable":
                    note = "of the list" if purchase.comes == "never" else None
                    found = self.later.claim(told, purchase.account, attempt_id=self.attempt(),
                                             grant=self.pay, note=note)
                else:
                    found = self.later.update_subscriptions(told, purchase.account)
                assert found.ok, found.document.json
                self.fates[purchase] = "paid"

    def known(self, one):
        return self.apple.known[one.original_transaction_id or one.transaction_id]

    def plans(self):
        """Return the subscriptions and unlocks whose plan is another than Apple's."""
        wrong = []
        for purchase in self.apple.purchases:
            if purchase.type == "consumable":
                continue
            found = self.later.get_plan(purchase.account)
            if purchase.share or purchase not in self.fates:
                good = found.plan == "free"
            else:
                good = (found.plan, found.expires_at_ms) == ("premium", purchase.expires_at)
            if not good:
                wrong.append((purchase.known, found.plan, found.expires_at_ms))
        return wrong
