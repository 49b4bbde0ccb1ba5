"""Test the checker: it accepts histories of the model and finds each planted fault."""

import json
import pathlib
import random
import tempfile
import time
import unittest

import history
from models import FOREVER, HALVED, Operation, models_of
from pretended import FAULTS, Rows


class Made:
    """A random history of interleaved processes; the model returns each result between begin and
    end."""

    def __init__(self, seed, processes=16, killed=0.02, fault=None, kinds=None, rows=12,
                 halved=False):
        self.random = random.Random(seed)
        self.rows = Rows(fault, seed)
        self.processes, self.killed, self.many = processes, killed, rows
        self.kinds = kinds or [self.claim, self.complete, self.revoke, self.grant, self.take,
                               self.refund, self.issue, self.consume, self.bind, self.advance,
                               self.apply, self.read, self.clear, self.once, self.link,
                               self.pay, self.paid, self.due]
        self.now, self.names = 0, 0
        self.halved, self.held = halved, set()
        self.operations = []

    def run(self, number):
        """Return a history of `number` operations."""
        busy = {}
        while len(self.operations) < number:
            self.now += 1
            at = self.random.randrange(self.processes)
            if at not in busy:
                op, args = self.random.choice(self.kinds)()
                busy[at] = [op, args, self.now, None]
            elif busy[at][3] is None and self.random.random() > self.killed / 2:
                if self.halved and busy[at][0] == "pay" and at not in self.held:
                    self.held.add(at)
                    self.rows.one("purchase", busy[at][1]["key"], "hold", busy[at][1])
                    continue
                busy[at][3] = self.rows.perform(*busy[at][:2])
            else:
                self.held.discard(at)
                self.end(at, *busy.pop(at))
        for at, (op, args, began, _) in busy.items():
            self.end(at, op, args, began, None)
        return self.operations

    def end(self, at, op, args, began, answer):
        unclear = answer is None or self.random.random() < self.killed / 2
        outcome, result = ("unclear", {}) if unclear else answer
        self.operations.append(Operation(
            f"w{at}", len(self.operations), op, args, began,
            FOREVER if unclear else self.now, outcome, result))

    # ---- operations ---------------------------------------------------------

    def pick(self, name, number=None):
        return f"{name}{self.random.randrange(number or self.many)}"

    def name(self):
        self.names += 1
        return f"n{self.names // self.random.choice([1, 1, 1, 2])}"

    def claim(self):
        version = self.random.randrange(3)
        return "claim", {"key": self.pick("p"), "account": self.pick("a", 2), "now": self.now,
                         "lease": 400, "attempt": self.name(), "evidence": f"e{version}",
                         "asof": 10 * version}

    def pay(self):
        some = self.pick("q") if self.random.random() < 0.5 else self.pick("p")
        return "pay", {**self.claim()[1], "key": some}

    def paid(self):
        return "paid", {"key": self.pick("q")}

    def due(self):
        return "due", {"attempt": self.name(), "lease": 400, "now": self.now}

    def complete(self):
        return "complete", {"key": self.pick("p"), "account": self.pick("a", 2),
                            "gen": self.random.randrange(2)}

    def revoke(self):
        version = self.random.randrange(2)
        return "revoke", {"key": self.pick(self.random.choice("pq")), "evidence": f"r{version}",
                          "asof": 10 * version + 5}

    def grant(self):
        return "grant", {"key": self.pick("p"), "gen": self.random.randrange(2)}

    def take(self):
        return "take", {"key": self.pick("c"), "units": self.random.choice([1, 1, 3]), "limit": 8}

    def refund(self):
        return "refund", {"key": self.pick("c"), "units": 1}

    def issue(self):
        return "issue", {"key": self.pick("ch"), "purpose": "attest", "subject": self.pick("a", 2),
                         "now": self.now, "expires": self.now + 300}

    def consume(self):
        return "consume", {"key": self.pick("ch"), "purpose": "attest", "now": self.now,
                           "subject": self.pick("a", 2), "by": self.pick("by", 4)}

    def bind(self):
        return "bind", {"key": self.pick("k"), "account": self.pick("a", 2), "public": "p"}

    def advance(self):
        return "advance", {"key": self.pick("k"), "account": self.pick("a", 2),
                           "counter": self.random.randrange(1000)}

    def apply(self):
        asof, line = self.random.randrange(100), self.random.randrange(self.many)
        some = [f"a{line // 6}", f"b{line // 6}", ""]
        return "apply", {"key": f"l{line}", "asof": asof, "evidence": f"e{asof}",
                         "account": self.random.choice(some), "revoking": asof % 3 == 0}

    def read(self):
        return "read", {"account": self.pick(self.random.choice("ab"), self.many // 6)}

    def clear(self):
        return "clear", self.read()[1]

    def once(self):
        return "once", {"key": self.pick("o", 200), "attempt": self.name()}

    def link(self):
        group = 5 * self.random.randrange(40)
        origin, target = self.random.sample(range(group, group + 5), 2)
        return "link", {"from": f"a{origin}", "to": f"a{target}"}


def operation(process, op, began, ended, outcome="ok", result=None, **args):
    """Return one operation of a hand-made history."""
    return Operation(process, began, op, {"key": "x", **args}, began,
                     FOREVER if outcome == "unclear" else ended, outcome, result or {})


def claim(process, began, ended, said, *, account="a", attempt=None, asof=0, now=0, **more):
    good = said in ("new", "resume")
    return operation(process, "claim", began, ended, "ok" if good else "refused",
                     {"outcome": said, **more}, account=account, attempt=attempt or process,
                     asof=asof, evidence=f"e{asof}", now=now, lease=100)


def take(process, began, ended, used=None, limit=2):
    return operation(process, "take", began, ended, "refused" if used is None else "ok",
                     {} if used is None else {"used": used}, units=1, limit=limit)


class Random(unittest.TestCase):
    """Histories whose results the model itself returned."""

    def test_faultless(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                self.assertEqual(history.check(Made(seed).run(600)), [])

    def test_many_killed(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                self.assertEqual(history.check(Made(seed, killed=0.3).run(300)), [])

    def test_each_fault_is_found(self):
        for name in FAULTS:
            with self.subTest(fault=name):
                made = Made(7, fault=name)
                operations = made.run(3000)
                self.assertGreater(made.rows.struck, 0, "it never struck")
                self.assertNotEqual(history.check(operations), [])

    def test_twenty_thousand(self):
        operations = Made(1, rows=60).run(20_000)
        begin = time.process_time()
        self.assertEqual(history.check(operations), [])
        print(f"20,000 operations: {time.process_time() - begin:.1f} s")

    def test_one_hot_counter(self):
        made = Made(2, killed=0.05)
        made.kinds, made.many = [made.take, made.refund], 1
        self.assertEqual(history.check(made.run(2000)), [])

    def test_counts_without_numbers(self):
        """101 of 200 simultaneous consumptions pass, without the count in their results."""
        takes = [operation(f"w{at}", "take", at, 1000 + at, "ok" if at < 101 else "refused",
                           {}, units=1, limit=100) for at in range(200)]
        self.assertEqual(len(history.check(takes)), 1)
        takes[100] = takes[100].__class__(**{**takes[100].__dict__, "outcome": "refused"})
        self.assertEqual(history.check(takes), [])


class Planted(unittest.TestCase):
    """The faults that STO-97 names, each with a similar correct history."""

    def sound(self, *operations):
        self.assertEqual(history.check(operations), [])

    def broken(self, *operations):
        self.assertEqual(len(history.check(operations)), 1)

    def test_acknowledged_claim_lost(self):
        first = claim("w1", 1, 2, "new", gen=0)
        self.sound(first, claim("w2", 3, 4, "other-account", account="b"))
        self.broken(first, claim("w2", 3, 4, "new", account="b", gen=0))
        self.broken(first, operation("w1", "complete", 3, 4, "refused",
                                     {"outcome": "row-missing"}, account="a", gen=0))
        self.broken(first, operation("w2", "lookup", 3, 4, "ok", {"outcome": "absent"}))

    def test_unclear_claim_may_be_lost_but_does_not_vanish(self):
        killed = operation("w1", "claim", 1, 0, "unclear", account="a", attempt="w1", asof=0,
                           evidence="e0", now=0, lease=100)
        other = claim("w2", 3, 4, "other-account", account="b")
        self.sound(killed, other)
        self.sound(killed, claim("w2", 3, 4, "new", account="b"))
        self.broken(killed, other, claim("w3", 5, 6, "new", account="b"))
        self.broken(claim("w2", 3, 4, "in-progress"), killed.__class__(
            **{**killed.__dict__, "began": 5}))

    def test_claim_granted_twice(self):
        self.broken(claim("w1", 1, 5, "new"), claim("w2", 2, 6, "new"))
        self.sound(claim("w1", 1, 5, "new"), claim("w2", 2, 6, "in-progress"))
        self.sound(claim("w1", 1, 5, "new"), claim("w1", 6, 7, "new", attempt="w1"))

    def test_take_over(self):
        first = claim("w1", 1, 2, "new", fence=1)
        self.sound(first, claim("w2", 3, 4, "resume", now=100, fence=2))
        self.broken(first, claim("w2", 3, 4, "resume", now=99, fence=2))
        self.broken(first, claim("w2", 3, 4, "resume", now=100, fence=1))
        self.broken(first, claim("w2", 3, 6, "resume", now=100), claim("w3", 4, 7, "resume",
                                                                      now=100))

    def test_late_first_claimer(self):
        rows = [claim("w1", 1, 2, "new", fence=1), claim("w2", 3, 4, "resume", now=100, fence=2)]
        late = {"account": "a", "gen": 0, "fence": 1}
        self.sound(*rows, operation("w1", "complete", 5, 6, "refused",
                                    {"outcome": "superseded"}, **late))
        self.broken(*rows, operation("w1", "complete", 5, 6, "ok", {"outcome": "granted"}, **late))
        again = {"account": "a", "gen": 0, "fence": 7, "attempt": "w1"}
        self.broken(*rows, operation("w1", "complete", 5, 6, "ok", {"outcome": "granted"}, **again))
        again["attempt"] = "w2"
        self.sound(*rows, operation("w2", "complete", 5, 6, "ok", {"outcome": "granted"}, **again))

    def test_paid_twice(self):
        grants = [operation(f"w{at}", "grant", at, 9, "ok", {"fresh": True}, gen=0)
                  for at in (1, 2)]
        self.broken(*grants)
        self.sound(grants[0])

    def test_revoked_purchase_revived(self):
        revoked = operation("w1", "revoke", 1, 2, "ok", asof=5, evidence="r")
        self.sound(revoked, claim("w2", 3, 4, "revoked", asof=0))
        self.broken(revoked, claim("w2", 3, 4, "resume", asof=0, gen=1))
        self.broken(revoked, claim("w2", 3, 4, "new", asof=0, gen=0))
        self.sound(revoked, claim("w2", 3, 4, "resume", asof=10, gen=1))
        self.sound(claim("w2", 0, 4, "new", asof=0, gen=0), revoked)

    def test_one_refund_is_told_once(self):
        """Only one delivery per generation finds it granted and takes it back (STO-35)."""
        def told(at, outcome, asof=5, end=None):
            return operation(f"r{at}", "revoke", at, end or at + 1, "ok", {
                "outcome": outcome, "take": outcome == "was-granted"}, asof=asof, evidence="r")

        bought = [claim("w1", 1, 2, "new"),
                  operation("w1", "complete", 3, 4, "ok", account="a", gen=0)]
        self.sound(*bought, told(5, "was-granted", end=9), told(6, "already", end=9))
        self.sound(*bought, told(5, "was-granted", 5), told(7, "already", 3),
                   told(9, "already", 8))
        self.broken(*bought, told(5, "was-granted", end=9), told(6, "was-granted", end=9))
        self.broken(*bought, told(5, "already"), told(7, "already"))
        self.broken(*bought, told(5, "was-granted").__class__(**{
            **told(5, "was-granted").__dict__, "result": {"outcome": "already", "take": True}}))
        again = [claim("w2", 10, 11, "resume", attempt="w2", asof=10, gen=1),
                 operation("w2", "complete", 12, 13, "ok", account="a", gen=1)]
        self.sound(*bought, told(5, "was-granted"), *again, told(14, "was-granted", 15))
        self.broken(*bought, told(5, "was-granted"), *again, told(14, "already", 15))

    def test_a_late_refund(self):
        """An order is valid too if newer evidence was only presented (STO-33)."""
        def told(at, outcome):
            return operation(f"r{at}", "revoke", at, at + 1, "ok", {"outcome": outcome}, asof=5,
                             evidence="r")

        bought = [claim("w1", 1, 2, "new"),
                  operation("w1", "complete", 3, 4, "ok", account="a", gen=0)]
        for shown in (claim("w2", 5, 6, "already-granted", asof=10),
                      claim("w2", 5, 6, "other-account", account="b", asof=10)):
            self.sound(*bought, shown, told(7, "stale"))
            self.broken(*bought, shown, told(7, "was-granted"))
        self.sound(*bought, claim("w2", 5, 6, "already-granted"), told(7, "was-granted"))
        self.broken(*bought, told(7, "stale"))

    def test_two_modes_of_one_purchase(self):
        """A purchase granted under a lease and in a transaction is a fault (STO-37)."""
        def pay(said, **more):
            return operation("w2", "pay", 3, 4, "ok" if said == "resume" else "refused",
                             {"outcome": said, **more}, account="a", attempt="w2", asof=0,
                             evidence="e0", now=100, lease=100)

        self.sound(claim("w1", 1, 2, "new"), pay("held"))
        self.broken(claim("w1", 1, 2, "new"), pay("resume", gen=0, fresh=True))

    def test_claim_that_was_revoked_in_between(self):
        """A claim may write its row, be revoked, and only then read; the revocation saw the row."""
        seen = operation("w1", "revoke", 2, 3, "ok", {"outcome": "was-claimed"}, asof=5,
                         evidence="r")
        self.sound(claim("w2", 1, 4, "revoked"), seen)
        self.broken(claim("w2", 4, 5, "revoked"), seen)

    def test_take_beyond_the_limit(self):
        self.sound(take("w1", 1, 4, 2), take("w2", 2, 5, 1), take("w3", 3, 6))
        self.broken(take("w1", 1, 4, 2), take("w2", 2, 5, 1), take("w3", 3, 6, 3))
        self.broken(take("w1", 1, 4, 1), take("w2", 2, 5, 1))
        self.broken(take("w1", 1, 4, 1), take("w3", 3, 6))
        self.broken(take("w1", 1, 2, 2), take("w2", 3, 5, 1))
        self.broken(take("w1", 1, 2, 1, limit=0))

    def test_unclear_take_counts_once_at_most(self):
        killed = operation("w1", "take", 1, 0, "unclear", units=1, limit=2)
        self.sound(killed, take("w2", 2, 3, 2), take("w3", 4, 5))
        self.sound(killed, take("w2", 2, 3, 1), take("w3", 4, 5, 2))
        self.broken(killed, take("w2", 2, 3, 2, limit=3), take("w3", 4, 5, limit=3))

    def test_revoked_plan_revived(self):
        def applied(process, began, asof, said, revoking=False):
            return operation(process, "apply", began, began + 1, "ok", {"outcome": said},
                             account="a", asof=asof, evidence=f"e{asof}", revoking=revoking)

        def read(began, **lines):
            return operation("r", "read", began, began + 1, "ok", {"lines": lines}, account="a")

        first, end = applied("w1", 1, 1, "applied"), applied("w2", 4, 5, "applied", True)
        self.sound(first, read(2, x=1), end, read(6))
        self.broken(first, end, read(6, x=1))
        self.sound(first, end, applied("w3", 7, 3, "stale"), read(9))
        self.broken(first, end, applied("w3", 7, 3, "applied"))
        self.broken(first, end, applied("w3", 7, 3, "stale"), read(9, x=3))
        self.broken(first, read(3))

    def test_challenge(self):
        issued = operation("w0", "issue", 0, 1, purpose="p", subject="s", now=0, expires=50)

        def consumed(began, by, said, now=0):
            return operation(by, "consume", began, 9, "ok" if said == "consumed" else "refused",
                             {"outcome": said}, purpose="p", subject="s", by=by, now=now)

        self.sound(issued, consumed(2, "a", "consumed"), consumed(3, "b", "used"))
        self.broken(issued, consumed(2, "a", "consumed"), consumed(3, "b", "consumed"))
        self.sound(issued, consumed(2, "a", "consumed", 49))
        self.broken(issued, consumed(2, "a", "consumed", 50))
        self.broken(issued, consumed(2, "a", "used"))
        self.broken(consumed(2, "a", "consumed"))

    def test_key(self):
        bound = operation("w0", "bind", 0, 1, account="a", public="p")
        steps = [operation(f"w{at}", "advance", 2, 9, account="a", counter=1) for at in (1, 2)]
        self.broken(bound, *steps)
        self.sound(bound, steps[0])
        self.broken(steps[0])
        self.broken(bound, operation("w1", "bind", 2, 3, account="b", public="p"))

    def test_links(self):
        def link(began, ended, origin, target, said):
            return Operation("w", began, "link", {"from": origin, "to": target}, began, ended,
                             "refused" if said == "linked-elsewhere" else "ok", {"outcome": said})

        self.sound(link(1, 3, "a", "b", "merged"), link(2, 4, "a", "b", "already"))
        self.broken(link(1, 3, "a", "b", "merged"), link(2, 4, "b", "a", "merged"))
        self.broken(link(1, 3, "a", "b", "merged"), link(2, 4, "b", "c", "merged"),
                    link(5, 6, "a", "b", "merged"))


def pay(process, began, ended, said, *, account="a", asof=0, now=0, **more):
    outcome = "ok" if said in ("new", "resume") else "refused" if said else "unclear"
    return operation(process, "pay", began, ended, outcome, {"outcome": said, **more} if said else
                     {}, account=account, attempt=process, asof=asof, evidence=f"e{asof}", now=now,
                     lease=100)


class Halved(unittest.TestCase):
    """On DynamoDB a claim of mode "transaction" may have reopened or taken over a row without
    granting (STO-21, STO-37); on no other engine, and no other operation."""

    def sound(self, *operations):
        self.assertEqual(history.check(operations, models_of("dynamodb")), [])

    def broken(self, *operations, engine="dynamodb"):
        self.assertEqual(len(history.check(operations, models_of(engine))), 1)

    def only_halved(self, *operations):
        self.sound(*operations)
        for engine in ("", "sqlite", "postgres", "mariadb", "pretended"):
            with self.subTest(engine=engine):
                self.broken(*operations, engine=engine)

    def setUp(self):
        # A revoked purchase, reopened by a process that was killed before its grant.
        self.begun = [operation("w0", "revoke", 1, 2, "ok", asof=5, evidence="r"),
                      pay("w1", 3, 0, "", asof=10)]
        self.resumed = pay("w2", 5, 6, "resume", now=100, gen=1, fresh=True)

    def test_killed_between_the_halves(self):
        self.only_halved(*self.begun, self.resumed)
        self.only_halved(*self.begun, self.resumed,
                         operation("w2", "paid", 7, 8, "ok", {"gens": [1]}))
        self.only_halved(*self.begun, operation("w2", "lookup", 5, 6, "ok", {"outcome": "claimed"}))
        self.only_halved(*self.begun, pay("w2", 5, 6, "in-progress", now=99))
        self.broken(*self.begun, pay("w2", 5, 6, "resume", now=99, gen=1))
        self.broken(*self.begun, pay("w2", 5, 6, "resume", now=100, gen=0))
        self.broken(*self.begun, pay("w2", 5, 6, "held", now=100))
        self.broken(self.begun[0], pay("w1", 3, 0, "", asof=5), self.resumed)
        self.broken(self.begun[0], self.resumed)

    def test_paid_once(self):
        for gen in (0, 1, 2):
            with self.subTest(gen=gen):
                self.broken(*self.begun, self.resumed,
                            pay("w3", 7, 8, "resume", now=300, gen=gen, fresh=True))
        self.broken(*self.begun, self.resumed, pay("w3", 5, 6, "resume", now=100, gen=1))
        paid = operation("w4", "paid", 4, 5, "ok", {"gens": [1]})
        self.sound(*self.begun, paid)
        self.broken(*self.begun, paid, pay("w2", 6, 7, "resume", now=100, gen=1))
        self.broken(*self.begun, self.resumed, operation("w2", "paid", 7, 8, "ok", {"gens": []}))

    def test_handed_out_afterwards(self):
        """After a claim under a lease, also of the same attempt, or a sweep: no transaction grants
        it."""
        due = operation("s", "due", 5, 6, "ok", {"claims": {"x": {
            "outcome": "resume", "gen": 1, "account": "a"}}}, attempt="s", lease=100, now=100)
        same = claim("w1", 5, 6, "resume", asof=10, now=50, gen=1)
        for handed in (claim("s", 5, 6, "resume", now=100, gen=1), same, due):
            with self.subTest(process=handed.process, op=handed.op):
                self.sound(*self.begun, handed, pay("w2", 7, 8, "held", now=200))
                self.broken(*self.begun, handed, pay("w2", 7, 8, "resume", now=200, gen=1))

    def test_handed_out_before(self):
        """A purchase claimed under a lease stays so if a transaction is killed."""
        first, killed = claim("w0", 1, 2, "new", gen=0), pay("w1", 3, 0, "", now=100)
        self.sound(first, killed, pay("w2", 5, 6, "held", now=300))
        self.broken(first, killed, pay("w2", 5, 6, "resume", now=300, gen=0))

    def test_no_row_without_the_grant(self):
        killed = pay("w1", 1, 0, "")
        self.broken(killed, operation("w2", "lookup", 3, 4, "ok", {"outcome": "claimed"}))
        self.sound(killed, operation("w2", "lookup", 3, 4, "ok", {"outcome": "granted"}))

    def test_seen_between_the_halves(self):
        seen = operation("w2", "lookup", 4, 5, "ok", {"outcome": "claimed"})
        late = operation("w3", "revoke", 4, 5, "ok", {"outcome": "was-claimed"}, asof=15,
                         evidence="r")
        self.only_halved(self.begun[0], pay("w1", 3, 6, "resume", asof=10, gen=1), seen)
        self.only_halved(self.begun[0], pay("w1", 3, 6, "revoked", asof=10), late)
        self.broken(self.begun[0], pay("w1", 6, 7, "resume", asof=10, gen=1), seen)

    def test_random(self):
        for seed in range(10):
            for killed in (0.02, 0.3):
                with self.subTest(seed=seed, killed=killed):
                    made = Made(seed, killed=killed, halved=True)
                    self.sound(*made.run(600 if killed < 0.1 else 300))

    def test_random_is_no_order_elsewhere(self):
        found = [history.check(Made(seed, killed=0.3, halved=True).run(600)) for seed in range(5)]
        self.assertTrue(any(found))

    def test_each_fault_is_found(self):
        for name in FAULTS:
            with self.subTest(fault=name):
                # One fault needs another seed than the others to occur.
                found = (history.check(Made(seed, fault=name, halved=True).run(3000),
                                       models_of(HALVED[0])) for seed in (9, 11))
                self.assertTrue(any(found))


class Files(unittest.TestCase):
    """Tests of events in files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "w1"

    def write(self, *events, tail=""):
        self.path.write_text("".join(json.dumps(event) + "\n" for event in events) + tail)
        return history.load([self.path])

    def event(self, number, what, order, **more):
        return {"process": "w1", "id": number, "event": what, "order": order, **more}

    def test_pairs(self):
        found = self.write(
            self.event(1, "invoked", 5, op="once", args={"key": "x", "attempt": "a"}),
            self.event(1, "ended", 6, outcome="ok", result={}),
            self.event(2, "invoked", 7, op="once", args={"key": "x", "attempt": "a"}),
            self.event(2, "ended", 8, outcome="unclear", result={}),
            self.event(3, "invoked", 9, op="once", args={"key": "x", "attempt": "a"}),
            tail='{"process":"w1","id":3,"ev')
        self.assertEqual([(one.began, one.ended, one.outcome) for one in found],
                         [(5, 6, "ok"), (7, FOREVER, "unclear"), (9, FOREVER, "unclear")])

    def test_refused(self):
        once = {"op": "once", "args": {"key": "x", "attempt": "a"}}
        for events in ([self.event(1, "ended", 6, outcome="ok")],
                       [self.event(1, "invoked", 5, **once)] * 2,
                       [self.event(1, "invoked", 5, **once),
                        self.event(1, "ended", 6, outcome="perhaps")]):
            with self.subTest(events=events), self.assertRaises(history.HistoryError):
                self.write(*events)
        self.path.write_text("{\n{}\n")
        with self.assertRaises(history.HistoryError):
            history.load([self.path])
        with self.assertRaises(history.HistoryError):
            history.check([operation("w1", "guess", 1, 2)])


if __name__ == "__main__":
    unittest.main()
