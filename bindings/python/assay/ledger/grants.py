"""Executors, which the host passes to a ledger, and grants and take-backs, which it receives.

    from assay.ledger import SQLite

    executor = SQLite("/var/lib/shop.db")           # one for the process
    with verifier.exchange(request, evidence) as exchange:
        document = exchange.run(executor)

`Ledger` does this for every operation; a host that runs its exchanges itself uses
`Exchange.run`.
"""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType
    from typing import Any, Protocol

    class Session(Protocol):
        """Performs the steps of one exchange, and rolls back on exit."""

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

    class Executor(Protocol):
        """Runs the statements of a database: `SQLite`, `Postgres` …, or one of your own."""

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

    class AsyncExecutor(Protocol):
        """`Executor` for asyncio."""

        @property
        def engine(self) -> str: ...

        def session(self) -> AsyncSession: ...


__all__ = ["Grant", "TakeBack"]


@dataclass(frozen=True)
class Grant:
    """A purchase to grant now, once: write `grant_id` beside what you grant, under a unique
    index, and nothing if it is stored already.

    fencing_token  1, and one more whenever an uncompleted claim was taken over
    units          to grant: quantity × `products.<id>.units`; after a reversal, what was taken back
    repeat         whether this grant_id was handed out before and may be stored already
    connection     in grant mode "transaction" the open one: what you write there is committed with
                   the claim, or not at all. It refuses to end the transaction (STO-38); raise, or
                   return False, to grant nothing. `connection.nested()` is for an ORM. For DynamoDB
                   a list: append further elements of TransactWriteItems. In grant mode "lease" None
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
        """Make a grant from the JSON of a grant step or of a claim."""
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
    you take, under a unique index, and nothing if it is stored already.

    fencing_token  larger than before whenever the take-back is handed out again
    units          to take back, of those that the purchase granted
    percentage     of the price that was refunded, in thousandths of a percent; None: all of it
    connection     as in a `Grant`
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
        """Make a take-back from the JSON of a grant step, or of a take in a document."""
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
