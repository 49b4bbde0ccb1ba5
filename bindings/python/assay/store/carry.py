"""Carrying out the steps of a conversation with the host's own store.

    from assay.store import SQLite, carry_out

    store = SQLite("/var/lib/shop.db")              # one for the process
    with verifier.exchange(request, evidence) as exchange:
        document = carry_out(exchange, store)

`Ledger` does this for every kind of request; a host that drives its conversations itself
takes these functions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType
    from typing import Any, Protocol

    from ..documents import Document
    from ..exchange import Exchange

    class Session(Protocol):
        """Carries the steps of one conversation out, and rolls back when it is left."""

        @property
        def connection(self) -> Any: ...

        def __call__(self, step: Mapping[str, Any], /) -> Mapping[str, Any]: ...

        def grant(
            self, step: Mapping[str, Any], call: Callable[[Any], object], /
        ) -> Mapping[str, Any]: ...

        def __enter__(self) -> Session: ...

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None: ...

    class Store(Protocol):
        """A store, and the client for it: `SQLite`, `Postgres` …, or one of your own."""

        @property
        def engine(self) -> str: ...

        def session(self) -> Session: ...

    class AsyncSession(Protocol):
        """`Session` for asyncio."""

        @property
        def connection(self) -> Any: ...

        def __call__(self, step: Mapping[str, Any], /) -> Awaitable[Mapping[str, Any]]: ...

        def grant(
            self, step: Mapping[str, Any], call: Callable[[Any], Awaitable[object]], /
        ) -> Awaitable[Mapping[str, Any]]: ...

        async def __aenter__(self) -> AsyncSession: ...

        async def __aexit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None: ...

    class AsyncStore(Protocol):
        """`Store` for asyncio."""

        @property
        def engine(self) -> str: ...

        def session(self) -> AsyncSession: ...


_NEEDS = 'grant_mode "transaction" needs {}'

__all__ = ["Grant", "TakeBack", "carry_out", "carry_out_async"]


@dataclass(frozen=True)
class Grant:
    """A purchase to pay out now, once: write `grant_id` beside what you grant, under a unique
    index, and nothing where it stands already.

    fencing_token  1, then one more whenever a claim that nobody completed was taken over
    units          to give: quantity × `products.<id>.units`; after a reversal, what was taken back
    repeat         this grant_id was handed out before: perhaps it is written already
    connection     in grant mode "transaction" the open one: what you write there is committed with
                   the claim, or not at all. It refuses to end the transaction (STO-38); raise, or
                   return False, to grant nothing. `connection.nested()` is for an ORM. For DynamoDB
                   a list: append what else TransactWriteItems is to write. In grant mode "lease"
                   None
    """

    grant_id: str
    fencing_token: int
    account: str
    product: str
    quantity: int
    purchase_key: str
    connection: Any = None
    units: int = 1
    repeat: bool = False

    @classmethod
    def of(cls, found: Mapping[str, Any], connection: Any = None) -> Grant:
        """From the JSON of a grant step or of a claim."""
        return cls(
            found["grantId"],
            found["fencingToken"],
            found["account"],
            found["product"],
            found["quantity"],
            found["purchaseKey"],
            connection,
            found.get("units", found["quantity"]),
            bool(found.get("repeat")),
        )


@dataclass(frozen=True)
class TakeBack:
    """Units of a refunded purchase to take back now, once (STO-35): write `take_id` beside what
    you take, under a unique index, and nothing where it stands already.

    fencing_token  a larger one than before whenever it is handed out again
    units          to take, of what the purchase gave
    percentage     of the price that was refunded, in thousandths of a percent; None: all of it
    connection     as of a `Grant`
    """

    take_id: str
    fencing_token: int
    account: str
    product: str
    quantity: int
    units: int
    percentage: int | None
    purchase_key: str
    connection: Any = None

    @classmethod
    def of(cls, found: Mapping[str, Any], connection: Any = None) -> TakeBack:
        """From the JSON of a grant step, or of a take of a document."""
        return cls(
            found["takeId"],
            found["fencingToken"],
            found["account"],
            found["product"],
            found["quantity"],
            found["units"],
            found.get("percentage"),
            found["purchaseKey"],
            connection,
        )


def carry_out(
    exchange: Exchange,
    store: Store,
    grant: Callable[[Grant], object] | None = None,
    *,
    take_back: Callable[[TakeBack], object] | None = None,
    patience: float = 30.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], object] = time.sleep,
) -> Document:
    """Conduct a conversation to its end; returns its last document.

    store      whose session carries the steps out
    grant      takes a `Grant`, in grant mode "transaction"; called again when the engine had to
               roll back, or when its session was lost
    take_back  takes a `TakeBack`, as `grant` does
    patience   how many seconds to wait before a step, at most; a longer wait is the last
               document
    clock      the time in seconds since 1970 UTC

    A refused result is an answer, not an error: look at the document. What `grant` raises
    passes through; then, and whenever this function is left before the end, everything is
    rolled back and the conversation is closed.
    """
    with store.session() as execute:
        try:
            while not exchange.done:
                payload = exchange.payload
                step = payload.get("step")
                if step == "database":
                    said = execute(payload["database"])
                elif step == "grant":
                    said = _granted(payload["grant"], execute, grant, take_back)
                else:
                    left = _left(payload, clock)
                    if left > patience:
                        break
                    sleep(left)
                    said = {}
                exchange.step(said, int(clock() * 1000))
        except BaseException:
            exchange.close()
            raise
    return exchange.document


async def carry_out_async(
    exchange: Exchange,
    store: AsyncStore,
    grant: Callable[[Grant], Awaitable[object]] | None = None,
    *,
    take_back: Callable[[TakeBack], Awaitable[object]] | None = None,
    patience: float = 30.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> Document:
    """`carry_out` for asyncio; `grant` is a coroutine function."""
    pause = sleep or _sleep()
    async with store.session() as execute:
        try:
            while not exchange.done:
                payload = exchange.payload
                step = payload.get("step")
                if step == "database":
                    said = await execute(payload["database"])
                elif step == "grant":
                    said = await _granted_async(payload["grant"], execute, grant, take_back)
                else:
                    left = _left(payload, clock)
                    if left > patience:
                        break
                    await pause(left)
                    said = {}
                exchange.step(said, int(clock() * 1000))
        except BaseException:
            exchange.close()
            raise
    return exchange.document


def _sleep() -> Callable[[float], Awaitable[object]]:
    """Loaded at the first use: a blocking host does without asyncio."""
    from asyncio import sleep

    return sleep


def _left(payload: Mapping[str, Any], clock: Callable[[], float]) -> float:
    """How many seconds to wait."""
    step = payload.get("step")
    if step != "wait":
        raise NotImplementedError(f"the step {step!r} is not for a database")
    left: float = payload["notBeforeMs"] / 1000 - clock()
    return max(left, 0.0)


def _granted(
    found: Mapping[str, Any],
    execute: Session,
    grant: Callable[[Grant], object] | None,
    take_back: Callable[[TakeBack], object] | None,
) -> Mapping[str, Any]:
    if found.get("what") == "take":
        if take_back is None:
            raise TypeError(_NEEDS.format("a take-back"))
        return execute.grant(found, lambda connection: take_back(TakeBack.of(found, connection)))
    if grant is None:
        raise TypeError(_NEEDS.format("a grant"))
    return execute.grant(found, lambda connection: grant(Grant.of(found, connection)))


async def _granted_async(
    found: Mapping[str, Any],
    execute: AsyncSession,
    grant: Callable[[Grant], Awaitable[object]] | None,
    take_back: Callable[[TakeBack], Awaitable[object]] | None,
) -> Mapping[str, Any]:
    if found.get("what") == "take":
        if take_back is None:
            raise TypeError(_NEEDS.format("a take-back"))
        return await execute.grant(
            found, lambda connection: take_back(TakeBack.of(found, connection))
        )
    if grant is None:
        raise TypeError(_NEEDS.format("a grant"))
    return await execute.grant(found, lambda connection: grant(Grant.of(found, connection)))
