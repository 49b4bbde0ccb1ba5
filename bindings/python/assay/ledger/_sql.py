"""The common part of the executors for SQL engines: the order of a step, its transaction, and what
follows a failure (EXC-24, STO-75). What is specific to a client is in `sqlite`, `postgres` and
`mariadb`."""

from __future__ import annotations

import re
from functools import lru_cache

from ._answers import BEGINS, ENDS, Fault, done, ended, granted, limits_of, lost, refused
from ._guard import RELEASE, SAVEPOINT, Guard, Watch, open_already, run
from ._pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

# The time between a server's last message and its end of the connection, in milliseconds.
GOODBYE_MS = 100
_PLACEHOLDERS = re.compile(r"\?|\$\d+|%s")


@lru_cache(512)
def placed(sql: str, mark: str) -> str:
    """Return a statement with the placeholders of a client. The library's texts are constants and
    have one argument for each placeholder, in order."""
    return _PLACEHOLDERS.sub(mark, sql)


class SQLExecutor:
    """A database and its client, completed by the class of each engine."""

    engine: str
    # The exceptions of the client.
    errors: tuple[type[Exception], ...]

    def __init__(self, size: int, *, survives_fork: bool = True) -> None:
        self.pool = Pool(
            self.connect,
            self.disconnect,
            size,
            is_quiet=self.is_quiet,
            survives_fork=survives_fork,
        )

    def __repr__(self) -> str:
        return f"<assay.ledger.{type(self).__name__}>"

    def session(self) -> SQLSession:
        """Return the session that performs the steps of one exchange."""
        return SQLSession(self)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self.pool.close()

    def connect(self) -> Any:
        """Return a new connection to a primary; raises `Fault`."""
        raise NotImplementedError

    def disconnect(self, connection: Any) -> None:
        """Close a connection in any state; raises nothing."""
        raise NotImplementedError

    def is_quiet(self, connection: Any) -> bool:
        """Return whether the server has sent nothing since the last statement."""
        return True

    def limit(self, connection: Any, limits: Mapping[str, int]) -> None:
        """Set the limits of a step (STO-76) if the connection belongs to the ledger only."""
        raise NotImplementedError

    def must_wrap(self, connection: Any) -> bool:
        """Return whether a single statement needs a transaction to have its limits."""
        return False

    def begin(self, connection: Any, limits: Mapping[str, int]) -> None:
        raise NotImplementedError

    def commit(self, connection: Any) -> None:
        raise NotImplementedError

    def rollback(self, connection: Any) -> None:
        raise NotImplementedError

    def is_open(self, connection: Any) -> bool:
        """Return whether a transaction is open."""
        raise NotImplementedError

    def is_busy(self, connection: Any) -> bool:
        """Return whether the host uses a connection that no exchange has taken."""
        return self.is_open(connection)

    def is_gone(self, connection: Any, wait_ms: int) -> bool:
        """Return whether the server has closed the connection, or does so within `wait_ms`."""
        return False

    def run(
        self, connection: Any, call: Mapping[str, Any], limits: Mapping[str, int]
    ) -> Answer:
        """Run one statement, and return its result."""
        raise NotImplementedError

    def fault(self, error: Exception) -> Fault:
        """Return the fault that one of `errors` means."""
        raise NotImplementedError


class SQLSession:
    """Performs the steps of one exchange on one connection, which returns to the pool when
    the session is closed. What is not committed then is rolled back.

        with store.session() as execute:
            answer = execute(step)
    """

    def __init__(self, store: SQLExecutor) -> None:
        self._store = store
        self._is_begun = False
        self._pid = 0
        self.connection: Any = None
        """The open connection; a grant receives it guarded. None before the first step."""

    def __call__(self, step: Step) -> Answer:
        """Perform one step, and return its reply. Exceptions other than the engine's pass through,
        and the connection is not used again."""
        results: list[Answer] = []
        try:
            if self.connection is None:
                self._take()
            self._carry_out(step, results)
        except self._store.errors as error:
            return self._failed(step, self._store.fault(error), bool(results))
        except Fault as fault:
            return self._failed(step, fault, bool(results))
        except BaseException:
            self._drop()
            raise
        return done(step, results)

    def _take(self) -> None:
        pid, connection = self._store.pool.pid, self._store.pool.take()
        if self._store.is_busy(connection):
            # The connection is the host's and in use by the host: it is left unchanged.
            self._store.pool.give(connection, pid)
            raise open_already()
        self._pid, self.connection = pid, connection

    def _carry_out(self, step: Step, results: list[Answer]) -> None:
        store, connection, mark = self._store, self.connection, step["transaction"]
        limits = limits_of(step)
        if mark in BEGINS:
            self.rollback()
            self._begin(limits)
        elif mark and not (self._is_begun and store.is_open(connection)):
            raise Fault("transaction", "no transaction is open")
        elif mark is None:
            store.limit(connection, limits)
        wraps = mark is None and not self._is_begun and store.must_wrap(connection)
        for call in step["calls"]:
            if wraps:
                self._begin(limits)
            results.append(store.run(connection, call, limits))
            if wraps:
                self._commit()
        if mark in ENDS:
            self._commit()

    def _begin(self, limits: Mapping[str, int]) -> None:
        self._store.begin(self.connection, limits)
        self._is_begun = True

    def _commit(self) -> None:
        self._store.commit(self.connection)
        self._is_begun = False

    def _failed(self, step: Step, fault: Fault, has_results: bool) -> Answer:
        if fault.is_lost:
            self._drop()
        elif self._is_begun:
            self.rollback()
            fault.is_certain = True
        if has_results and step["transaction"] is None:
            # The statements before the failed one are committed: each is its own transaction.
            fault.is_certain = False
        return fault.answer(step)

    def rollback(self) -> None:
        """Undo what is not committed."""
        if self._is_begun:
            self._is_begun = False
            try:
                self._store.rollback(self.connection)
            except self._store.errors:
                self._drop()

    def grant(self, step: Step, call: Callable[[Any], object]) -> Answer:
        """Have the host's `call` grant in the open transaction, guarded (STO-38), and return the
        reply to the grant step. What `call` raises passes through."""
        if not self._is_marked(SAVEPOINT):
            return self._ended(step)
        watch = Watch()
        try:
            said = call(Guard(self.connection, watch))
        except Exception as error:
            if watch.fault is None:
                if not self._is_lost(error):
                    raise
                self._drop()
                return lost(step)
            return self._ended(step)
        finally:
            watch.is_over = True
        if watch.fault is None and said is False:
            self.rollback()
            return refused(step)
        if watch.fault is None and self._is_marked(RELEASE):
            return granted(step)
        return self._ended(step)

    def _is_marked(self, statement: str) -> bool:
        """Return whether the transaction that the claim began is still open. If the session was
        lost, return False and drop the connection."""
        store = self._store
        if not self._is_begun:
            return False
        try:
            if store.is_open(self.connection):
                run(self.connection, statement)
                return True
        except store.errors as error:
            if store.fault(error).is_lost:
                self._drop()
                return False
        if store.is_gone(self.connection, 0):
            self._drop()
        return False

    def _is_lost(self, error: Exception) -> bool:
        """Return whether the session was lost during the grant. An error of the client may also be
        about another connection of the host."""
        store = self._store
        of_client = isinstance(error, store.errors) and store.fault(error).is_lost
        return store.is_gone(self.connection, GOODBYE_MS if of_client else 0)

    def _ended(self, step: Step) -> Answer:
        if self.connection is None:
            return lost(step)
        self._drop()
        return ended(step)

    def _drop(self) -> None:
        connection, self.connection, self._is_begun = self.connection, None, False
        if connection is not None:
            self._store.pool.drop(connection, self._pid)

    def close(self) -> None:
        """Roll back an open transaction, and return the connection to the pool."""
        if self._pid == self._store.pool.pid:
            self.rollback()
        connection, self.connection, self._is_begun = self.connection, None, False
        if connection is not None:
            self._store.pool.give(connection, self._pid)

    def __enter__(self) -> SQLSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
