"""`Ledger` for asyncio.

    from assay.ledger import AsyncLedger

    ledger = AsyncLedger("postgresql:///shop", config)
    claim = await ledger.claim(transaction, account, grant=pay_out)
"""

from __future__ import annotations

import time
from contextlib import suppress

from .._run import run_async
from ..errors import UnavailableError
from . import results as _r
from ._async_ledger_calls import AsyncCalls
from ._opened import CREATION, fulfilment, new_lineage, saw
from ._schema import calls_of, define_async

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .._calls import Time
    from ..http import Send
    from ..verifier import Verifier
    from ._async_ledger_calls import Granting, Several, Taking
    from ._opened import Configuration
    from .grants import AsyncExecutor

    R = TypeVar("R", bound=_r.Result)

__all__ = ["AsyncLedger"]


class AsyncLedger(AsyncCalls):
    """`Ledger` for the tasks of one event loop, with a client that supports asyncio: psycopg or
    redis-py. It has the calls of `Ledger`; a grant is a coroutine function.

    where  postgresql://…, redis://…; or an executor that you made, `AsyncPostgres(connect)`
    """

    verifier: Verifier
    """The verifier of the evidence."""

    def __init__(
        self,
        where: str | AsyncExecutor,
        configuration: Verifier | Configuration,
        *,
        create: bool = False,
        max_wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        sender: Send | None = None,
    ) -> None:
        super().__init__(where, configuration, create, max_wait, clock, sender, is_async=True)

    async def close(self) -> None:
        """Close as `Ledger.close` does."""
        await self.executor.close()

    async def create_schema(self) -> _r.CreateSchemaResult:
        """Create the schema as `Ledger.create_schema` does."""
        found = await self._converse(
            _r.CreateSchemaResult, "create-schema", {"lineage": new_lineage()}, max_wait=CREATION
        )
        found.raise_for_status()
        self._must_create = False
        return found

    async def check_schema(self, *, now: Time | None = None) -> _r.CheckSchemaResult:
        """Check the schema as `Ledger.check_schema` does."""
        known = {"lineage": self._lineage}
        found = await self._ask(_r.CheckSchemaResult, "check-schema", known, now=now)
        self._lineage = saw(self._lineage, found)
        return found

    async def delete_expired_rows(self) -> None:
        """Delete rows as `Ledger.delete_expired_rows` does."""
        request = {"operation": "describe-schema", **self._named}
        with self.verifier.exchange(request, now=self._now()) as exchange:
            await define_async(self.executor, calls_of(exchange.document, "garbage"))

    async def _fulfil(self, *asked: Any, **more: Any) -> Any:
        """Run an exchange and the grants and take-backs that follow."""
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
        """Run an exchange, after the tables were created if that is configured."""
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
        max_wait: float | None = None,
        now: Time | None = None,
    ) -> R:
        """Run one exchange."""
        request, clock = self._request(operation, members), self._clock_from(now)
        with self.verifier.exchange(request, evidence, self._begins(now)) as exchange:
            document = await run_async(
                exchange,
                self.executor,
                grant,
                take_back=take_back,
                sender=self._sender,
                max_wait=self._max_wait if max_wait is None else max_wait,
                clock=clock,
            )
        return answer.of(document, **(known or {}))
