#!/usr/bin/env python3
"""Check whether the operations of a history have an order that explains every result (STO-97).

  history.py [--engine NAME] FILE...

Each file has the events of one process, one JSON object a line:
{"process":…,"id":n,"op":…,"args":{…},"event":"invoked","order":ns} and later the same process and
id with "event":"ended","outcome":"ok"|"refused"|"unclear","result":{…}. An operation without an end
belongs to a killed process: it took effect once or never, at any time after its beginning, like one
that ended "unclear". With --engine dynamodb a claim of mode "transaction" may also have run only
its first half (models.py).

The history is split by row (models.py). For each row a depth-first search looks for an order that
keeps real time (an operation that ended before another began comes first) and in which the model
gives every result. A state is never entered twice; a read or refusal that fits is taken at once,
because it changes nothing and waiting cannot help; of two equal operations the one that ended first
is taken.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import json
import pathlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from models import FOREVER, MODEL_OF, MODELS, OWNED, Model, Operation, models_of

# The most states of one search; a row that needs more is reported as undecided, which is a fault.
MOST_STATES = 1_000_000


class HistoryError(ValueError):
    """Raised if the files are no valid history; the message names the line."""


@dataclass(frozen=True)
class Fault:
    """A row whose history no order explains."""

    model: str
    key: str
    explained: int
    of: int
    state: Any
    next: list[Operation]
    undecided: bool = False

    def __str__(self) -> str:
        """Return the row, the length of the best order, and the operations that cannot follow."""
        if self.undecided:
            return f"{self.model} {self.key}: undecided after {MOST_STATES} states"
        lines = [f"{self.model} {self.key}: no order explains more than {self.explained} of "
                 f"{self.of} answers; then it would be {self.state}, and these do not fit:"]
        lines += [f"    {operation}" for operation in self.next[:8]]
        return "\n".join(lines)


# ---- reading -----------------------------------------------------------------


def load(paths: Iterable[pathlib.Path]) -> list[Operation]:
    """Return the operations recorded in the files."""
    found: list[Operation] = []
    for path in paths:
        found += paired(events(path))
    return found


def events(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a file; a killed process may have left an incomplete last line."""
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            yield json.loads(line)
        except ValueError:
            raise HistoryError(f"{path}:{number}: no JSON") from None


def paired(found: Iterable[dict[str, Any]]) -> list[Operation]:
    """Pair the events of each operation."""
    begun: dict[tuple[str, int], dict[str, Any]] = {}
    ended: dict[tuple[str, int], dict[str, Any]] = {}
    for event in found:
        name = (event["process"], event["id"])
        into = begun if event["event"] == "invoked" else ended
        if name in into or (into is ended and name not in begun):
            raise HistoryError(f"{name[0]}#{name[1]}: {event['event']} out of turn")
        into[name] = event
    operations = []
    for name, event in begun.items():
        end = ended.get(name, {})
        outcome = end.get("outcome", "unclear")
        if outcome not in ("ok", "refused", "unclear"):
            raise HistoryError(f"{name[0]}#{name[1]}: outcome {outcome}")
        operations.append(Operation(
            *name, event["op"], event["args"], event["order"],
            FOREVER if outcome == "unclear" else end["order"], outcome, end.get("result", {})))
    return operations


def by_row(operations: Iterable[Operation]) -> dict[tuple[str, str], list[Operation]]:
    """Return the operations of each row; an operation about several rows is in each of their
    histories."""
    operations = list(operations)
    groups = Groups(operations)
    lines = lines_of_accounts(operations, groups)
    rows: dict[tuple[str, str], list[Operation]] = collections.defaultdict(list)
    for operation in operations:
        model = MODEL_OF.get(operation.op)
        if model is None:
            raise HistoryError(f"{operation}: no such operation")
        if operation.op == "link":
            rows[model.name, groups.name(operation.args["from"])].append(operation)
        elif operation.op in ("read", "clear"):
            shown = operation.result.get("lines", {})
            for key in lines[groups.name(operation.args["account"])] | set(shown):
                rows[model.name, key].append(replace(
                    operation, result={**operation.result, "line": shown.get(key)}))
        elif operation.op == "due":
            for key, claim in operation.result.get("claims", {}).items():
                rows[model.name, key].append(replace(operation, result=claim))
        else:
            for key in model.keys(operation):
                rows[model.name, key].append(operation)
    for (kind, _), row in rows.items():
        if kind in OWNED:
            row += met(kind, row, operations, groups)
    return rows


def met(kind: str, row: list[Operation], operations: list[Operation],
        groups: Groups) -> list[Operation]:
    """Return operations about many rows that may have changed this one: merges of its owner's
    account, and sweeps whose result was lost."""
    owners = {groups.name(one.args["account"]) for one in row if one.args.get("account")}
    found = []
    for one in operations:
        if one.op == "link":
            if one.outcome == "refused" or groups.name(one.args["from"]) not in owners:
                continue
            # A merge whose end was not reached may have left rows unmoved.
            swept = one.result.get("swept", True)
            found.append(one if swept else replace(one, outcome="unclear", ended=FOREVER))
        elif one.op == "due" and kind == "purchase" and one.outcome == "unclear":
            found.append(one)
    return found


def lines_of_accounts(operations: Iterable[Operation], groups: Groups) -> dict[str, set[str]]:
    """Return the subscriptions that the accounts of each group have ever claimed."""
    lines: dict[str, set[str]] = collections.defaultdict(set)
    for operation in operations:
        if operation.op == "apply":
            lines[groups.name(operation.args["account"])].add(operation.args["key"])
    return lines


class Groups:
    """Groups of accounts connected by merges, each with one name."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.parent: dict[str, str] = {}
        for operation in operations:
            if operation.op == "link":
                self.parent[self.name(operation.args["from"])] = self.name(operation.args["to"])

    def name(self, account: str) -> str:
        """Return the account after which the group is named."""
        while (parent := self.parent.setdefault(account, account)) != account:
            account = parent
        return account


# ---- searching ---------------------------------------------------------------


class Shadow(NamedTuple):
    """An effect that may have happened once, or never, within an interval."""

    op: str
    args: dict[str, Any]
    began: float
    ended: float
    like: int


class Place(NamedTuple):
    """A state of the search: done are the first `first` operations and those set in the mask after
    them."""

    first: int
    done: int
    used: int
    state: Any


class Search:
    """The search for an order of one row's operations."""

    def __init__(self, model: Model, key: str, operations: Iterable[Operation]) -> None:
        self.model, self.key = model, key
        everything = sorted(operations, key=lambda operation: operation.began)
        self.operations = [one for one in everything if one.outcome != "unclear"]
        self.kinds: dict[str, int] = {}
        self.like = [self.kind(one.op, one.args, one.outcome, one.result)
                     for one in self.operations]
        self.began = [one.began for one in self.operations]
        self.ended = [one.ended for one in self.operations]
        shadows = [self.shadow(one.op, one) for one in everything if one.outcome == "unclear"]
        shadows += [self.shadow(op, one) for one in self.operations for op in model.shadows(one)]
        shadows += [self.shadow(op, one) for one in everything for op in model.halves(one)]
        self.shadows = sorted(shadows, key=lambda one: one.began)
        self.alive = self.alive_at()

    def kind(self, *parts: Any) -> int:
        """Return a number that is equal for operations with equal arguments and results."""
        return self.kinds.setdefault(json.dumps(parts, sort_keys=True), len(self.kinds))

    def shadow(self, op: str, of: Operation) -> Shadow:
        return Shadow(op, of.args, of.began, of.ended, self.kind(op, of.args))

    def alive_at(self) -> list[list[int]]:
        """Return, for each number of operations done, the shadows that may come next."""
        found, current, begun = [], list[int](), 0
        for first in range(len(self.operations) + 1):
            done = self.began[first - 1] if first else 0
            # No shadow may begin after the earliest end of a pending operation, at the latest this
            # one's.
            until = self.ended[first] if first < len(self.operations) else FOREVER
            current = [at for at in current if self.shadows[at].ended > done]
            more = bisect.bisect_left(self.shadows, until, key=lambda one: one.began)
            current += [at for at in range(begun, more) if self.shadows[at].ended > done]
            begun = max(begun, more)
            found.append(current)
        return found

    def run(self) -> Fault | None:
        """Search; return None if there is an order."""
        if not self.operations:
            return None
        begin = Place(0, 0, 0, self.model.initial)
        best, seen, stack = begin, {begin}, [self.steps(begin)]
        while stack:
            place = next(stack[-1], None)
            if place is None:
                stack.pop()
            elif place not in seen:
                if place.first == len(self.operations):
                    return None
                seen.add(place)
                if len(seen) > MOST_STATES:
                    return self.fault(best, undecided=True)
                if done(place) > done(best):
                    best = place
                stack.append(self.steps(place))
        return self.fault(best)

    def pending(self, place: Place) -> tuple[list[int], float]:
        """Return the operations that may come next, and the earliest end among them."""
        found, earliest, at = [], FOREVER, place.first
        mask = place.done
        while at < len(self.operations) and self.began[at] <= earliest:
            if not mask >> (at - place.first) & 1:
                found.append(at)
                earliest = min(earliest, self.ended[at])
            at += 1
        return found, earliest

    def steps(self, place: Place) -> Iterator[Place]:
        """Yield the places that one more operation leads to, the most likely first."""
        pending, earliest = self.pending(place)
        shadows = self.usable(place, earliest)
        # An operation that began after the end of a shadow's interval would exclude the shadow.
        over = self.shadows[shadows[0]].ended if shadows else FOREVER
        found, tried = [], set()
        for at in sorted(pending, key=self.ended.__getitem__):
            if self.like[at] in tried:
                continue
            one = self.operations[at]
            if one.began <= over:
                tried.add(self.like[at])
            state, answer = self.model.perform(place.state, one.op, one.args)
            if answer.agrees(one):
                if one.began <= over and self.model.only_looks(one, place.state):
                    yield self.after(place, at, state)
                    return
                found.append((at, state))
        for at, state in found:
            yield self.after(place, at, state)
        yield from self.shadow_steps(place, shadows)

    def usable(self, place: Place, earliest: float) -> list[int]:
        """Return the shadows that may come next, ordered by the end of their intervals."""
        last = place.first + place.done.bit_length() - 1
        latest = self.began[last] if last >= 0 else 0
        found = [at for at in self.alive[place.first] if not place.used >> at & 1
                 and self.shadows[at].began <= earliest and self.shadows[at].ended > latest]
        return sorted(found, key=lambda at: self.shadows[at].ended)

    def shadow_steps(self, place: Place, usable: list[int]) -> Iterator[Place]:
        """Yield the places that a shadow leads to, if it changes the state."""
        tried = set()
        for at in usable:
            shadow = self.shadows[at]
            if shadow.like in tried:
                continue
            tried.add(shadow.like)
            state, _ = self.model.perform(place.state, shadow.op, shadow.args)
            if state != place.state:
                yield place._replace(used=place.used | 1 << at, state=state)

    def after(self, place: Place, at: int, state: Any) -> Place:
        """Return the place with one more operation done."""
        first, mask = place.first, place.done | 1 << (at - place.first)
        while mask & 1:
            first, mask = first + 1, mask >> 1
        return Place(first, mask, place.used, state)

    def fault(self, place: Place, undecided: bool = False) -> Fault:
        pending, _ = self.pending(place)
        return Fault(self.model.name, self.key, done(place), len(self.operations), place.state,
                     [self.operations[at] for at in pending], undecided)


def done(place: Place) -> int:
    """Return the number of operations done."""
    return place.first + place.done.bit_count()


# ---- the whole ---------------------------------------------------------------


def check(operations: Iterable[Operation], models: Iterable[Model] = MODELS) -> list[Fault]:
    """Return the rows whose history no order explains."""
    found = sorted(by_row(operations).items())
    named = {model.name: model for model in models}
    runs = [Search(named[name], key, row).run() for (name, key), row in found]
    return [fault for fault in runs if fault is not None]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--engine", default="", metavar="NAME", help="where it was recorded")
    options = parser.parse_args()
    operations = load(options.files)
    faults = check(operations, models_of(options.engine))
    for fault in faults:
        print(f"FAILED history: {fault}")
    print(f"{len(operations)} operations, {len(faults)} rows without an order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
