"""The common part of `Ledger` and `AsyncLedger`: executor, verifier and requests."""

from __future__ import annotations

import secrets
import time
from functools import partial
from json import loads
from threading import Lock

from .._calls import milliseconds
from ..verifier import Verifier
from ._urls import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from typing import Any, Union

    from .._calls import Time
    from ..http import Send
    from .grants import Grant, TakeBack
    from .results import Claim, GetPlanResult, Result, Take

    Configuration = Union[Mapping[str, Any], str, bytes]
    Steps = Generator[Callable[[], Any], Any, Any]

# How long to wait for tables, in seconds: DynamoDB takes half a minute to create one.
CREATION = 60.0


class Opened:
    """An executor, and a verifier with the ledger's policy."""

    def __init__(
        self,
        where: Any,
        configuration: Verifier | Configuration,
        create: bool,
        max_wait: float,
        clock: Callable[[], float] = time.time,
        sender: Send | None = None,
        *,
        is_async: bool,
    ) -> None:
        table = None
        self.executor: Any = where
        if isinstance(where, str):
            self.executor, table = opened(where, is_async)
        elif not hasattr(where, "session"):
            raise TypeError(f"an executor or a URL, not {type(where).__name__}")
        self._engine: str = self.executor.engine
        self.verifier: Verifier = (
            configuration
            if isinstance(configuration, Verifier)
            else Verifier(_with_url(configuration, self._engine, table))
        )
        policy = self.verifier.configuration.get("ledger")
        if policy is None:
            raise ValueError("the verifier's configuration has no block `ledger`")
        if table is not None and policy.get("table") != table:
            raise ValueError("the URL names another table than `ledger.table`")
        # One verifier may serve two databases, so requests name another engine (STO-13).
        self._named = {} if policy["engine"] == self._engine else {"engine": self._engine}
        self._must_create = create
        self._creating = Lock()
        # The lineage that the database had at the first check (STO-78).
        self._lineage: str | None = None
        self._max_wait, self._clock, self._sender = max_wait, clock, sender

    def __repr__(self) -> str:
        return f"<assay.ledger.{type(self).__name__}: {self._engine}>"

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _begins(self, now: Time | None) -> int:
        """Return the time at which an exchange begins, `now` or the clock's, in milliseconds."""
        return self._now() if now is None else milliseconds(now)

    def _clock_from(self, now: Time | None) -> Callable[[], float]:
        """Return the clock of one exchange, which continues from `now`."""
        if now is None:
            return self._clock
        begun, start = time.monotonic(), milliseconds(now) / 1000
        return lambda: start + time.monotonic() - begun

    def _request(self, operation: str, members: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in members.items() if value is not None}
        return {"operation": operation, **self._named, **given}


def fulfilment(
    ledger: Any,
    answer: type[Result],
    operation: str,
    members: dict[str, Any],
    evidence: Any = (),
    *,
    now: Time | None = None,
    **calls: Callable[[Any], Any] | None,
) -> Steps:
    """Yield the calls of an operation: its exchange, and those of the host's functions after it
    unless they ran in its transaction. The ledger makes each call and sends the result back."""
    if "take_back" in calls and members.get("grantMode", "") is None:
        # The mode of a refund follows from whether the host takes units back (STO-35).
        members["grantMode"] = "none" if calls["take_back"] is None else "lease"
    mode, note = members.get("grantMode", "lease"), members.get("note")
    asked = partial(ledger._ask, answer, operation, members, evidence, now=now)
    if mode == "transaction":
        missing = [name for name, call in calls.items() if call is None]
        if missing:
            raise TypeError(f'grant_mode "transaction" needs a {" and a ".join(missing)}')
        return (yield partial(asked, **calls))
    found = yield asked
    done: list[object] = []
    if "take_back" in calls:
        done.append((yield from _taken(ledger, found.take, calls["take_back"], mode, now)))
    if "grant" in calls:
        claims = found.give if "take_back" in calls else found.claims
        done.append((yield from _paid(ledger, claims, calls["grant"], note, now)))
    return found.completed(*done)


def _paid(
    ledger: Any,
    claims: Iterable[Claim],
    grant: Callable[[Grant], Any] | None,
    note: str | None,
    now: Time | None,
) -> Steps:
    """Grant and complete each claim in turn, and return the result of each completion by its
    grant."""
    done = {}
    for claim in claims:
        if grant is not None and claim.needs_grant and claim.client_result is None:
            given = claim.grant()
            if (yield partial(grant, given)) is not False:
                done[given.grant_id] = yield partial(
                    ledger.complete,
                    given.purchase_key,
                    given.account,
                    given.grant_id,
                    fencing_token=given.fencing_token,
                    note=note,
                    now=now,
                )
    return done


def _taken(
    ledger: Any,
    takes: Iterable[Take],
    take_back: Callable[[TakeBack], Any] | None,
    mode: str,
    now: Time | None,
) -> Steps:
    """Take back and complete each revocation in turn, and return the result of each completion."""
    done = []
    for take in takes:
        if take_back is None:
            break
        said = yield partial(take_back, take.take_back())
        if said is not False and mode == "lease":
            taken = said if isinstance(said, int) and not isinstance(said, bool) else None
            completed = yield partial(
                ledger.complete_revocation,
                take.purchase_key,
                take.take_id,
                take.fencing_token,
                taken=taken,
                now=now,
            )
            done.append(completed)
    return done


def new_lineage() -> str:
    """Return the id that distinguishes a new database from every other: 32 characters (STM-8)."""
    return secrets.token_urlsafe(24)


def saw(first: str | None, found: Result) -> str | None:
    """Return the lineage of the database: the first one that this process read."""
    seen: str | None = found.raw.get("lineage")
    return first or seen


def attempt_of(given: str | None) -> str:
    """Return an attempt id: one for each request, the same when the request is repeated (STO-8)."""
    return secrets.token_urlsafe(18) if given is None else given


def challenge_of(given: str | None) -> str:
    """Return 32 random bytes as base64url text, unless one is given (STO-60)."""
    return secrets.token_urlsafe(32) if given is None else given


def time_of(given: Time | None, name: str) -> int | None:
    """Return a time in milliseconds since 1970 UTC; None if there is none."""
    return None if given is None else milliseconds(given, name)


def cached_plan_of(last: GetPlanResult | None) -> dict[str, Any] | None:
    """Return the members of an earlier result that `get-plan` accepts; None if there is none."""
    if last is None:
        return None
    return {"plan": last.plan, "expiresAtMs": last.expires_at_ms, "readAtMs": last.read_at_ms}


def _with_url(
    configuration: Configuration, engine: str, table: str | None
) -> Mapping[str, Any]:
    """Return the configuration completed by the URL, so that the engine is written once."""
    found: Any = configuration
    if isinstance(configuration, (str, bytes)):
        found = loads(configuration)
    block: dict[str, Any] = dict(found.get("ledger") or {})
    for name, value in (("engine", engine), ("table", table)):
        if value is not None and block.setdefault(name, value) != value:
            raise ValueError(f"`ledger.{name}` is {block[name]!r}, and the URL says {value!r}")
    return {**found, "ledger": block}
