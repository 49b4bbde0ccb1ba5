"""What `Ledger` and `AsyncLedger` have in common: the store and the verifier, requests."""

from __future__ import annotations

import secrets
import time
from json import loads
from threading import Lock

from .._calls import milliseconds
from ..verifier import Verifier
from ._urls import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Union

    from .._calls import Time
    from .results import Result

    Configuration = Union[Mapping[str, Any], str, bytes]

# How long to wait for tables, in seconds: DynamoDB takes half a minute to make one.
CREATION = 60.0


class Opened:
    """A store, and a verifier whose policy it has."""

    def __init__(
        self,
        where: Any,
        configuration: Verifier | Configuration,
        create: bool,
        patience: float,
        clock: Callable[[], float] = time.time,
        *,
        is_async: bool,
    ) -> None:
        table = None
        self.store: Any = where
        if isinstance(where, str):
            self.store, table = opened(where, is_async)
        elif not hasattr(where, "session"):
            raise TypeError(f"a store or its URL, not {type(where).__name__}")
        self._dialect: str = self.store.dialect
        self.verifier: Verifier = (
            configuration
            if isinstance(configuration, Verifier)
            else Verifier(_with_stores(configuration, self._dialect, table))
        )
        policy = self.verifier.effective_configuration.get("stores")
        if policy is None:
            raise ValueError("the verifier's configuration has no block `stores`")
        if table is not None and policy.get("table") != table:
            raise ValueError("the URL names another table than `stores.table`")
        # STO-13: one verifier may serve two stores.
        self._named = {} if policy["dialect"] == self._dialect else {"dialect": self._dialect}
        self._must_create = create
        self._creating = Lock()
        # STO-78: which store it was, at the first look.
        self._lineage: str | None = None
        self._patience, self._clock = patience, clock

    def __repr__(self) -> str:
        return f"<assay.store.{type(self).__name__}: {self._dialect}>"

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _clock_from(self, now: Time | None) -> Callable[[], float]:
        """The clock of one conversation, which goes on from `now`."""
        if now is None:
            return self._clock
        begun, start = time.monotonic(), milliseconds(now) / 1000
        return lambda: start + time.monotonic() - begun

    def _request(self, kind: str, members: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in members.items() if value is not None}
        return {"kind": kind, **self._named, **given}


def taking_mode(
    mode: str | None, take_back: object, attempt: str | None
) -> tuple[str, str | None]:
    """How a refund is taken back (STO-35), and the attempt that it needs for that."""
    if mode is None:
        mode = "none" if take_back is None else "lease"
    if mode == "transaction" and take_back is None:
        raise TypeError('mode "transaction" needs a take_back')
    return mode, attempt_of(attempt)


def new_lineage() -> str:
    """What tells a new store from every other one: 32 characters (STM-8)."""
    return secrets.token_urlsafe(24)


def saw(first: str | None, found: Result) -> str | None:
    """The lineage of a store: the one that was seen first, in this process."""
    seen: str | None = found.raw.get("lineage")
    return first or seen


def attempt_of(given: str | None) -> str:
    """STO-8: one for each request, the same when it is repeated."""
    return secrets.token_urlsafe(18) if given is None else given


def _with_stores(
    configuration: Configuration, dialect: str, table: str | None
) -> Mapping[str, Any]:
    """The configuration with what the URL says, so that it is written once."""
    found: Any = configuration
    if isinstance(configuration, (str, bytes)):
        found = loads(configuration)
    stores: dict[str, Any] = dict(found.get("stores") or {})
    for name, value in (("dialect", dialect), ("table", table)):
        if value is not None and stores.setdefault(name, value) != value:
            raise ValueError(f"`stores.{name}` is {stores[name]!r}, and the URL says {value!r}")
    return {**found, "stores": stores}
