"""The ledger: purchases granted once, subscriptions, quotas, challenges and accounts.

    from assay.ledger import Ledger

    ledger = Ledger("sqlite:////var/lib/shop.db", config)      # one for the process

    transaction = ledger.verifier.verify_transaction(jws)
    claim = ledger.claim(transaction, account, grant=pay_out)
    return {"answer": claim.client_result}, claim.http_status
"""

from __future__ import annotations

import time
from contextlib import suppress

from .._run import run
from ..errors import UnavailableError
from . import results as _r
from ._ledger_calls import Calls
from ._opened import CREATION, fulfilment, new_lineage, saw
from ._schema import calls_of, define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .._calls import Time
    from ..http import Send
    from ..verifier import Verifier
    from ._ledger_calls import Granting, Several, Taking
    from ._opened import Configuration
    from .grants import Executor

    R = TypeVar("R", bound=_r.Result)

__all__ = ["Ledger"]


class Ledger(Calls):
    """Runs every operation of the ledger (docs/spec/ledger.md §5).

    where          the database's URL: sqlite:////var/lib/shop.db, postgresql://…, mysql://…,
                   dynamodb://TABLE?region=…&endpoint=…, redis://…; or an executor that you made,
                   `Postgres(connect, size=20)`
    configuration  that of the verifier; `ledger.engine` and `.table` are added from the URL. Or a
                   Verifier with the block `ledger`, which may serve other databases as well
    create         whether to call `create_schema` at the first use: for tests and first steps.
                   A server that did so would begin with an empty ledger if its data is missing
    max_wait       how many seconds an exchange may wait before one step
    clock          returns the time in seconds since 1970 UTC
    sender         sends the requests of `reconcile` to Apple; None: an `assay.http.Sender`

    Safe for any number of threads, and in children of a fork. A refusal is a result: check
    `ok` or `outcome`. Wrong use raises MisuseError, TypeError or ValueError, and an
    incomplete configuration ConfigError.

    An `attempt_id` identifies one request of a client and is made by default; pass it to
    repeat a request after your own process lost the result. `now` is the time of one call, as
    in the calls of a Verifier; None: that of the clock.
    """

    verifier: Verifier
    """The verifier of the evidence."""

    def __init__(
        self,
        where: str | Executor,
        configuration: Verifier | Configuration,
        *,
        create: bool = False,
        max_wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        sender: Send | None = None,
    ) -> None:
        super().__init__(where, configuration, create, max_wait, clock, sender, is_async=False)

    def close(self) -> None:
        """Close the connections that are not in use; the ledger can still be used."""
        self.executor.close()

    def create_schema(self) -> _r.CreateSchemaResult:
        """Create tables and indexes if there are none, and on SQLite the file: for `setup` only
        (STO-78). In a database that has some of them nothing is created.

        Raises ConfigError, `at` the missing table, for a database that has only a part: restore
        a backup, or move the rest away; UnavailableError if the database is unreachable.
        """
        make = getattr(self.executor, "make", None)
        if make is not None:
            make()
        found = self._converse(
            _r.CreateSchemaResult, "create-schema", {"lineage": new_lineage()}, max_wait=CREATION
        )
        found.raise_for_status()
        self._must_create = False
        return found

    def check_schema(self, *, now: Time | None = None) -> _r.CheckSchemaResult:
        """Check that every column exists, on a primary that keeps its data, and that the database
        is the one that this ledger checked first: for the start of a server."""
        found = self._ask(_r.CheckSchemaResult, "check-schema", {"lineage": self._lineage}, now=now)
        self._lineage = saw(self._lineage, found)
        return found

    def delete_expired_rows(self) -> None:
        """Delete expired rows, and stored evidence that no row names. Call it once a day."""
        request = {"operation": "describe-schema", **self._named}
        with self.verifier.exchange(request, now=self._now()) as exchange:
            define(self.executor, calls_of(exchange.document, "garbage"))

    def _create(self) -> None:
        """Create the tables in one thread, also in a child that was forked meanwhile. If the
        database is unreachable, the operation that follows reports it, and the next call tries
        again."""
        held = self._creating.acquire(timeout=self._max_wait)
        try:
            if self._must_create:
                with suppress(UnavailableError):
                    self.create_schema()
        finally:
            if held:
                self._creating.release()

    def _fulfil(self, *asked: Any, **more: Any) -> Any:
        """Run an exchange and the grants and take-backs that follow."""
        steps, answer = fulfilment(self, *asked, **more), None
        while True:
            try:
                call = steps.send(answer)
            except StopIteration as ended:
                return ended.value
            answer = call()

    def _ask(
        self,
        answer: type[R],
        operation: str,
        members: dict[str, Any],
        evidence: Several = (),
        **more: Any,
    ) -> R:
        """Run an exchange, after the tables were created if that is configured."""
        if self._must_create:
            self._create()
        found = self._converse(answer, operation, members, evidence, **more)
        forgets = operation in ("forget-account", "forget-customer")
        if forgets and found.ok and hasattr(self.executor, "forgotten"):
            self.executor.forgotten()
        return found

    def _converse(
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
            document = run(
                exchange,
                self.executor,
                grant,
                take_back=take_back,
                sender=self._sender,
                max_wait=self._max_wait if max_wait is None else max_wait,
                clock=clock,
            )
        return answer.of(document, **(known or {}))
