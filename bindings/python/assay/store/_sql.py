"""What the executors of the SQL engines have in common: the order of a step, its transaction,
and what follows a failure (EXC-24, STO-75). The clients' own ways are in `sqlite`,
`postgres` and `mariadb`."""

from __future__ import annotations

import re
from functools import lru_cache

from ._answers import BEGINS, ENDED, ENDS, Fault, done, granted
from ._pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

_PLACEHOLDERS = re.compile(r"\?|\$\d+|%s")


@lru_cache(512)
def placed(sql: str, mark: str) -> str:
    """A statement with the placeholders of a client. The library's texts are constants, and
    have one argument for each placeholder, in order."""
    return _PLACEHOLDERS.sub(mark, sql)


class SQLStore:
    """A database and how its client talks to it: what each engine's own class fills in."""

    dialect: str
    # What the client raises.
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
        return f"<assay.store.{type(self).__name__}>"

    def session(self) -> SQLSession:
        """The executor of one conversation."""
        return SQLSession(self)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self.pool.close()

    def connect(self) -> Any:
        """A new connection, to a primary; raises `Fault`."""
        raise NotImplementedError

    def disconnect(self, connection: Any) -> None:
        """Close, whatever state it is in; raises nothing."""
        raise NotImplementedError

    def is_quiet(self, connection: Any) -> bool:
        """Whether the server has said nothing since the last statement."""
        return True

    def begin(self, connection: Any) -> None:
        raise NotImplementedError

    def commit(self, connection: Any) -> None:
        raise NotImplementedError

    def rollback(self, connection: Any) -> None:
        raise NotImplementedError

    def is_open(self, connection: Any) -> bool:
        """Whether a transaction is open."""
        raise NotImplementedError

    def run(self, connection: Any, sql: str, args: list[Any], rows: bool) -> Answer:
        """One statement; its result."""
        raise NotImplementedError

    def fault(self, error: Exception) -> Fault:
        """What one of `errors` means."""
        raise NotImplementedError


class SQLSession:
    """Carries the steps of one conversation out, on one connection, which goes back when the
    session is closed. What is not committed then is rolled back.

        with store.session() as execute:
            answer = execute(step)
    """

    def __init__(self, store: SQLStore) -> None:
        self._store = store
        self._is_begun = False
        self._pid = 0
        self.connection: Any = None
        """The open one, for the host's grant."""

    def __call__(self, step: Step) -> Answer:
        """Carry out one step; returns its answer. What is no failure of the engine passes
        through, and the connection is not used again."""
        results: list[Answer] = []
        try:
            if self.connection is None:
                self._pid = self._store.pool.pid
                self.connection = self._store.pool.take()
            self._carry_out(step, results)
        except self._store.errors as error:
            return self._failed(step, self._store.fault(error), bool(results))
        except Fault as fault:
            return self._failed(step, fault, bool(results))
        except BaseException:
            self._drop()
            raise
        return done(step, results)

    def _carry_out(self, step: Step, results: list[Answer]) -> None:
        store, connection, mark = self._store, self.connection, step["transaction"]
        if mark in BEGINS:
            self.rollback()
            store.begin(connection)
            self._is_begun = True
        elif mark and not (self._is_begun and store.is_open(connection)):
            raise Fault("transaction", "no transaction is open")
        for call in step["run"]:
            results.append(store.run(connection, call["sql"], call["args"], call["rows"]))
        if mark in ENDS:
            store.commit(connection)
            self._is_begun = False

    def _failed(self, step: Step, fault: Fault, has_results: bool) -> Answer:
        if fault.is_lost:
            self._drop()
        elif self._is_begun:
            self.rollback()
            fault.is_certain = True
        elif has_results:
            # Statements before it stand: each is its own transaction.
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

    def confirm(self, step: Step) -> Answer:
        """The answer to a grant step, after the host's grant. Raises RuntimeError where that
        ended the transaction."""
        if not (self._is_begun and self._store.is_open(self.connection)):
            raise RuntimeError(ENDED)
        return granted(step)

    def _drop(self) -> None:
        connection, self.connection, self._is_begun = self.connection, None, False
        if connection is not None:
            self._store.pool.drop(connection, self._pid)

    def close(self) -> None:
        """Roll back what is open, and give the connection back."""
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
