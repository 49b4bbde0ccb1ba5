"""The executors for PostgreSQL 13 or later, with psycopg 3: blocking and for asyncio."""

from __future__ import annotations

import asyncio
import os

from ._answers import BEGINS, ENDED, ENDS, Fault, done, granted, rows_of
from ._drivers import installed
from ._pool import is_quiet
from ._sql import SQLStore, placed

with installed("psycopg"):
    import psycopg
    from psycopg import pq
    from psycopg.conninfo import conninfo_to_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

    Connect = Callable[[], psycopg.Connection[Any]]
    AsyncConnect = Callable[[], Awaitable[psycopg.AsyncConnection[Any]]]

__all__ = ["AsyncPostgres", "Postgres"]

# Of a connection that the URL does not speak of. Nothing is prepared: a pooler may put the
# next statement on another connection of its own.
_SETTINGS = {
    "connect_timeout": 5,
    "target_session_attrs": "read-write",
    "keepalives_idle": 10,
    "tcp_user_timeout": 15000,
}
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_ASKED = (
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', "
    "current_setting('default_transaction_isolation')"
)
_ISOLATION = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"


class Postgres(SQLStore):
    """A database of PostgreSQL.

    where  the URL, or a function that connects; its connections are set to autocommit
    size   how many connections at most

    How long a statement may run is the role's: `ALTER ROLE … SET statement_timeout`.
    """

    dialect = "postgres"
    errors = (psycopg.Error,)

    def __init__(self, where: str | Connect, *, size: int = 8) -> None:
        self._open = where if callable(where) else lambda: psycopg.connect(**_settings(where))
        super().__init__(size)

    def connect(self) -> psycopg.Connection[Any]:
        try:
            connection = self._open()
        except psycopg.Error as error:
            raise _not_connected(error) from error
        try:
            connection.autocommit = True
            if _isolation(connection.execute(_ASKED).fetchone()) != "read committed":
                connection.execute(_ISOLATION)
        except psycopg.Error as error:
            self.disconnect(connection)
            raise Fault(error.sqlstate or "08006", is_certain=True) from error
        except BaseException:
            self.disconnect(connection)
            raise
        return connection

    def disconnect(self, connection: psycopg.Connection[Any]) -> None:
        connection.close()

    def is_quiet(self, connection: psycopg.Connection[Any]) -> bool:
        return is_quiet(connection.fileno())

    def begin(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(_BEGIN)

    def commit(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("COMMIT")

    def rollback(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("ROLLBACK")

    def is_open(self, connection: psycopg.Connection[Any]) -> bool:
        return connection.info.transaction_status == pq.TransactionStatus.INTRANS

    def run(
        self, connection: psycopg.Connection[Any], sql: str, args: list[Any], rows: bool
    ) -> Answer:
        cursor = connection.execute(placed(sql, "%s"), args, prepare=False)
        return rows_of(cursor.fetchall()) if rows else {}

    def fault(self, error: Exception) -> Fault:
        return _fault(error)


class AsyncPostgres:
    """`Postgres` for the tasks of one event loop.

    where    the URL, or a coroutine function that connects
    size     how many connections at most
    timeout  how many seconds a step may take
    """

    dialect = "postgres"

    def __init__(self, where: str | AsyncConnect, *, size: int = 8, timeout: float = 30.0) -> None:
        self.timeout = timeout
        self._where, self._size, self._pid = where, size, 0
        self._idle: list[psycopg.AsyncConnection[Any]] = []
        self._left_alone = self._idle  # those of a parent: neither used nor closed

    def __repr__(self) -> str:
        return "<assay.store.AsyncPostgres>"

    def session(self) -> AsyncPostgresSession:
        """The executor of one conversation."""
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
        await self._room.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if is_quiet(connection.fileno()):
                    return connection
                await connection.close()
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
        try:
            await connection.set_autocommit(True)
            found = await (await connection.execute(_ASKED)).fetchone()
            if _isolation(found) != "read committed":
                await connection.execute(_ISOLATION)
        except psycopg.Error as error:
            await connection.close()
            raise Fault(error.sqlstate or "08006", is_certain=True) from error
        except BaseException:
            await connection.close()
            raise
        return connection


class AsyncPostgresSession:
    """`SQLSession` for asyncio: `async with store.session() as execute`."""

    def __init__(self, store: AsyncPostgres) -> None:
        self._store = store
        self._is_begun = False
        self.connection: Any = None
        """The open one, for the host's grant."""

    async def __call__(self, step: Step) -> Answer:
        """Carry out one step; returns its answer. A cancelled one costs the connection."""
        results: list[Answer] = []
        try:
            if self.connection is None:
                self.connection = await self._store.take()
            await asyncio.wait_for(self._carry_out(step, results), self._store.timeout)
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
        connection, mark = self.connection, step["transaction"]
        if mark in BEGINS:
            await self.rollback()
            await connection.execute(_BEGIN)
            self._is_begun = True
        elif mark and not self._is_open():
            raise Fault("transaction", "no transaction is open")
        for call in step["run"]:
            cursor = await connection.execute(
                placed(call["sql"], "%s"), call["args"], prepare=False
            )
            results.append(rows_of(await cursor.fetchall()) if call["rows"] else {})
        if mark in ENDS:
            await connection.execute("COMMIT")
            self._is_begun = False

    async def _failed(self, step: Step, fault: Fault, has_results: bool) -> Answer:
        if fault.is_lost:
            await self._drop()
        elif self._is_begun:
            await self.rollback()
            fault.is_certain = True
        elif has_results:
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

    def confirm(self, step: Step) -> Answer:
        """`SQLSession.confirm`."""
        if not self._is_open():
            raise RuntimeError(ENDED)
        return granted(step)

    def _is_open(self) -> bool:
        status = self.connection.info.transaction_status if self._is_begun else None
        return bool(status == pq.TransactionStatus.INTRANS)

    async def _drop(self) -> None:
        connection, self.connection, self._is_begun = self.connection, None, False
        if connection is not None:
            await self._store.drop(connection)

    async def close(self) -> None:
        """Roll back what is open, and give the connection back."""
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
    """libpq says why in words alone; they have no password."""
    text = str(error)
    if "session is read-only" in text or "server is in hot standby mode" in text:
        return Fault.standby()
    return Fault(error.sqlstate or "08001", text, is_certain=True)


def _isolation(row: Any) -> str:
    """What a statement of its own runs under (STO-14), on a primary (STO-74)."""
    if row is None or row[0]:
        raise Fault.standby()
    return str(row[1])


def _fault(error: Exception) -> Fault:
    # Of the engine: a code. Of the client alone: the connection is gone, or the call was
    # wrong; in either case nobody knows what ran.
    code = getattr(error, "sqlstate", None)
    if code is None or code[:2] == "08" or code[:3] == "57P":
        return Fault.lost()
    return Fault(code, type(error).__name__, is_certain=code != "57014")
