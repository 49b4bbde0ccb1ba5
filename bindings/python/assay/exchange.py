"""Exchanges with the network or a ledger, one step at a time, to which the host
replies.

Loaded on first use.
"""

from __future__ import annotations

import time
from _thread import allocate_lock

from . import _prototypes as _c
from ._calls import answered, documents_of, handles_of, json_octets, milliseconds
from ._library import functions as _functions
from .documents import Document, OwnedDocument
from .errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from types import TracebackType
    from typing import Any, NoReturn, Union

    from ._calls import Evidence, OwnedVerifier, Time
    from ._run import StepRunner
    from .documents import Facts
    from .http import Send
    from .ledger.grants import AsyncExecutor, Executor, Grant, TakeBack

    Json = Union[Mapping[str, Any], str, bytes]

_exchange_new = _functions.assay_exchange_new
_exchange_step = _functions.assay_exchange_step


class OwnedExchange(_c.ExchangeHandle):
    """The address of an exchange, freed when no call uses it any more."""

    def __del__(self, free: Callable[..., Any] = _functions.assay_exchange_free) -> None:
        free(self)


def start(
    verifier: OwnedVerifier,
    request: Json,
    evidence: Evidence | Iterable[Evidence],
    now: Time | None,
) -> tuple[OwnedExchange, Document]:
    """Start an exchange. Return it, empty if it was done at once, and the first document. A refusal
    raises nothing here."""
    text = json_octets(request, "request")
    documents = documents_of(evidence)
    array, count = handles_of(documents)
    exchange, answer = OwnedExchange(), OwnedDocument()
    code = _exchange_new(
        verifier,
        text,
        len(text),
        array,
        count,
        milliseconds(now),
        exchange,
        answer,
    )
    return exchange, answered(answer, code)


class Exchange:
    """An exchange: while `done` is False, perform the step in `document` and pass the
    reply to `step`. Made by `Verifier.exchange`.

        with verifier.exchange(request) as exchange:
            document = exchange.run()                  # performs all steps
        document.raise_for_status()

    One thread at a time: a call while another thread is in `step` raises
    RuntimeError. An exchange leaves no state behind and may be abandoned at any time.
    """

    __slots__ = ("_handle", "_document", "_busy", "__weakref__")

    def __init__(self, handle: OwnedExchange, document: Document) -> None:
        if not isinstance(handle, OwnedExchange):
            raise TypeError("exchanges are made by a Verifier")
        self._handle: OwnedExchange | None = None
        self._document = document
        self._busy = allocate_lock()
        if document.code & 0xFF in (_c.ASSAY_MISUSE, _c.ASSAY_INTERNAL):
            raise refusal(document)
        if handle and document.code & 0xFF == _c.ASSAY_PENDING:
            self._handle = handle

    @property
    def document(self) -> Document:
        """The open step, or the result: the document of the last call."""
        return self._document

    @property
    def payload(self) -> Mapping[str, Any]:
        """The document's member of its kind, read-only: `step`, `http` …"""
        found: Mapping[str, Any] | None = self._document.json.get(self._document.kind)
        return found or {}

    @property
    def facts(self) -> Facts | None:
        """The typed facts of the result; None for kinds that have none."""
        return self._document.facts

    @property
    def done(self) -> bool:
        """Whether no step is open: finished, refused or closed."""
        return self._handle is None

    def step(self, reply: Json, now: Time | None = None) -> Document:
        """Pass the reply to the open step, and return the next step or the result.

        reply   a mapping, or JSON in a str or bytes, in the form of the step
                (docs/exchanges.md)
        now     int ms since 1970 UTC, or an aware datetime; None: the system's clock

        A refusal is a result, not an error: check the document. Raises MisuseError
        for a reply of the wrong form or to another step, after which the step is
        still open; ValueError if no step is open; RuntimeError if another thread is
        in this method.
        """
        text = json_octets(reply, "reply")
        if not self._busy.acquire(False):
            raise RuntimeError("another thread is using this exchange")
        try:
            handle = self._handle
            if handle is None:
                raise ValueError("the exchange is over")
            found = OwnedDocument()
            code = _exchange_step(handle, text, len(text), milliseconds(now), found)
            return self._took(answered(found, code))
        finally:
            self._busy.release()

    def run(
        self,
        host: Send | Executor | None = None,
        grant: Callable[[Grant], object] | None = None,
        *,
        take_back: Callable[[TakeBack], object] | None = None,
        max_wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> Document:
        """Run the exchange to its end, and return its last document.

        host       for HTTP steps a sender, which takes a request and returns its reply
                   (`assay.http.Sender`, the default, or `assay.senders`); for database steps
                   an executor (`assay.ledger.SQLite` …), whose session performs them
        grant      takes a `Grant`, in mode "transaction"; called again if the engine had to
                   roll back, or if its session was lost
        take_back  takes a `TakeBack`, as `grant` does
        max_wait   how many seconds to wait before a step at most. For a longer wait, the document
                   of the wait is the last one: put its `exchange.retry` into your own queue
                   (docs/exchanges.md)
        clock      returns the time in seconds since 1970 UTC

        A refusal is a result, not an error: check the document. What a sender raises passes
        through, with the step still open. What `grant` raises passes through as well; then,
        and whenever a run with an executor ends early, everything is rolled back and the
        exchange is closed.
        """
        from ._run import run

        return run(
            self, host, grant, take_back=take_back, max_wait=max_wait, clock=clock, sleep=sleep
        )

    async def run_async(
        self,
        host: StepRunner | AsyncExecutor,
        grant: Callable[[Grant], Awaitable[object]] | None = None,
        *,
        take_back: Callable[[TakeBack], Awaitable[object]] | None = None,
        max_wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] | None = None,
    ) -> Document:
        """Run as `run` does, for asyncio; `grant` and `take_back` are coroutine functions.

        host  an executor for asyncio (`assay.ledger.AsyncPostgres` …), or a coroutine
              function that takes a step (`payload`) and returns its reply, such as an
              `assay.aio.AsyncRunner`, which has a `max_wait` of its own. If it returns None,
              the run stops, and the open step is the last document

        Steps take microseconds and run where they are awaited, without a thread. After a
        cancellation a new call continues with the open step, except with an executor.
        """
        from ._run import run_async

        return await run_async(
            self, host, grant, take_back=take_back, max_wait=max_wait, clock=clock, sleep=sleep
        )

    def _took(self, document: Document) -> Document:
        """Record the document of a step or of the result, and return it."""
        family = document.code & 0xFF
        if family == _c.ASSAY_MISUSE:
            raise refusal(document)
        self._document = document
        if family != _c.ASSAY_PENDING:
            self._handle = None
        if family == _c.ASSAY_INTERNAL:
            raise refusal(document)
        return document

    def close(self) -> None:
        """Abandon the exchange. Documents remain valid. Closing twice is allowed."""
        self._handle = None

    def __enter__(self) -> Exchange:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<assay.Exchange: {self._document.status}>"

    def __copy__(self) -> Exchange:
        return self

    def __deepcopy__(self, memo: object) -> Exchange:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Exchange cannot be pickled: it lives in one process")
