"""A ledger without a database: the model returns the results, with at most one planted fault.

Tests of the checker and of the runner use it: its history must pass, and must not pass with a
fault. The rows of a book are files in a folder, so that many processes share them and may be killed
at any moment.
"""

import fcntl
import hashlib
import os
import pathlib
import pickle
import random

from models import MODEL_OF, MODELS, OWNED, Answer, Line, Purchase, ok

MODELED = {model.name: model for model in MODELS}
# The probability of a planted fault where it can occur, for rows in memory; a book's always occur.
CHANCE = 0.5


def lost_claim(before, after, answer, op, args):
    """Acknowledge a claim and do not store it."""
    if op == "claim" and answer.result.get("outcome") == "new":
        return before, answer
    return None


def granted_twice(before, after, answer, op, args):
    """Give a claim with a running lease to another attempt."""
    if op == "claim" and answer.result.get("outcome") == frozenset({"in-progress"}):
        return before._replace(attempt=args["attempt"]), ok("new", gen=before.gen, fence=1)
    return None


def paid_twice(before, after, answer, op, args):
    """Forget that the host's own grant was made."""
    if op == "grant" and not answer.result["fresh"]:
        return after, ok("granted", fresh=True)
    return None


def purchase_revived(before, after, answer, op, args):
    """Reopen a refunded purchase with evidence older than the refund."""
    if op == "claim" and isinstance(before, Purchase) and before.phase == "revoked" \
            and answer.outcome == "refused" and before.owner in ("", args["account"]):
        revived = before._replace(phase="claimed", gen=before.gen + 1, attempt=args["attempt"],
                                  owner=args["account"],
                                  lease=args["now"] + args["lease"], evidence=args["evidence"])
        return revived, ok("resume", gen=revived.gen)
    return None


def beyond_limit(before, after, answer, op, args):
    """Accept a consumption beyond the limit."""
    if op in ("take", "admit") and answer.outcome == "refused":
        used = before + args.get("units", 1)
        return used, ok("consumed", used=used, left=args["limit"] - used)
    return None


def limit_early(before, after, answer, op, args):
    """Count a consumption and refuse it."""
    if op in ("take", "admit") and answer.outcome == "ok":
        return before, Answer("refused", {"outcome": "exhausted"})
    return None


def plan_revived(before, after, answer, op, args):
    """Overwrite a refunded subscription with evidence older than the refund."""
    if op == "apply" and before.revoked and answer.result.get("outcome") == "stale":
        return Line(True, after.owner, args["asof"], args["evidence"], False), ok("applied")
    return None


def used_twice(before, after, answer, op, args):
    """Accept a consumed challenge from another request."""
    if op == "consume" and before.by not in ("", args["by"]):
        return before, ok("consumed")
    return None


def counter_replayed(before, after, answer, op, args):
    """Accept the same counter twice."""
    if op == "advance" and answer.outcome == "refused" and before.owner == args["account"]:
        return before, Answer("ok", {})
    return None


def key_stolen(before, after, answer, op, args):
    """Register a device key to a second account."""
    if op == "bind" and answer.outcome == "refused":
        return before, Answer("ok", {})
    return None


def seen_again(before, after, answer, op, args):
    """Accept an event twice."""
    return (before, Answer("ok", {})) if op == "once" and answer.outcome == "refused" else None


def linked_both_ways(before, after, answer, op, args):
    """Merge accounts into an account that was itself merged."""
    return (before, ok("merged")) if op == "link" and answer.outcome == "refused" else None


def paid_in_vain(before, after, answer, op, args):
    """Acknowledge a claim of mode "transaction" and do not store its grant."""
    if op == "pay" and answer.outcome == "ok":
        return after._replace(paid=before.paid), answer
    return None


def left_behind(before, after, answer, op, args):
    """Acknowledge a merge and leave a row with its old owner."""
    if op == "link" and isinstance(before, (Purchase, Line)) and after != before:
        return before, answer
    return None


def swept_twice(before, after, answer, op, args):
    """Give an expired claim to two sweepers."""
    if op == "due" and answer.outcome == "ok":
        return before, answer
    return None


def told_twice(before, after, answer, op, args):
    """Report to a second delivery of a refund that the purchase was granted."""
    if op == "revoke" and before.phase == "revoked":
        return after, ok("was-granted", take=True)
    return None


def taken_twice(before, after, answer, op, args):
    """Ask the host at a second delivery of a refund to take the grant back."""
    return (after, ok("already", take=True)) if op == "revoke" and before == after else None


def told_nobody(before, after, answer, op, args):
    """Store the refund of a granted purchase and never ask the host to take the grant back."""
    if op == "revoke" and answer.result.get("take"):
        return after, ok("already", take=False)
    return None


def late_refund(before, after, answer, op, args):
    """Revoke by a refund that is older than the stored evidence."""
    if op == "revoke" and answer.result["outcome"] == "stale":
        return before._replace(phase="revoked", asof=args["asof"]), \
            ok("was-granted" if before.phase == "granted" else "was-claimed")
    return None


def newest_forgotten(before, after, answer, op, args):
    """Forget newer evidence that changes nothing else."""
    return (before, answer) if op == "claim" and answer.outcome == "refused" else None


def paid_in_both_modes(before, after, answer, op, args):
    """Grant in a transaction a purchase that was given to a host under a lease."""
    if op == "pay" and answer.result.get("outcome") == frozenset({"held"}):
        return before._replace(phase="granted", paid=before.paid | {before.gen}), \
            ok("resume", gen=before.gen, fresh=True)
    return None


FAULTS = {fault.__name__.replace("_", "-"): fault for fault in (
    lost_claim, granted_twice, paid_twice, purchase_revived, beyond_limit, limit_early,
    plan_revived, used_twice, counter_replayed, key_stolen, seen_again, linked_both_ways,
    paid_in_vain, left_behind, swept_twice, told_twice, taken_twice, told_nobody, late_refund,
    newest_forgotten, paid_in_both_modes)}


class Rows:
    """Rows in memory, by model and key."""

    def __init__(self, fault=None, seed=0, chance=CHANCE):
        self.fault = FAULTS[fault] if fault else None
        self.random, self.chance, self.struck = random.Random(seed), chance, 0
        self.states = {}

    def get(self, name):
        return self.states.get(name)

    def put(self, name, state):
        self.states[name] = state

    def keys(self, wanted):
        """Return the keys of a model's rows."""
        return [key for model, key in list(self.states) if model == wanted]

    def perform(self, op, args):
        """Run one operation; return its outcome and result."""
        if op == "clear":
            for key in self.keys("line"):
                self.one("line", key, op, args)
            return "ok", {}
        if op == "read":
            found = {key: self.one("line", key, op, args).result["line"]
                     for key in self.keys("line")}
            return "ok", {"lines": {key: line for key, line in found.items() if line is not None}}
        if op == "due":
            found = {key: self.one("purchase", key, op, args) for key in self.keys("purchase")}
            return "ok", {"claims": {key: answer.result for key, answer in found.items()
                                     if answer.outcome == "ok"}}
        if op == "dueLines":
            return "ok", {"keys": [key for key in self.keys("line") if self.look(key, args["now"])]}
        answer = self.one(MODEL_OF[op].name, "all" if op == "link" else args["key"], op, args)
        if op == "link" and answer.outcome == "ok":
            self.move(args)
        return answer.outcome or "ok", {name: min(value) if isinstance(value, frozenset) else value
                                for name, value in answer.result.items()}

    def look(self, key, now):
        """Return whether this is the first request for the subscription at this time."""
        asked = self.get(("look", key)) == now
        self.put(("look", key), now)
        return not asked

    def move(self, args):
        """Move the rows of an account to the account that it was merged into."""
        for model in OWNED:
            for key in self.keys(model):
                self.one(model, key, "link", args)
        for key in self.keys("counter"):
            account, _, rest = key.partition(" ")
            if account == args["from"]:
                target = ("counter", f"{args['to']} {rest}")
                self.put(target, (self.get(target) or 0) + self.get(("counter", key)))
                self.put(("counter", key), 0)

    def one(self, model, key, op, args):
        before = self.get((model, key))
        if before is None:
            before = MODELED[model].initial
        after, answer = MODELED[model].perform(before, op, args)
        if self.fault is not None and self.random.random() < self.chance:
            planted = self.fault(before, after, answer, op, args)
            if planted is not None:
                self.struck += 1
                after, answer = planted
        if after != before:
            self.put((model, key), after)
        return answer


class Book(Rows):
    """Rows in a folder: `pretended:FOLDER` or `pretended:FOLDER?FAULT`."""

    def __init__(self, url, seed=0):
        folder, _, fault = url.removeprefix("pretended:").partition("?")
        super().__init__(fault or None, seed, chance=1)
        self.folder = pathlib.Path(folder)

    def path(self, name):
        model, key = name
        return self.folder / f"{model}.{hashlib.sha256(key.encode()).hexdigest()[:16]}"

    def get(self, name):
        try:
            return pickle.loads(self.path(name).read_bytes())[1]
        except FileNotFoundError:
            return None

    def put(self, name, state):
        path = self.path(name)
        part = self.folder / f"part.{os.getpid()}"
        part.write_bytes(pickle.dumps((name[1], state)))
        part.replace(path)

    def keys(self, wanted):
        return [pickle.loads(path.read_bytes())[0] for path in self.folder.glob(f"{wanted}.*")]

    def perform(self, op, args):
        with (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return super().perform(op, args)
