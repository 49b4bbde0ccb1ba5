"""Model the state that a ledger must keep, as if operations ran one at a time (STO-97).

There is one model for each kind of row: a purchase, a quota counter, a challenge, a device key, a
subscription, a recorded event, the merged accounts. A model defines what an operation changes and
what it must return. States are immutable, so that a search can remember visited ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

FOREVER = float("inf")


@dataclass(frozen=True)
class Operation:
    """One operation of one process: its arguments, its result, and when it ran.

    `began` and `ended` are nanoseconds of one clock; `ended` is FOREVER if the operation may or may
    not have happened. `outcome` is ok, refused or unclear.
    """

    process: str
    id: int
    op: str
    args: dict[str, Any]
    began: float
    ended: float
    outcome: str
    result: dict[str, Any]

    def __str__(self) -> str:
        """Return the operation for a report: process, operation, arguments, result."""
        said = self.result.get("outcome", self.outcome)
        rest = {name: value for name, value in self.result.items() if name != "outcome"}
        return f"{self.process}#{self.id} {self.op} {self.args} -> {said} {rest or ''}".rstrip()


class Answer(NamedTuple):
    """The result that an operation must return: ok or refused, and the known members.

    Without an outcome both are allowed. A member that is a frozenset lists the allowed values.
    """

    outcome: str
    result: dict[str, Any]

    def agrees(self, seen: Operation) -> bool:
        """Return whether the seen result is this one; members that this answer lacks are not
        compared."""
        if self.outcome not in ("", seen.outcome):
            return False
        for name, wanted in self.result.items():
            if name not in seen.result:
                continue
            found = seen.result[name]
            if isinstance(wanted, frozenset):
                if found not in wanted:
                    return False
            elif found != wanted:
                return False
        return True


def ok(outcome: str, **members: Any) -> Answer:
    """Return an answer that accepts."""
    return Answer("ok", {"outcome": outcome, **members})


def refused(*outcomes: str) -> Answer:
    """Return a refusal by one of these names."""
    return Answer("refused", {"outcome": frozenset(outcomes)})


class Model:
    """A kind of row: its operations, and its state before the first."""

    name: ClassVar[str]
    operations: ClassVar[frozenset[str]]
    reads: ClassVar[frozenset[str]] = frozenset()
    initial: ClassVar[Any]

    def keys(self, operation: Operation) -> Iterable[str]:
        """Return the rows that the operation is about."""
        return [str(operation.args["key"])]

    def perform(self, state: Any, op: str, args: dict[str, Any]) -> tuple[Any, Answer]:
        """Return the state afterwards, and the answer."""
        raise NotImplementedError

    def only_looks(self, operation: Operation, state: Any) -> bool:
        """Return whether the operation changes nothing, in this state or a later one with the same
        answer."""
        return operation.outcome == "refused" or operation.op in self.reads

    def shadows(self, operation: Operation) -> list[str]:
        """Return effects that the operation may have had besides those in its answer.

        An operation of several statements may write in the first one and read, in the last, a row
        that another operation has changed since: the effect may precede the answer.
        """
        return []

    def halves(self, operation: Operation) -> list[str]:
        """Return effects that may have happened without the rest of the operation, however it
        ended."""
        return []


# The outcome of a revocation, by the phase of the row that it found.
REVOKED = {"absent": "unclaimed", "claimed": "was-claimed", "granted": "was-granted"}


class Purchase(NamedTuple):
    """A row of the ledger, with the generations that the host has granted.

    `handed`: the claim of this generation was given to a host under a lease (STO-37).
    """

    phase: str = "absent"
    owner: str = ""
    gen: int = 0
    attempt: str = ""
    evidence: str | None = ""
    asof: int = 0
    lease: int = 0
    fence: int = 0
    paid: frozenset[int] = frozenset()
    handed: bool = False


def passed_on(state: Any, args: dict[str, Any]) -> Any:
    """Return a row after its owner's account was merged into another (STO-90)."""
    return state._replace(owner=args["to"]) if state.owner == args["from"] else state


class PurchaseModel(Model):
    """Models claim, complete, revoke, lookup (ledger.md 5.1 to 5.4), and the host's own grant.

    `pay` is a claim of mode "transaction", with the grant in it; `paid` reads the rows of such
    grants. `due` and `link` are about many rows; history.py adds them to the history of each. If
    `pay` is `halved`, as on DynamoDB, it takes over or reopens a row with a write of its own before
    the grant (`hold`), and may be killed in between (STO-21).
    """

    name = "purchase"
    operations = frozenset({"claim", "complete", "revoke", "lookup", "grant", "due", "pay", "paid"})
    reads = frozenset({"lookup", "paid"})
    initial = Purchase()

    def __init__(self, halved: bool = False) -> None:
        self.halved = halved

    def perform(self, state: Purchase, op: str, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        if op == "claim":
            return self.claim(state, args)
        if op == "pay":
            return self.pay(state, args)
        if op == "hold":
            return self.hold(state, args), Answer("", {})
        if op == "due":
            return self.due(state, args)
        if op == "complete":
            return self.complete(state, args)
        if op == "revoke":
            return self.revoke(state, args)
        if op == "link":
            return passed_on(state, args), Answer("ok", {})
        if op == "grant":
            gen = args["gen"]
            return (state._replace(paid=state.paid | {gen}),
                    ok("granted", fresh=gen not in state.paid))
        if op == "paid":
            return state, Answer("ok", {"gens": sorted(state.paid)})
        return state, Answer("ok", {"outcome": state.phase})

    def pay(self, state: Purchase, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        """Claim, grant and complete at once, unless a host may have granted under a lease."""
        if self.is_held(state, args):
            return state, refused("held")
        after, answer = self.claim(state, args)
        if answer.outcome != "ok":
            return after, answer
        fresh = after.gen not in state.paid
        return after._replace(phase="granted", paid=state.paid | {after.gen}, handed=False), \
            ok(answer.result["outcome"], gen=after.gen, fresh=fresh)

    def is_held(self, state: Purchase, args: dict[str, Any]) -> bool:
        """Return whether a host may have granted the purchase under its expired lease (STO-37)."""
        return state.phase == "claimed" and state.owner == args["account"] and state.handed \
            and args["now"] >= state.lease

    def hold(self, state: Purchase, args: dict[str, Any]) -> Purchase:
        """Run the half of `pay` before its grant: the attempt has the row, and nothing is granted.

        A row that does not exist is written together with the grant.
        """
        if state.phase == "absent" or self.is_held(state, args):
            return state
        after, _ = self.claim(state._replace(handed=True), args)
        if after.fence == state.fence and after.gen == state.gen:
            return after._replace(handed=state.handed)
        return after._replace(evidence=args["evidence"], handed=False)

    def due(self, state: Purchase, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        """Let a sweeper take over a claim whose lease has expired (STO-30)."""
        if state.phase != "claimed" or args["now"] < state.lease:
            return state, refused("not-due")
        over = state._replace(fence=state.fence + 1, attempt=args["attempt"],
                              lease=args["now"] + args["lease"], handed=True)
        return over, ok("resume", gen=state.gen, account=state.owner,
                        **({"fence": over.fence} if state.gen == 0 else {}))

    def claim(self, state: Purchase, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        """Apply the table of ledger.md 5.1, row by row."""
        mine = {"owner": args["account"], "attempt": args["attempt"],
                "lease": args["now"] + args["lease"], "handed": True}
        if state.phase == "absent":
            new = state._replace(phase="claimed", evidence=args["evidence"], asof=args["asof"],
                                 fence=1, **mine)
            return new, ok("new", gen=0, fence=1)
        # The row remembers the newest evidence, whichever account presents it, even if refused
        # (STO-33).
        told = state._replace(asof=max(state.asof, args["asof"]))
        if state.owner not in ("", args["account"]):
            if state.phase == "revoked":
                return state, refused("other-account", "revoked")
            return told, refused("other-account")
        if state.phase == "granted":
            return told, refused("already-granted")
        if state.phase == "revoked":
            if args["asof"] <= state.asof:
                return state, refused("revoked")
            again = state._replace(phase="claimed", gen=state.gen + 1, asof=args["asof"],
                                   evidence=args["evidence"], **mine)
            return again, ok("resume", gen=again.gen)
        return self.claimed(state, args, mine)

    def claimed(self, state: Purchase, args: dict[str, Any],
                mine: dict[str, Any]) -> tuple[Purchase, Answer]:
        if state.attempt == args["attempt"]:
            if state.evidence is None:
                return state, Answer("", {"gen": state.gen})
            if state.evidence != args["evidence"]:
                return state, refused("attempt-misused")
            first = state.fence == 1 and state.gen == 0
            given = state._replace(handed=True, fence=state.fence + (not state.handed))
            return given, ok("new" if first else "resume", gen=state.gen)
        told = state._replace(asof=max(state.asof, args["asof"]))
        if args["now"] < state.lease:
            return told, refused("in-progress")
        same = state.evidence == args["evidence"]
        over = told._replace(fence=state.fence + 1, evidence=state.evidence if same else None,
                             **mine)
        return over, ok("resume", gen=state.gen,
                        **({"fence": over.fence} if state.gen == 0 else {}))

    def complete(self, state: Purchase, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        if state.phase == "absent":
            return state, refused("row-missing")
        if args["gen"] != state.gen:
            return state, refused("superseded", *(["revoked"] * (state.phase == "revoked")))
        if state.phase == "revoked":
            # If the row was moved to another account meanwhile, both outcomes are true.
            return state, refused("revoked", *["superseded"] * (state.owner != args["account"]))
        if state.owner != args["account"]:
            return state, refused("other-account", "superseded")
        if state.phase == "granted":
            return state, ok("granted")
        if self.overtaken(state, args):
            return state, refused("superseded")
        return state._replace(phase="granted"), ok("granted")

    def overtaken(self, state: Purchase, args: dict[str, Any]) -> bool:
        """Return whether the claimer has a fencing token and another attempt has a larger one."""
        if "fence" not in args:
            return False
        if "attempt" in args:
            return bool(args["attempt"] != state.attempt)
        return state.gen == 0 and args["fence"] < state.fence

    def revoke(self, state: Purchase, args: dict[str, Any]) -> tuple[Purchase, Answer]:
        """Create a revoked row if there is none; keep the effect of newer evidence. Only one of
        several deliveries reports the phase found and asks the host to take the grant back
        (STO-35)."""
        if args["asof"] < state.asof and state.phase not in ("absent", "revoked"):
            return state, ok("stale", take=False)
        later = state._replace(asof=max(state.asof, args["asof"]))
        if state.phase == "revoked":
            # A row without an owner has no grant to take back, whichever operation created the row.
            words = {"already"} if state.owner else {"already", "unclaimed"}
            return later, Answer("ok", {"outcome": frozenset(words), "take": False})
        was = REVOKED[state.phase]
        return later._replace(phase="revoked", evidence=args["evidence"]), \
            ok(was, take=state.phase == "granted")

    def only_looks(self, operation: Operation, state: Purchase) -> bool:
        if operation.op in ("claim", "pay") and operation.args["asof"] > state.asof:
            return False
        return super().only_looks(operation, state)

    def shadows(self, operation: Operation) -> list[str]:
        hidden = operation.op in ("claim", "complete") and operation.outcome == "refused"
        return [operation.op] * hidden

    def halves(self, operation: Operation) -> list[str]:
        return ["hold"] * (self.halved and operation.op == "pay")


class CounterModel(Model):
    """Models take and refund of one (scope, bucket, meter) (ledger.md 5.6, 5.7)."""

    name = "counter"
    operations = frozenset({"take", "refund", "admit", "settle"})
    initial = 0

    def perform(self, state: int, op: str, args: dict[str, Any]) -> tuple[int, Answer]:
        units = args.get("units", 1)
        if op in ("take", "admit"):
            if state + units > args["limit"]:
                return state, refused("exhausted", *["not-in-plan"] * (args["limit"] == 0))
            outcome = "consumed" if op == "take" else "admitted"
            return state + units, ok(outcome, used=state + units,
                                     left=args["limit"] - state - units)
        return (state - units if state >= units else state), Answer("ok", {})


class Challenge(NamedTuple):
    """A challenge: issued if it has a subject, consumed if it has a user."""

    purpose: str = ""
    subject: str = ""
    expires: int = 0
    by: str = ""


class ChallengeModel(Model):
    """Models issue and consume (STO-60, 61)."""

    name = "challenge"
    operations = frozenset({"issue", "consume"})
    initial = Challenge()

    def perform(self, state: Challenge, op: str,
                args: dict[str, Any]) -> tuple[Challenge, Answer]:
        wanted = (args["purpose"], args["subject"])
        if op == "issue":
            if not state.subject:
                return Challenge(*wanted, args["expires"]), ok("issued")
            fresh = not state.by and args["now"] < state.expires
            again = state[:2] == wanted and fresh
            return state, ok("issued") if again else refused("collision")
        if not state.subject:
            return state, refused("unknown")
        reasons = ["mismatch"] * (state[:2] != wanted)
        reasons += ["used"] * (state.by not in ("", args["by"]))
        reasons += ["expired"] * (state.by != args["by"] and args["now"] >= state.expires)
        if reasons:
            return state, refused(*reasons)
        return state._replace(by=args["by"]), ok("consumed")

    def shadows(self, operation: Operation) -> list[str]:
        """A refused issue may have stored a challenge that was consumed before it was read back."""
        return ["issue"] * (operation.op == "issue" and operation.outcome == "refused")


class Key(NamedTuple):
    """A device key: registered if it has an owner."""

    owner: str = ""
    public: str = ""
    counter: int = 0
    retired: bool = False


class KeyModel(Model):
    """Models bind, advance, retire (STO-62 to 64)."""

    name = "key"
    operations = frozenset({"bind", "advance", "retire"})
    initial = Key()

    def perform(self, state: Key, op: str, args: dict[str, Any]) -> tuple[Key, Answer]:
        owner = args["account"]
        if op == "bind":
            if not state.owner:
                return Key(owner, args["public"], 0, False), Answer("ok", {})
            if state.owner != owner:
                return state, refused("other-account")
            return state, Answer("ok", {})
        if op == "retire":
            mine = state.owner == owner
            return state._replace(retired=state.retired or mine), Answer("ok", {})
        if not state.owner:
            return state, refused("unknown")
        reasons = ["other-account"] * (state.owner != owner) + ["retired"] * state.retired
        reasons += ["replayed"] * (args["counter"] <= state.counter)
        if reasons:
            return state, Answer("refused", {})
        return state._replace(counter=args["counter"]), Answer("ok", {})


class Line(NamedTuple):
    """A subscription."""

    there: bool = False
    owner: str = ""
    asof: int = 0
    evidence: str = ""
    revoked: bool = False
    cleared: bool = False


class LineModel(Model):
    """Models apply by signing date, read, clear (STO-40 to 46), with ledger.transfer "deny".

    A read or clear is about all subscriptions of an account; history.py adds it to the history of
    each.
    """

    name = "line"
    operations = frozenset({"apply", "read", "clear"})
    reads = frozenset({"read"})
    initial = Line()

    def perform(self, state: Line, op: str, args: dict[str, Any]) -> tuple[Line, Answer]:
        if op == "link":
            return passed_on(state, args), Answer("ok", {})
        account = args["account"]
        if op == "read":
            valid = state.there and state.owner == account and not (state.revoked or state.cleared)
            return state, Answer("ok", {"line": state.asof if valid else None})
        if op == "clear":
            mine = state.there and state.owner == account
            return state._replace(cleared=state.cleared or mine), Answer("ok", {})
        if op == "bind-line":
            unowned = state.there and not state.owner
            return state._replace(owner=account if unowned else state.owner), Answer("ok", {})
        if state.there and account and state.owner not in ("", account):
            return state, refused("other-account")
        owner = state.owner or account
        same = args["evidence"] == state.evidence or args["revoking"]
        if not state.there or (state.asof, not same) <= (args["asof"], False):
            return Line(True, owner, args["asof"], args["evidence"], args["revoking"]), \
                ok("applied")
        return state._replace(owner=owner), ok("stale")

    def shadows(self, operation: Operation) -> list[str]:
        """An update sets the owner before it writes, and another may write in between."""
        if operation.op != "apply":
            return []
        stale = operation.result.get("outcome") == "stale"
        return ["bind-line"] * bool(operation.args["account"]) + ["apply"] * stale


class OnceModel(Model):
    """Models once (STO-65): the first attempt succeeds, and its repetition."""

    name = "once"
    operations = frozenset({"once"})
    initial = ""

    def perform(self, state: str, op: str, args: dict[str, Any]) -> tuple[str, Answer]:
        if state in ("", args["attempt"]):
            return args["attempt"], Answer("ok", {})
        return state, refused("duplicate")


class LinkModel(Model):
    """Models link (STO-90, 91): which accounts of a group were merged into which."""

    name = "link"
    operations = frozenset({"link"})
    initial: ClassVar[frozenset[tuple[str, str]]] = frozenset()

    def perform(self, state: frozenset[tuple[str, str]], op: str,
                args: dict[str, Any]) -> tuple[frozenset[tuple[str, str]], Answer]:
        joined, origin, target = dict(state), args["from"], args["to"]
        if target in joined or joined.get(origin, target) != target:
            return state, refused("merged")
        if origin in joined:
            return state, ok("already")
        moved = {name: target if at == origin else at for name, at in joined.items()}
        return frozenset({**moved, origin: target}.items()), ok("merged")


MODELS: list[Model] = [PurchaseModel(), CounterModel(), ChallengeModel(), KeyModel(), LineModel(),
                       OnceModel(), LinkModel()]
#: Engines on which a grant's transaction begins after the claim's other writes.
HALVED = ("dynamodb",)
MODEL_OF: dict[str, Model] = {op: model for model in MODELS for op in model.operations}
#: Models whose rows change owner when accounts are merged.
OWNED = ("purchase", "line")


def models_of(engine: str) -> list[Model]:
    """Return the models as they apply to the engine of this name."""
    return [PurchaseModel(halved=True) if model.name == "purchase" and engine in HALVED else model
            for model in MODELS]
