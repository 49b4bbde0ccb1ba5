#!/usr/bin/env python3
"""Run the named races of ledger.md 10 on one engine, with processes that start at once.

  scenes.py --engine NAME [--only NUMBER...] [--rounds 1]

A scene is a list of operations for each of many processes, which are started, wait for each other,
run their operations, and record the results (in the format of worker.py). Each scene compares its
results with figures computed by hand, and its history is checked as well. The numbers are those of
the list in ledger.md; 16 to 18, 21 to 24 and 26 are tests of the library and of the back ends.
"""

import argparse
import collections
import concurrent.futures
import itertools
import multiprocessing
import os
import random
import time

import book
import engines
import evidence
import history
import races
import stage as stages
from models import models_of
from races import Suite
from stage import BEGIN, CHALLENGE_TTL, DAY, LEASE, LIMITS
from worker import Recorder

TOGETHER_SECONDS = 120
# The rows of each kind for the sweepers of one round; moto's DynamoDB is slow.
SWEPT = collections.defaultdict(lambda: 100, dynamodb=40)
# AGAIN: repetitions of unclear operations. LATE: runs of a last sweeper.
AGAIN = 4
LATE = 6
# Refunds that are delivered twice.
REFUNDED = 60
# Scenes that need only counters, challenges and events.
VOLATILE = {1, 2, 3, 13}
# Scenes about refunds that are delivered twice.
TOLD = {27, 28}


class Scene:
    """One race: fresh rows, processes, and their results."""

    def __init__(self, engine, place, url, stage, number):
        self.engine, self.place, self.url = engine, place, url
        self.stage, self.number = stage, number
        self.files, self.used = [], 0
        self.name = self.fresh("round")

    def row(self, kind):
        """Return a row that no other scene has used."""
        return self.stage[kind][next(self.stage["next"][kind])]

    def fresh(self, name):
        """Return a name that no other scene has used."""
        return f"{name}-{next(self.stage['next']['names'])}"

    def alone(self, operation):
        """Run one operation by itself; return its outcome and result."""
        return self.together([[operation]])[0][0]

    def together(self, lists, threads=1, judged=True, in_step=False):
        """Run the lists of many processes at once; return each process's results.

        `threads` threads of each process share its list in turn. If not `judged`, the operations
        stay out of the history. With `in_step`, all processes begin each operation together.
        """
        gate = multiprocessing.Barrier(len(lists) * threads)
        ends = []
        for operations in lists:
            self.used += 1
            stem = f"scene-{self.number}-{self.name}-{self.used}"
            outs = [self.place / f"{stem}-{at}.jsonl" for at in range(threads)]
            process = multiprocessing.Process(
                target=perform, args=(self.url, self.stage, outs, operations, gate, in_step))
            process.start()
            ends.append((process, outs))
        heard = []
        for process, outs in ends:
            process.join(TOGETHER_SECONDS)
            if process.exitcode != 0:
                process.kill()
                raise races.RaceError(f"scene {self.number}: a process ended by itself")
            self.files += outs if judged else []
            heard.append([(one.outcome, one.result) for one in history.load(outs)])
        return heard

    def settled(self, lists, judged=True):
        """Run the lists like together(), then repeat unclear operations with the same attempt id
        until they are clear: a busy machine, or a disk that pauses for seconds, makes more than one
        result unclear. An operation still unclear after AGAIN rounds stays so, and counts as lost.
        """
        heard = last = self.together(lists, judged=judged)
        for _ in range(AGAIN):
            lists = [[operation for operations, answers in zip(lists, last, strict=True)
                      for operation, (outcome, _) in zip(operations, answers, strict=True)
                      if outcome == "unclear"]]
            if not lists[0]:
                break
            last = self.together(lists, judged=judged)
            heard = heard + last
        return heard

    def every(self, operations):
        """Run each operation in a process of its own; return the results."""
        return [answers[0] for answers in self.together([[one] for one in operations])]


def perform(url, stage, outs, operations, gate, in_step):
    """Run in a process of its own: open the ledger, wait for the others, run the operations."""
    ledger = book.opened(url, stage, outs[0].stem)

    def ask(at):
        recorder = Recorder(outs[at], outs[at].stem)
        gate.wait(TOGETHER_SECONDS)
        for number, (op, args) in enumerate(operations[at::len(outs)]):
            if in_step and number:
                gate.wait(TOGETHER_SECONDS)
            recorder.perform(ledger, op, args)

    with concurrent.futures.ThreadPoolExecutor(len(outs)) as crowd:
        for asked in [crowd.submit(ask, at) for at in range(len(outs))]:
            asked.result()


def said(heard):
    """Count the results by outcome."""
    return collections.Counter(result.get("outcome", outcome) for outcome, result in heard)


def claim_of(row, account, attempt, version=0, now=BEGIN):
    evidence = row["versions"][version]
    return "claim", {"key": row["key"], "version": version, "asof": evidence["asof"],
                     "evidence": evidence["evidence"], "account": account, "now": now,
                     "attempt": attempt.ljust(32, "x"), "lease": LEASE}


def version_of(row, version):
    evidence = row["versions"][version]
    return {"key": row["key"], "version": version, "asof": evidence["asof"],
            "evidence": evidence["evidence"]}


def apply_of(row, version, account):
    return "apply", {**version_of(row, version), "account": account, "now": BEGIN,
                     "revoking": row["versions"][version]["revoking"]}


def take_of(account, units=1, plan="premium"):
    return "take", {"key": f"{account} premium", "account": account, "plan": plan, "now": BEGIN,
                    "meter": "premium", "units": units, "limit": LIMITS[plan]["premium"]}


# ---- the scenes ----------------------------------------------------------------


def takes_at_the_limit(scene):
    """1: 200 consumptions at once, more than the limit: as many pass, each with its own number."""
    account, limit = scene.fresh("many"), LIMITS["premium"]["premium"]
    heard = scene.together([[take_of(account)] * 25 for _ in range(8)], threads=25)
    used = sorted(result.get("used", 0) for answers in heard for outcome, result in answers
                  if outcome == "ok")
    return used == list(range(1, limit + 1)), used


def limit_nought(scene):
    """2: a limit of 0 lets no consumption pass."""
    heard = scene.every([take_of(scene.fresh("none"), plan="free")] * 8)
    return all(outcome == "refused" for outcome, _ in heard), heard


def units_and_refunds(scene):
    """3: three units at a time, and releases, which never go below zero."""
    account = scene.fresh("three")
    heard = scene.together([[take_of(account, 3)] * 8 for _ in range(8)])
    taken = [result for answers in heard for outcome, result in answers if outcome == "ok"]
    back = [("refund", {"key": f"{account} premium", "units": 3, "now": BEGIN,
                        "ticket": taken[0].get("ticket")})] * 10
    scene.together([back] * 8)
    outcome, after = scene.alone(take_of(account))
    return len(taken) == 33 and outcome == "ok" and after["used"] == 1, (len(taken), after)


def claims_of_two_accounts(scene):
    """4: 32 claims of one purchase by two accounts: one is new."""
    row = scene.row("purchases")
    heard = said(scene.every([claim_of(row, row["accounts"][at % 2], f"claims-of-two-{at}")
                              for at in range(32)]))
    return heard == {"new": 1, "other-account": 16, "in-progress": 15}, heard


def lost_answer(scene):
    """5: the same attempt again gets the same result."""
    row = scene.row("purchases")
    again = claim_of(row, row["accounts"][0], "the-answer-was-lost")
    heard = scene.together([[again] * 3])[0] + scene.every([again] * 4)
    return len({(result.get("gen"), result.get("outcome")) for _, result in heard}) == 1, heard


def lease_over(scene):
    """6: one of many takes over an expired lease."""
    row = scene.row("purchases")
    scene.alone(claim_of(row, row["accounts"][0], "the-first-claimer"))
    heard = said(scene.every([
        claim_of(row, row["accounts"][0], f"a-lease-taker-{at}", now=BEGIN + LEASE)
        for at in range(16)]))
    return heard == {"resume": 1, "in-progress": 15}, heard


def complete_again(scene):
    """7: complete twice, and after a revocation with the earlier grant."""
    row = scene.row("purchases")
    mine = {"key": row["key"], "account": row["accounts"][0]}
    heard = scene.together([[
        claim_of(row, row["accounts"][0], "complete-again-first"),
        *[("complete", {**mine, "gen": 0})] * 2, ("revoke", version_of(row, 1)),
        ("complete", {**mine, "gen": 0}),
        claim_of(row, row["accounts"][0], "complete-again-second", 2),
        ("complete", {**mine, "gen": 0}), ("complete", {**mine, "gen": 1})]])[0]
    words = [result.get("outcome") for _, result in heard]
    return words == ["new", "granted", "granted", "was-granted", "revoked", "resume",
                     "superseded", "granted"], words


def revoked_before(scene):
    """8: a revocation before the first claim; newer evidence opens it again."""
    row = scene.row("purchases")
    account = row["accounts"][0]
    heard = scene.together([[
        ("revoke", version_of(row, 1)), claim_of(row, account, "revoked-before-first"),
        claim_of(row, account, "revoked-before-second", 2)]])[0]
    words = [(result.get("outcome"), result.get("gen")) for _, result in heard]
    return words == [("unclaimed", None), ("revoked", None), ("resume", 1)], words


def largest_remains(scene):
    """9: evidence applied at once and in any order: the newest remains."""
    row = scene.row("lines")
    account, newest = row["accounts"][0], 6
    order = list(range(newest + 1)) * 4
    random.Random(scene.number).shuffle(order)
    scene.every([apply_of(row, at, account) for at in order])
    _, after = scene.alone(("read", {"account": account, "now": BEGIN}))
    return after["lines"].get(row["key"]) == row["versions"][newest]["asof"], after


def one_owner(scene):
    """10: accounts that claim a new subscription at once: one owns it."""
    row = scene.row("lines")
    heard = said(scene.every([apply_of(row, 0, f"owner-{at}") for at in range(16)]))
    return heard == {"applied": 1, "other-account": 15}, heard


def cleared(scene):
    """11: what the client deactivated comes back with the same evidence."""
    row = scene.row("lines")
    account = scene.fresh("clears")
    ask = ("read", {"account": account, "now": BEGIN})
    heard = scene.together([[apply_of(row, 0, account), ask, ("clear", ask[1]), ask,
                             apply_of(row, 0, account), ask]])[0]
    shown = [bool(result["lines"]) for _, result in heard if "lines" in result]
    return shown[:2] == [True, False] and shown[-1], shown


def one_purchase_of_two_names(scene):
    """12: a period under two transaction ids, and a transaction with two periods, at once."""
    words = []
    for row in (scene.row("periods"), scene.row("periods")):
        claims = [claim_of(row, row["accounts"][0], f"two-names-{at}", at % 2) for at in range(16)]
        words.append(said(scene.every(claims)))
    return words == [{"new": 1, "in-progress": 15}] * 2, words


def one_consumer(scene):
    """13: many consumers of one challenge: one wins, and its end is exact."""
    name = {"key": scene.fresh("challenge"), "purpose": "attest", "subject": "user-01"}
    scene.alone(("issue", {**name, "now": BEGIN, "expires": BEGIN + CHALLENGE_TTL}))
    heard = scene.every([("consume", {**name, "now": BEGIN + 1, "by": f"by-{at % 8}"})
                         for at in range(32)])
    late = {**name, "key": scene.fresh("challenge")}
    scene.alone(("issue", {**late, "now": BEGIN, "expires": BEGIN + CHALLENGE_TTL}))
    over = scene.alone(("consume", {**late, "by": "late", "now": BEGIN + CHALLENGE_TTL}))
    just = scene.alone(("consume", {**late, "by": "just", "now": BEGIN + CHALLENGE_TTL - 1}))
    return said(heard) == {"consumed": 4, "used": 28} and over[0] == "refused" \
        and just[0] == "ok", (said(heard), over, just)


def one_advance(scene):
    """14: one of many advances to the same counter; a smaller one is refused."""
    row = scene.row("keys")
    mine = {"key": row["key"], "account": row["accounts"][0], "now": BEGIN}
    scene.alone(("bind", {**mine, "public": row["public"]}))
    same = scene.every([("advance", {**mine, "counter": row["counters"][4]})] * 16)
    less = scene.alone(("advance", {**mine, "counter": row["counters"][3]}))
    passed = [outcome for outcome, _ in same].count("ok")
    return passed == 1 and less[0] == "refused", (passed, less)


def one_bind(scene):
    """15: one device key, many accounts: one has it."""
    row = scene.row("keys")
    heard = scene.every([("bind", {"key": row["key"], "account": f"binder-{at}", "now": BEGIN,
                                   "public": row["public"]}) for at in range(16)])
    return [outcome for outcome, _ in heard].count("ok") == 1, said(heard)


def sweepers(scene):
    """19: many sweepers over expired claims and due subscriptions: each row exactly once."""
    rows, lines = ([scene.row(kind) for _ in range(SWEPT[scene.engine])]
                   for kind in ("sweptPurchases", "sweptLines"))
    made = [claim_of(row, row["accounts"][0], f"swept-{row['key']}") for row in rows]
    made += [apply_of(line, 0, line["accounts"][0]) for line in lines]
    begun = scene.settled([made[at::4] for at in range(4)])
    found = {"due": collections.Counter(), "dueLines": collections.Counter()}
    ends = collections.Counter()
    for op, now, kind in (("due", BEGIN + LEASE, rows), ("dueLines", BEGIN + 60 * DAY, lines)):
        def sweep(sweepers, op=op, now=now):
            heard = scene.settled(
                [[(op, {"attempt": f"{op}-{row['key']}-{at}-{sweeper}".ljust(32, "x"), "now": now,
                        "lease": LEASE}) for at, row in enumerate(rows[:8])]
                 for sweeper in sweepers], judged=op == "due")
            for answers in heard:
                for outcome, result in answers:
                    ends[op, outcome] += 1
                    found[op].update(list(result.get("claims", result.get("keys", ()))))
        sweep(range(8))
        # A last sweeper, without others, gets the rows that the sweepers locked from each other.
        # Its attempt ids are new, because a repeated one finds its own rows again. A server may
        # hold the locks of a dead process for a moment, so the sweeper runs several times.
        for late in range(LATE):
            sweep([8 + late])
            if all(found[op][row["key"]] for row in kind):
                break
            time.sleep(1)
    once = [dict.fromkeys((row["key"] for row in kind), 1) for kind in (rows, lines)]
    seen = [{key: found[op][key] for key in wanted}
            for op, wanted in zip(("due", "dueLines"), once, strict=True)]
    wrong = [{key: times for key, times in one.items() if times != 1} for one in seen]
    return wrong == [{}, {}], (dict(ends), wrong, *(said(answers) for answers in begun))


def opposite_links(scene):
    """20: accounts merged into each other at once, twice each: one direction, counts added once."""
    one_of, other = scene.fresh("here"), scene.fresh("there")
    scene.together([[take_of(one_of, 3), take_of(other, 4)]], judged=False)
    links = [("link", {"from": pair[0], "to": pair[1], "now": BEGIN,
                       "attempt": f"opposite-{at}-{pair[0]}".ljust(32, "x")})
             for at in range(2) for pair in ((one_of, other), (other, one_of))]
    heard = [(outcome, result["outcome"]) for outcome, result in scene.every(links)]
    counts = scene.together([[take_of(one_of), take_of(other)]], judged=False)[0]
    used = sorted(result.get("used", 0) for _, result in counts)
    return used == [1, 8] and sorted(heard) == [
        ("ok", "already"), ("ok", "merged"), ("refused", "merged"), ("refused", "merged")], \
        (heard, used)


def late_claimer(scene):
    """25: the first claimer continues late and has a smaller fencing token."""
    row = scene.row("purchases")
    mine = {"key": row["key"], "account": row["accounts"][0], "gen": 0}
    heard = scene.together([[
        claim_of(row, row["accounts"][0], "late-claimer-first"),
        claim_of(row, row["accounts"][0], "late-claimer-second", now=BEGIN + DAY),
        ("complete", {**mine, "fence": 1}), ("complete", {**mine, "fence": 2})]])[0]
    words = [result.get("outcome") for _, result in heard]
    return words == ["new", "resume", "superseded", "granted"], words


def bought(row, name):
    """Return the arguments of a purchase that was claimed and granted."""
    mine = {"key": row["key"], "account": row["accounts"][0], "gen": 0}
    return [claim_of(row, row["accounts"][0], f"{name}-{row['key']}"), ("complete", mine)]


def one_refund_twice(scene):
    """27: 60 refunds, each delivered twice at once: one delivery asks for the take-back."""
    rows = [scene.row("refunded") for _ in range(REFUNDED)]
    scene.together([[each for row in rows for each in bought(row, "refund-twice")]])
    refunds = [("revoke", version_of(row, 1)) for row in rows]
    return told_once(scene.together([refunds] * 2, in_step=True))


def two_texts_of_one_refund(scene):
    """28: 60 refunds, each beside the customer's own refunded text: one asks for the take-back."""
    rows = [scene.row("refunded") for _ in range(REFUNDED)]
    scene.together([[each for row in rows for each in bought(row, "refund-beside")]])
    texts = [[("revoke", version_of(row, version)) for row in rows] for version in (1, 3)]
    return told_once(scene.together(texts, in_step=True))


def told_once(heard):
    """Return whether exactly one of two deliveries found each purchase granted, and the pairs that
    differ."""
    words = [sorted((one["outcome"], one["take"]) for _, one in pair)
             for pair in zip(*heard, strict=True)]
    wrong = [pair for pair in words if pair != [("already", False), ("was-granted", True)]]
    return not wrong, wrong


def links_with_takes_between(scene):
    """29: 200 consumptions of accounts during their merge: what was acknowledged is counted."""
    pairs = [(scene.fresh("from"), scene.fresh("into")) for _ in range(20)]
    links = [("link", {"from": pair[0], "to": pair[1], "now": BEGIN,
                       "attempt": f"between-{pair[0]}".ljust(32, "x")}) for pair in pairs]
    takes = [[take_of(pair[side]) for pair in pairs] for side in (0, 1) for _ in range(5)]
    heard = scene.together([links, *takes], judged=False, in_step=True)
    told = sum(outcome == "ok" for answers in heard[1:] for outcome, _ in answers)
    # Consumption after an account was merged stays with that account until the next merge.
    again = [(op, {**args, "attempt": args["attempt"].replace("between", "after--")})
             for op, args in links]
    scene.together([again], judged=False)
    left = scene.together([[take_of(account) for pair in pairs for account in pair]],
                          judged=False)[0]
    counted = sum(result.get("used", 0) for _, result in left) - len(left)
    return told == counted and told > 100, {"acknowledged": told, "counted": counted}


SCENES = {int(scene.__doc__.split(":")[0]): scene for scene in (
    takes_at_the_limit, limit_nought, units_and_refunds, claims_of_two_accounts, lost_answer,
    lease_over, complete_again, revoked_before, largest_remains, one_owner, cleared,
    one_purchase_of_two_names, one_consumer, one_advance, one_bind, sweepers, opposite_links,
    late_claimer, one_refund_twice, two_texts_of_one_refund, links_with_takes_between)}


# ---- running them --------------------------------------------------------------


def run(suite, place, options):
    """Run all scenes that the engine supports, several rounds of them."""
    name, _, fault = options.engine.partition("?")
    url, environment = f"pretended:{place.folder}/rows?{fault}", {}
    if name == "pretended":
        (place.folder / "rows").mkdir()
    else:
        engine = place.engine(name)
        engine.start()
        url, environment = engine.url, engine.environment
    os.environ.update(environment)
    numbers = [number for number in sorted(SCENES) if name != "redis" or number in VOLATILE]
    numbers = [number for number in numbers if number in (options.only or numbers)]
    rounds = 0 if set(numbers) <= VOLATILE else options.rounds
    sizes = {"purchases": 6 * rounds, "lines": 3 * rounds, "swept": SWEPT[name] * rounds,
             "periods": 2 * rounds,
             "refunded": REFUNDED * rounds * len(TOLD.intersection(numbers))}
    stage = (stages if name == "pretended" else evidence).stage(
        **sizes, **({} if name == "pretended" else {"keys": 2 * rounds}))
    stage["grants"] = str(place.folder / "grants.db")
    stage["next"] = {kind: itertools.count() for kind in (*book.KINDS, "names")}
    book.prepare(url, stage)
    files = []
    for number in numbers * options.rounds:
        scene = Scene(name, place.folder, url, stage, number)
        good, heard = SCENES[number](scene)
        suite.expect(good, f"{name}: scene {SCENES[number].__doc__}", str(heard)[:800])
        files += scene.files
    faults = history.check(history.load(files), models_of(name))
    suite.expect(not faults, f"{name}: the history of the scenes has an order",
                 "\n".join(map(str, faults[:5])))


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--only", type=int, nargs="*", choices=sorted(SCENES), metavar="NUMBER")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args(words)
    races.known_engine(parser, options.engine)
    return options


def main():
    options = arguments()
    suite = Suite(f"scenes-{options.engine}")
    pretends = options.engine.startswith("pretended")
    without = None if pretends else races.tools_or_reason()
    with engines.scratch(races.python_tools.TOOLS / "bin") as place:
        why = None if pretends else races.unavailable(place.engine(options.engine), without)
        if why:
            suite.skip(options.engine, why)
        else:
            run(suite, place, options)
    suite.finish(may_be_empty=True)


if __name__ == "__main__":
    main()
