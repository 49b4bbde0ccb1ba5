#!/usr/bin/env python3
"""Reconcile a month of purchases whose notifications were partly lost (docs/spec/reconcile.md).

  reconcile_world.py [--engines sqlite,postgres,mariadb,dynamodb] [--purchases 10000] [--seed 1]
                     [--tools FOLDER]

A fifth of Apple's notifications is dropped, half of these after the host answered 200; a twentieth
of the grants and of the take-backs is killed before its completion. The run is killed twenty times,
and for a third of it two threads want it at once. What it reports is compared with what an oracle
knows; then the sweeps run, the customers come, and nothing may differ any more.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import engines  # noqa: E402
from assay.ledger import Ledger  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402
from reconcile_apple import BEGIN, GONE, HOUR, MINUTE, Apple, Chances  # noqa: E402

KILLS = 20
#: The most requests to Apple of one run over 10,000 purchases.
MOST_REQUESTS = 1200
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
        """The difference of a purchase after a run over all notifications; None if there is none."""
        fate, lost = self.fates.get(purchase), purchase.share > 0
        if purchase.type != "consumable":
            return None if fate or lost else "subscription-unowned"
        refund, reversal = purchase.note("REFUND"), purchase.note("REFUND_REVERSED")
        is_refund_seen = refund is not None and refund.dropped in (None, "killed")
        if fate is None:
            kind = "unknown-product" if purchase.product == GONE else "paid-not-granted"
            return None if lost else kind
        if fate == "killed":
            if refund is None or not is_refund_seen and reversal and not reversal.dropped:
                return "claim-left-behind"
            if reversal is None or not reversal.dropped:
                return None
            return "reversal-not-given-back"
        if refund is None or not is_refund_seen and reversal and not reversal.dropped:
            return None
        if refund.dropped and purchase.units(purchase.refunded):
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
            done, is_listed = apple.pages - first, part not in ("recheck", "events")
            self.say(f"{name}: {done:,} pages of {pages:,}, at {part}, {stopped} kills")
            left, most, rivals = None, self.random.choice((1, 3, 10)) if kills else 100, ledgers
            if stopped < len(places) and done >= places[stopped]:
                # Anywhere in an exchange of one page.
                left, most = self.random.randrange(1, 10 + self.calls(ledgers) // (done + 1)), 1
            elif len(places) <= stopped < kills:
                most = 1
                if is_listed:
                    left, rivals = self.random.randrange(1, 11), ledgers[:1]
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
        found = [None, None]

        def work(at):
            found[at] = self.exchange(ledgers[at], left if at == 0 else None, most)

        threads = [threading.Thread(target=work, args=(at,)) for at in (0, 1)]
        threads[0].start()
        if self.random.random() < 0.5:
            # The first is slow: its lease ends under it.
            time.sleep(self.random.random() / 10)
            self.clock.add(6 * MINUTE)
        threads[1].start()
        for thread in threads:
            thread.join()
        return found

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


class World:
    """The whole of it: what is found, what is paid, and what is left."""

    def __init__(self, apple, host, say):
        self.apple, self.host, self.say = apple, host, say
        self.complaints = []

    def expect(self, is_good, complaint):
        if not is_good:
            self.complaints.append(complaint)

    def play(self):
        apple, host, begun = self.apple, self.host, time.monotonic()
        host.live()
        lived = time.monotonic()
        killed = host.reconcile("first run", (host.ledger, host.other), KILLS)
        ran = time.monotonic()
        self.compare({(kind, each.known) for each in apple.purchases if (kind := host.kind(each))})
        waiting = {("reversal-not-given-back", each.known) for each in apple.purchases
                   if host.waits(each)}
        found = collections.Counter(one.kind for one in host.open())
        host.come()
        host.sweep()
        host.clock.add(20 * MINUTE)
        requests = host.reconcile("second run", (host.later,))
        self.say("after the second run")
        self.compare(waiting)
        if waiting:
            host.sweep()
            host.clock.add(20 * MINUTE)
            host.reconcile("third run", (host.later,))
            self.compare(set())
        left = len(host.open())
        wrong = {each.known: (host.wallet[each.known], host.target(each))
                 for each in apple.purchases if each.type == "consumable"
                 and host.wallet[each.known] != host.target(each)}
        self.expect(not wrong, f"wallets (are, should be): {wrong}")
        plans = host.plans()
        self.expect(not plans, f"plans: {plans}")
        self.expect(requests <= MOST_REQUESTS, f"{requests:,} requests")
        self.expect(host.stopped == KILLS, f"{host.stopped} kills")
        dropped = collections.Counter(note.dropped for note in apple.notes)
        return [
            f"{apple.count:,} purchases, {len(apple.notes):,} notifications: "
            f"{dropped['failed']:,} failed, {dropped['lost']:,} lost after a 200",
            f"grants killed {list(host.fates.values()).count('killed')}, "
            f"take-backs killed {dropped['killed']}",
            f"run killed {host.stopped} times, turned away {host.turned_away} times, superseded "
            f"{host.superseded} times, {apple.faults} faulty answers",
            f"requests {requests:,} without faults, {killed:,} with them",
            f"found {dict(sorted(found.items()))}",
            f"left {left}, after {3 if waiting else 2} runs",
            f"grants paid {len(host.granted):,}, take-backs {len(host.taken):,}",
            f"seconds: {lived - begun:.0f} for the month, {ran - lived:.0f} for the run that was "
            f"killed, {time.monotonic() - ran:.0f} for what follows"]

    def compare(self, expected):
        """Compare the list of differences with the oracle's, row by row."""
        found = {(one.kind, self.host.known(one).known) for one in self.host.open()}
        self.expect(found == expected, f"reported and not so: {sorted(found - expected)[:20]}; "
                    f"not reported: {sorted(expected - found)[:20]}")


# ---- the command --------------------------------------------------------------------------


class Progress:
    """Prints every ten seconds what is done."""

    def __init__(self):
        self.text, self.begun = "", time.monotonic()
        threading.Thread(target=self.run, daemon=True).start()

    def __call__(self, text):
        self.text = text

    def run(self):
        while True:
            time.sleep(10)
            print(f"{time.monotonic() - self.begun:6.0f} s  {self.text}", flush=True)


@contextlib.contextmanager
def apple_of(count, seed, chances=Chances(), say=lambda text: None):
    """Yield the Apple of a month, with so many purchases."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder=pathlib.Path(folder))
        with MockApple(authority, clock=BEGIN) as mock:
            yield Apple(authority, mock, seed, count, chances, say)


def play(apple, url, seed, say=lambda text: None):
    """Play the month on one engine; return lines about it, and complaints."""
    host = Host(apple, url, seed, say)
    with contextlib.closing(host):
        world = World(apple, host, say)
        return world.play(), world.complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="sqlite,postgres,mariadb,dynamodb")
    parser.add_argument("--purchases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path(sys.prefix) / "bin")
    options = parser.parse_args()
    say, is_good = Progress(), True
    with apple_of(options.purchases, options.seed, say=say) as apple:
        for name in options.engines.split(","):
            with engines.scratch(options.tools) as place:
                engine = place.engine(name)
                if engine.missing:
                    print(f"{name}: skipped, {engine.missing}")
                    continue
                os.environ.update(engine.environment)
                engine.start()
                apple.reset()
                lines, complaints = play(apple, engine.url, options.seed, say)
            for line in lines + [f"MISSED: {one}" for one in complaints]:
                print(f"{name}: {line}", flush=True)
            is_good = is_good and not complaints
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
