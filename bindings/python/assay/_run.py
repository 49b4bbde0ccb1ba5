"""Run an exchange to its end, with a sender or an executor (`Exchange.run`).

Loaded on first use.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any, Protocol, Union

    from ._calls import Time
    from .documents import Document
    from .http import Send
    from .ledger.grants import AsyncExecutor, AsyncSession, Executor, Grant, Session, TakeBack

    Json = Union[Mapping[str, Any], str, bytes]
    StepRunner = Callable[[Mapping[str, Any]], Awaitable[Union[Json, None]]]

    class Steps(Protocol):
        """The exchange to run, as far as this module uses it."""

        @property
        def document(self) -> Document: ...

        @property
        def payload(self) -> Mapping[str, Any]: ...

        @property
        def done(self) -> bool: ...

        def step(self, reply: Json, now: Time | None = None) -> Document: ...

        def close(self) -> None: ...


_NEEDS = 'grant_mode "transaction" needs {}'


def run(
    exchange: Steps,
    host: Send | Executor | None = None,
    grant: Callable[[Grant], object] | None = None,
    *,
    take_back: Callable[[TakeBack], object] | None = None,
    sender: Send | None = None,
    max_wait: float = 30.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], object] = time.sleep,
) -> Document:
    """Run an exchange as `Exchange.run` does.

    sender  sends the requests of an exchange that has statements as well, as `reconcile` has
    """
    if hasattr(host, "session"):
        return _run_statements(
            exchange, host, grant, take_back, sender, max_wait, clock, sleep
        )
    send: Any = host
    return _run_requests(exchange, send or _sender(), max_wait, clock, sleep)


async def run_async(
    exchange: Steps,
    host: StepRunner | AsyncExecutor,
    grant: Callable[[Grant], Awaitable[object]] | None = None,
    *,
    take_back: Callable[[TakeBack], Awaitable[object]] | None = None,
    sender: Send | None = None,
    max_wait: float = 30.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> Document:
    """Run an exchange as `Exchange.run_async` does; `sender` is called in a thread."""
    if hasattr(host, "session"):
        pause = sleep or _sleep()
        return await _run_statements_async(
            exchange, host, grant, take_back, sender, max_wait, clock, pause
        )
    return await run_steps(exchange, host, lambda: int(clock() * 1000))


async def run_steps(
    exchange: Steps, runner: StepRunner, clock: Callable[[], Time] | None = None
) -> Document:
    """Run an exchange whose steps one function performs.

    clock  returns the time of a step in seconds since 1970 UTC; None: the system's clock
    """
    while not exchange.done:
        reply = await runner(exchange.payload)
        if reply is None:
            break
        exchange.step(reply, None if clock is None else clock())
    return exchange.document


def _run_requests(
    exchange: Steps,
    send: Send,
    max_wait: float,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> Document:
    while not exchange.done:
        payload = exchange.payload
        step = payload.get("step")
        if step == "http":
            said: Mapping[str, Any] = send(payload["http"])
        elif step == "wait":
            left = payload["notBeforeMs"] / 1000 - clock()
            if left > max_wait:
                break
            if left > 0:
                sleep(left)
            said = {}
        else:
            raise NotImplementedError(f"the step {step!r} is not a request")
        exchange.step(said, int(clock() * 1000))
    return exchange.document


def _run_statements(
    exchange: Steps,
    executor: Any,
    grant: Callable[[Grant], object] | None,
    take_back: Callable[[TakeBack], object] | None,
    sender: Send | None,
    max_wait: float,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> Document:
    with executor.session() as execute:
        try:
            while not exchange.done:
                payload = exchange.payload
                step = payload.get("step")
                if step == "database":
                    said = execute(payload["database"])
                elif step == "grant":
                    said = _granted(payload["grant"], execute, grant, take_back)
                elif step == "http":
                    sender = sender or _sender()
                    said = sender(payload["http"])
                else:
                    left = _left(payload, clock)
                    if left > max_wait:
                        break
                    sleep(left)
                    said = {}
                exchange.step(said, int(clock() * 1000))
        except BaseException:
            exchange.close()
            raise
    return exchange.document


async def _run_statements_async(
    exchange: Steps,
    executor: Any,
    grant: Callable[[Grant], Awaitable[object]] | None,
    take_back: Callable[[TakeBack], Awaitable[object]] | None,
    sender: Send | None,
    max_wait: float,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[object]],
) -> Document:
    async with executor.session() as execute:
        try:
            while not exchange.done:
                payload = exchange.payload
                step = payload.get("step")
                if step == "database":
                    said = await execute(payload["database"])
                elif step == "grant":
                    said = await _granted_async(payload["grant"], execute, grant, take_back)
                elif step == "http":
                    sender = sender or _sender()
                    said = await _in_thread(sender, payload["http"])
                else:
                    left = _left(payload, clock)
                    if left > max_wait:
                        break
                    await sleep(left)
                    said = {}
                exchange.step(said, int(clock() * 1000))
        except BaseException:
            exchange.close()
            raise
    return exchange.document


def _sender() -> Send:
    """Return a sender of the standard library."""
    from .http import Sender

    return Sender()


async def _in_thread(sender: Send, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send a request without keeping the event loop from other tasks."""
    from asyncio import to_thread

    return await to_thread(sender, request)


def _sleep() -> Callable[[float], Awaitable[object]]:
    """Return asyncio.sleep, imported at the first use, because a blocking host needs no asyncio."""
    from asyncio import sleep

    return sleep


def _left(payload: Mapping[str, Any], clock: Callable[[], float]) -> float:
    """Return how many seconds to wait."""
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
    from .ledger.grants import Grant, TakeBack

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
    from .ledger.grants import Grant, TakeBack

    if found.get("what") == "take":
        if take_back is None:
            raise TypeError(_NEEDS.format("a take-back"))
        return await execute.grant(
            found, lambda connection: take_back(TakeBack.of(found, connection))
        )
    if grant is None:
        raise TypeError(_NEEDS.format("a grant"))
    return await execute.grant(found, lambda connection: grant(Grant.of(found, connection)))
