"""The executors for PostgreSQL 13 or later, with psycopg 3: blocking and for asyncio."""

from __future__ import annotations

import asyncio
import os
import re
from weakref import WeakKeyDictionary

from ._answers import (
    BEGINS,
    CONNECT,
    ENDS,
    Fault,
    done,
    ended,
    granted,
    limits_of,
    lost,
    refused,
    rows_of,
    seconds,
)
from ._drivers import installed
from ._guard import RELEASE, SAVEPOINT, Guard, Watch, open_already
from ._pool import PATIENCE, is_quiet
from ._sql import GOODBYE_MS, SQLExecutor, placed

with installed("psycopg"):
    import psycopg
    from psycopg import pq
    from psycopg.conninfo import conninfo_to_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

    Connect = Callable[[], psycopg.Connection[Any]]
    AsyncConnect = Callable[[], Awaitable[psycopg.AsyncConnection[Any]]]

__all__ = ["AsyncPostgres", "Postgres"]

# Settings that the URL may override.
_SETTINGS = {
    "connect_timeout": 5,
    "target_session_attrs": "read-write",
    "keepalives_idle": 10,
    "tcp_user_timeout": 15000,
}
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_ASKED = (
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', "
    "current_setting('default_transaction_isolation'), pg_backend_pid()"
)
_ISOLATION = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"
# A grant leaves the transaction idle while it does other work: at most for this many times a
# statement's time limit.
_IDLE = 3
_LIMITS = (
    "SET {0} statement_timeout = {1:d}; SET {0} lock_timeout = {2:d}; "
    "SET {0} idle_in_transaction_session_timeout = {3:d}"
)
# libpq reports the reason of a refusal by its message only. The message of a server with another
# language does not match: the server then counts as unreachable.
_REFUSALS = (
    (re.compile(r'password authentication failed|no password supplied'), "28P01"),
    (re.compile(r'database ".*" does not exist'), "3D000"),
    (re.compile(r'role ".*" (does not exist|is not permitted)|no pg_hba\.conf entry'), "28000"),
    (re.compile(r'too many (clients|connections)|remaining connection slots'), "53300"),
    (re.compile(r'the database system is|not accept(ing)? connections'), "57P03"),
)
_BUSY = (pq.TransactionStatus.ACTIVE, pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)


class _Limits:
    """The limits of statements (STO-76): set for the session if the ledger owns it, and for each
    transaction if the host connects or a pooler gives every transaction another session."""

    def __init__(self, is_own: bool) -> None:
        self._is_own = is_own
        # The limits that were set on each connection that the ledger owns.
        self._set: WeakKeyDictionary[Any, Mapping[str, int]] = WeakKeyDictionary()

    def meet(self, connection: Any, pid: int) -> None:
        """Record a new connection if the process `pid` serves it; a pooler's connection has
        another."""
        if self._is_own and connection.info.backend_pid == pid:
            self._set[connection] = {}

    def is_alone(self, connection: Any) -> bool:
        return connection in self._set

    def prepares(self, connection: Any) -> bool | None:
        """Return the argument `prepare` of `execute`: False where a pooler may run the next
        statement on another of its connections; None lets psycopg prepare what is repeated."""
        return None if self.is_alone(connection) else False

    def begin(self, connection: Any, limits: Mapping[str, int]) -> str:
        """Return the statement that begins a transaction."""
        return _BEGIN if self.is_alone(connection) else f"{_BEGIN}; {_limits('LOCAL', limits)}"

    def due(self, connection: Any, limits: Mapping[str, int]) -> str | None:
        """Return the statement that sets the session's limits first; None if they are set
        already."""
        if self._set.get(connection, limits) == limits:
            return None
        self._set[connection] = dict(limits)
        return _limits("SESSION", limits)


def _limits(scope: str, limits: Mapping[str, int]) -> str:
    statement = limits["statementMs"]
    return _LIMITS.format(scope, statement, limits["lockMs"], _IDLE * statement)


class Postgres(SQLExecutor):
    """A database of PostgreSQL.

    where  the URL, or a function that connects; its connections are set to autocommit. One that
           is in a transaction already is refused and left unchanged
    size   how many connections at most
    """

    engine = "postgres"
    errors = (psycopg.Error,)

    def __init__(self, where: str | Connect, *, size: int = 8) -> None:
        self._open = where if callable(where) else lambda: psycopg.connect(**_settings(where))
        self._limits = _Limits(not callable(where))
        super().__init__(size)

    def connect(self) -> psycopg.Connection[Any]:
        try:
            connection = self._open()
        except psycopg.Error as error:
            raise _not_connected(error) from error
        if self.is_busy(connection):
            raise open_already()
        try:
            connection.autocommit = True
            isolation, pid = _asked(connection.execute(_ASKED).fetchone())
            if isolation != "read committed":
                connection.execute(_ISOLATION)
            self._limits.meet(connection, pid)
        except psycopg.Error as error:
            self.disconnect(connection)
            raise Fault.unreached(error, error.sqlstate or CONNECT) from error
        except BaseException:
            self.disconnect(connection)
            raise
        return connection

    def disconnect(self, connection: psycopg.Connection[Any]) -> None:
        connection.close()

    def is_quiet(self, connection: psycopg.Connection[Any]) -> bool:
        return is_quiet(connection.fileno())

    def is_busy(self, connection: psycopg.Connection[Any]) -> bool:
        return connection.info.transaction_status in _BUSY

    def is_gone(self, connection: psycopg.Connection[Any], wait_ms: int) -> bool:
        return _is_gone(connection, wait_ms)

    def limit(self, connection: psycopg.Connection[Any], limits: Mapping[str, int]) -> None:
        due = self._limits.due(connection, limits)
        if due is not None:
            connection.execute(due)

    def must_wrap(self, connection: psycopg.Connection[Any]) -> bool:
        return not self._limits.is_alone(connection)

    def begin(self, connection: psycopg.Connection[Any], limits: Mapping[str, int]) -> None:
        self.limit(connection, limits)
        connection.execute(self._limits.begin(connection, limits))

    def commit(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("COMMIT")

    def rollback(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("ROLLBACK")

    def is_open(self, connection: psycopg.Connection[Any]) -> bool:
        return connection.info.transaction_status == pq.TransactionStatus.INTRANS

    def run(
        self,
        connection: psycopg.Connection[Any],
        call: Mapping[str, Any],
        limits: Mapping[str, int],
    ) -> Answer:
        prepare = self._limits.prepares(connection)
        cursor = connection.execute(placed(call["sql"], "%s"), call["args"], prepare=prepare)
        return rows_of(cursor.fetchall()) if call["returnsRows"] else {}

    def fault(self, error: Exception) -> Fault:
        return _fault(error)


class AsyncPostgres:
    """`Postgres` for the tasks of one event loop.

    where    the URL, or a coroutine function that connects
    size     how many connections at most
    timeout  how many seconds a step may take
    """

    engine = "postgres"

    def __init__(self, where: str | AsyncConnect, *, size: int = 8, timeout: float = 15.0) -> None:
        self.timeout = timeout
        self.limits = _Limits(not callable(where))
        self._where, self._size, self._pid = where, size, 0
        self._idle: list[psycopg.AsyncConnection[Any]] = []
        self._left_alone = self._idle  # those of a parent: neither used nor closed

    def __repr__(self) -> str:
        return "<assay.ledger.AsyncPostgres>"

    def session(self) -> AsyncPostgresSession:
        """Return the session that performs the steps of one exchange."""
        return AsyncPostgresSession(self)

    async def close(self) -> None:
        """Close the connections that are not in use."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()

    async def take(self) -> psycopg.AsyncConnection[Any]:
        if self._pid != os.getpid():
            self._pid, self._left_alone, self._idle = os.getpid(), self._idle, []
            self._room = asyncio.Semaphore(self._size)
        try:
            await asyncio.wait_for(self._room.acquire(), PATIENCE)
        except asyncio.TimeoutError:
            raise Fault(CONNECT, "every connection is in use", is_certain=True) from None
        try:
            while self._idle:
                connection = self._idle.pop()
                if not is_quiet(connection.fileno()):
                    await connection.close()
                    continue
                if connection.info.transaction_status in _BUSY:
                    self._idle.append(connection)
                    raise open_already()
                return connection
            return await self._connect()
        except BaseException:
            self._room.release()
            raise

    def give(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._idle.append(connection)
        self._room.release()

    async def drop(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._room.release()
        await connection.close()
        await self.close()

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        where = self._where
        try:
            if callable(where):
                connection = await where()
            else:
                connection = await psycopg.AsyncConnection.connect(**_settings(where))
        except psycopg.Error as error:
            raise _not_connected(error) from error
        if connection.info.transaction_status in _BUSY:
            raise open_already()
        try:
            await connection.set_autocommit(True)
            found = await (await connection.execute(_ASKED)).fetchone()
            isolation, pid = _asked(found)
            if isolation != "read committed":
                await connection.execute(_ISOLATION)
            self.limits.meet(connection, pid)
        except psycopg.Error as error:
            await connection.close()
            raise Fault.unreached(error, error.sqlstate or CONNECT) from error
        except BaseException:
            await connection.close()
            raise
        return connection


class AsyncPostgresSession:
    """`SQLSession` for asyncio: `async with executor.session() as execute`."""

    def __init__(self, store: AsyncPostgres) -> None:
        self._store = store
        self._is_begun = False
        self.connection: Any = None
        """The open connection; a grant receives it guarded. None before the first step."""

    async def __call__(self, step: Step) -> Answer:
        """Perform one step, and return its reply. A cancelled step costs the connection."""
        results: list[Answer] = []
        try:
            if self.connection is None:
                self.connection = await self._store.take()
            # A change of tables may run for longer than the time-out.
            most = max(self._store.timeout, seconds(limits_of(step), "statementMs"))
            await asyncio.wait_for(self._carry_out(step, results), most)
        except asyncio.TimeoutError:
            return await self._failed(step, Fault.lost(), True)
        except psycopg.Error as error:
            return await self._failed(step, _fault(error), bool(results))
        except Fault as fault:
            return await self._failed(step, fault, bool(results))
        except BaseException:
            await self._drop()
            raise
        return done(step, results)

    async def _carry_out(self, step: Step, results: list[Answer]) -> None:
        connection, mark, limits = self.connection, step["transaction"], limits_of(step)
        if mark in BEGINS:
            await self.rollback()
            await self._begin(limits)
        elif mark and not self._is_open():
            raise Fault("transaction", "no transaction is open")
        elif mark is None:
            await self._limit(limits)
        wraps = mark is None and not self._is_begun
        wraps = wraps and not self._store.limits.is_alone(connection)
        for call in step["calls"]:
            if wraps:
                await self._begin(limits)
            cursor = await connection.execute(
                placed(call["sql"], "%s"), call["args"],
                prepare=self._store.limits.prepares(connection),
            )
            results.append(rows_of(await cursor.fetchall()) if call["returnsRows"] else {})
            if wraps:
                await self._commit()
        if mark in ENDS:
            await self._commit()

    async def _limit(self, limits: Mapping[str, int]) -> None:
        due = self._store.limits.due(self.connection, limits)
        if due is not None:
            await self.connection.execute(due)

    async def _begin(self, limits: Mapping[str, int]) -> None:
        await self._limit(limits)
        await self.connection.execute(self._store.limits.begin(self.connection, limits))
        self._is_begun = True

    async def _commit(self) -> None:
        await self.connection.execute("COMMIT")
        self._is_begun = False

    async def _failed(self, step: Step, fault: Fault, has_results: bool) -> Answer:
        if fault.is_lost:
            await self._drop()
        elif self._is_begun:
            await self.rollback()
            fault.is_certain = True
        if has_results and step["transaction"] is None:
            fault.is_certain = False
        return fault.answer(step)

    async def rollback(self) -> None:
        """Undo what is not committed."""
        if self._is_begun:
            self._is_begun = False
            try:
                await self.connection.execute("ROLLBACK")
            except psycopg.Error:
                await self._drop()

    async def grant(self, step: Step, call: Callable[[Any], Awaitable[object]]) -> Answer:
        """Grant as `SQLSession.grant` does."""
        if not await self._is_marked(SAVEPOINT):
            return await self._ended(step)
        watch = Watch()
        try:
            said = await call(Guard(self.connection, watch))
        except Exception as error:
            if watch.fault is None:
                of_client = isinstance(error, psycopg.Error) and _fault(error).is_lost
                if not _is_gone(self.connection, GOODBYE_MS if of_client else 0):
                    raise
                await self._drop()
                return lost(step)
            return await self._ended(step)
        finally:
            watch.is_over = True
        if watch.fault is None and said is False:
            await self.rollback()
            return refused(step)
        if watch.fault is None and await self._is_marked(RELEASE):
            return granted(step)
        return await self._ended(step)

    async def _is_marked(self, statement: str) -> bool:
        if not self._is_begun:
            return False
        try:
            if self._is_open():
                await self.connection.execute(statement)
                return True
        except psycopg.Error as error:
            if _fault(error).is_lost:
                await self._drop()
                return False
        if _is_gone(self.connection, 0):
            await self._drop()
        return False

    async def _ended(self, step: Step) -> Answer:
        if self.connection is None:
            return lost(step)
        await self._drop()
        return ended(step)

    def _is_open(self) -> bool:
        status = self.connection.info.transaction_status if self._is_begun else None
        return bool(status == pq.TransactionStatus.INTRANS)

    async def _drop(self) -> None:
        connection, self.connection, self._is_begun = self.connection, None, False
        if connection is not None:
            await self._store.drop(connection)

    async def close(self) -> None:
        """Roll back an open transaction, and return the connection to the pool."""
        await self.rollback()
        connection, self.connection = self.connection, None
        if connection is not None:
            self._store.give(connection)

    async def __aenter__(self) -> AsyncPostgresSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _settings(url: str) -> dict[str, Any]:
    return {**_SETTINGS, **conninfo_to_dict(url), "autocommit": True}


def _not_connected(error: psycopg.Error) -> Fault:
    """Return the fault for libpq's message, its only reason, which contains no password."""
    text = str(error)
    if "session is read-only" in text or "server is in hot standby mode" in text:
        return Fault.standby()
    known = next((code for words, code in _REFUSALS if words.search(text)), CONNECT)
    return Fault.unreached(error, error.sqlstate or known)


def _asked(row: Any) -> tuple[str, int]:
    """Return the default isolation level (STO-14) and the process of a primary; raises the standby
    fault for another server (STO-74)."""
    if row is None or row[0]:
        raise Fault.standby()
    return str(row[1]), int(row[2])


def _is_gone(connection: Any, wait_ms: int) -> bool:
    return bool(connection.closed) or not is_quiet(connection.fileno(), wait_ms)


def _fault(error: Exception) -> Fault:
    # An error of the engine has a code. An error of the client only means that the connection is
    # gone, or that the call was wrong: the statement may or may not have run. 25P03 ended the
    # session (STO-39).
    code = getattr(error, "sqlstate", None)
    if code is None or code[:2] == "08" or code[:3] == "57P" or code == "25P03":
        return Fault.lost()
    return Fault(code, type(error).__name__, is_certain=code != "57014")
