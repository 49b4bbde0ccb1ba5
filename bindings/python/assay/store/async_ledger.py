"""`Ledger` for asyncio.

    from assay.store import AsyncLedger

    ledger = AsyncLedger("postgresql:///shop", config)
    claim = await ledger.claim(transaction, account, grant=pay_out)
"""

from __future__ import annotations

import time
from contextlib import suppress

from ..errors import UnavailableError
from . import results as _r
from ._async_ledger_calls import AsyncCalls
from ._opened import CREATION, fulfilment, new_lineage, saw
from ._schema import calls_of, define_async
from .carry import carry_out_async

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .._calls import Time
    from ..verifier import Verifier
    from ._async_ledger_calls import Granting, Several, Taking
    from ._opened import Configuration
    from .carry import AsyncStore

    R = TypeVar("R", bound=_r.Result)

__all__ = ["AsyncLedger"]


class AsyncLedger(AsyncCalls):
    """`Ledger` for the tasks of one event loop, where the client has both: psycopg and
    redis-py. The same calls; a grant is a coroutine function.

    where  postgresql://…, redis://…; or a store that you made, `AsyncPostgres(connect)`
    """

    verifier: Verifier
    """Verifies the evidence."""

    def __init__(
        self,
        where: str | AsyncStore,
        configuration: Verifier | Configuration,
        *,
        create: bool = False,
        patience: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(where, configuration, create, patience, clock, is_async=True)

    async def close(self) -> None:
        """`Ledger.close`."""
        await self.store.close()

    async def create_schema(self) -> _r.CreateResult:
        """`Ledger.create_schema`."""
        found = await self._converse(
            _r.CreateResult, "create-schema", {"lineage": new_lineage()}, patience=CREATION
        )
        found.raise_for_refusal()
        self._must_create = False
        return found

    async def check_schema(self, *, now: Time | None = None) -> _r.SchemaResult:
        """`Ledger.check_schema`."""
        known = {"lineage": self._lineage}
        found = await self._ask(_r.SchemaResult, "check-schema", known, now=now)
        self._lineage = saw(self._lineage, found)
        return found

    async def delete_expired(self) -> None:
        """`Ledger.delete_expired`."""
        request = {"operation": "describe-schema", **self._named}
        with self.verifier.exchange(request, now=self._now()) as exchange:
            await define_async(self.store, calls_of(exchange.document, "garbage"))

    async def _fulfil(self, *asked: Any, **more: Any) -> Any:
        """A conversation, and what is then granted and taken back."""
        steps, answer = fulfilment(self, *asked, **more), None
        while True:
            try:
                call = steps.send(answer)
            except StopIteration as ended:
                return ended.value
            answer = await call()

    async def _ask(
        self,
        answer: type[R],
        operation: str,
        members: dict[str, Any],
        evidence: Several = (),
        **more: Any,
    ) -> R:
        """A whole conversation, with a store that has its tables."""
        if self._must_create:
            with suppress(UnavailableError):
                await self.create_schema()
        return await self._converse(answer, operation, members, evidence, **more)

    async def _converse(
        self,
        answer: type[R],
        operation: str,
        members: dict[str, Any],
        evidence: Several = (),
        *,
        grant: Granting | None = None,
        take_back: Taking | None = None,
        known: dict[str, Any] | None = None,
        patience: float | None = None,
        now: Time | None = None,
    ) -> R:
        """A whole conversation."""
        request, clock = self._request(operation, members), self._clock_from(now)
        with self.verifier.exchange(request, evidence, self._begins(now)) as exchange:
            document = await carry_out_async(
                exchange,
                self.store,
                grant,
                take_back=take_back,
                patience=self._patience if patience is None else patience,
                clock=clock,
            )
        return answer.of(document, **(known or {}))
