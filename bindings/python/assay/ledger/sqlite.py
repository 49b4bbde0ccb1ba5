"""The executor for SQLite 3.35 or later, with Python's own `sqlite3`."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from ._answers import LIMITS, LOG, Fault, rows_of, seconds
from ._sql import SQLExecutor, placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._answers import Answer

__all__ = ["SQLite"]

_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = FAST",
)
# After how many steps of its virtual machine SQLite checks a statement's time limit.
_ASKS = 10_000
# Python reports the engine's code since 3.11; before, only its message.
_CODES = {
    "database is locked": 5,
    "database table is locked": 6,
    "attempt to write a readonly database": 8,
    "disk I/O error": 10,
    "database disk image is malformed": 11,
    "database or disk is full": 13,
    "unable to open database file": 14,
}


class _Deadline:
    """The time at which a statement must end."""

    at = float("inf")

    def is_over(self) -> bool:
        return time.monotonic() > self.at


class _Connection(sqlite3.Connection):
    """A connection whose statements have time limits."""

    deadline: _Deadline
    lock_ms: int


class SQLite(SQLExecutor):
    """A database file, which every process of one machine may use. Neither a file on a network
    drive may be used, nor one in memory, which a crash loses.

    path     that of the file, absolute, or relative to the process's folder and beginning with
             ./. Only `Ledger.create_schema` creates a missing file
    timeout  how many seconds to wait for another writer; None: `ledger.lockMs`
    size     how many connections at most
    """

    engine = "sqlite"
    errors = (sqlite3.Error,)

    def __init__(self, path: str | Path, *, timeout: float | None = None, size: int = 16) -> None:
        text = str(path)
        if text in ("", ":memory:"):
            raise ValueError("a ledger needs a file: what is in memory is lost")
        if not (Path(path).is_absolute() or (isinstance(path, str) and path.startswith("./"))):
            raise ValueError(
                f"{text!r} is relative to a folder that nobody names: write the path from the "
                "root, or ./ for the folder in which the process runs"
            )
        self._path, self._timeout = Path(path).absolute(), timeout
        super().__init__(size, survives_fork=False)

    def make(self) -> None:
        """Create the file, empty, if it is missing (STO-78)."""
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=rwc", uri=True)) as made:
                made.execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error:
            # The attempt to open it reports the reason.
            LOG.error("sqlite: %s cannot be made", self._path)

    def forgotten(self) -> None:
        """Remove the data of a forgotten account from the write-ahead log too (STO-93), if no other
        connection reads it now."""
        pid, connection = self.pool.pid, None
        with suppress(sqlite3.Error, Fault):
            connection = self.pool.take()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if connection is not None:
            self.pool.give(connection, pid)

    def connect(self) -> sqlite3.Connection:
        wait = seconds(LIMITS, "lockMs") if self._timeout is None else self._timeout
        try:
            connection = sqlite3.connect(
                f"{self._path.as_uri()}?mode=rw",
                wait,
                isolation_level=None,
                check_same_thread=False,
                factory=_Connection,
                uri=True,
            )
            try:
                connection.lock_ms = int(wait * 1000)
                connection.deadline = _Deadline()
                connection.set_progress_handler(connection.deadline.is_over, _ASKS)
                for setting in _SETTINGS:
                    connection.execute(setting)
                # SQLite opens a file that cannot be written without an error, so a write is tried.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("PRAGMA user_version = 0")
                connection.execute("ROLLBACK")
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            fault = self.fault(error)
            if fault.code == "14":
                LOG.error("sqlite: %s cannot be opened; create_schema makes it", self._path)
            raise (Fault.standby() if fault.code == "8" else fault) from error
        return connection

    def disconnect(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def limit(self, connection: Any, limits: Mapping[str, int]) -> None:
        if self._timeout is None and connection.lock_ms != limits["lockMs"]:
            connection.execute(f"PRAGMA busy_timeout = {limits['lockMs']:d}")
            connection.lock_ms = limits["lockMs"]

    def begin(self, connection: sqlite3.Connection, limits: Mapping[str, int]) -> None:
        self.limit(connection, limits)
        connection.execute("BEGIN IMMEDIATE")

    def commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

    def rollback(self, connection: sqlite3.Connection) -> None:
        # The engine itself has rolled back after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def is_open(self, connection: sqlite3.Connection) -> bool:
        return connection.in_transaction

    def run(self, connection: Any, call: Mapping[str, Any], limits: Mapping[str, int]) -> Answer:
        connection.deadline.at = time.monotonic() + seconds(limits, "statementMs")
        try:
            cursor = connection.execute(placed(_known(call["sql"]), "?"), call["args"])
            return rows_of(cursor.fetchall()) if call["returnsRows"] else {}
        finally:
            connection.deadline.at = _Deadline.at

    def fault(self, error: Exception) -> Fault:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            text = str(error)
            code = next((known for said, known in _CODES.items() if said in text), 1)
        return Fault(code & 0xFF, getattr(error, "sqlite_errorname", None), is_certain=True)


def _known(sql: str) -> str:
    """Return the statement without STRICT, which SQLite supports since 3.37."""
    is_old = sqlite3.sqlite_version_info < (3, 37) and sql.startswith("CREATE TABLE")
    return sql.replace(" STRICT,", "") if is_old else sql
