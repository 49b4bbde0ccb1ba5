"""The executor for SQLite 3.35 or later, with Python's own `sqlite3`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ._answers import Fault, rows_of
from ._sql import SQLStore, placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._answers import Answer

__all__ = ["SQLite"]

_SETTINGS = "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"
# Python tells the engine's code since 3.11; before, by what SQLite says.
_CODES = {
    "database is locked": 5,
    "database table is locked": 6,
    "attempt to write a readonly database": 8,
    "disk I/O error": 10,
    "database disk image is malformed": 11,
    "database or disk is full": 13,
    "unable to open database file": 14,
}


class SQLite(SQLStore):
    """A file. Every process of one machine may use it; a file on a network's disk may not be
    used, nor one in memory, which a crash forgets.

    path     of the file; made if it is not there
    timeout  how many seconds to wait for another writer
    size     how many connections at most
    """

    dialect = "sqlite"
    errors = (sqlite3.Error,)

    def __init__(self, path: str | Path, *, timeout: float = 5.0, size: int = 16) -> None:
        if str(path) in ("", ":memory:"):
            raise ValueError("a ledger needs a file: what is in memory is lost")
        self._path, self._timeout = Path(path).absolute(), timeout
        super().__init__(size, survives_fork=False)

    def connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self._path, self._timeout, isolation_level=None, check_same_thread=False
            )
            try:
                for setting in _SETTINGS:
                    connection.execute(setting)
                # A file that cannot be written is opened all the same: try.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("PRAGMA user_version = 0")
                connection.execute("ROLLBACK")
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            fault = self.fault(error)
            fault.is_certain = True
            raise (Fault.standby() if fault.code == "8" else fault) from error
        return connection

    def disconnect(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def begin(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

    def rollback(self, connection: sqlite3.Connection) -> None:
        # A full disk, say, has rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def is_open(self, connection: sqlite3.Connection) -> bool:
        return connection.in_transaction

    def run(self, connection: sqlite3.Connection, sql: str, args: list[Any], rows: bool) -> Answer:
        cursor = connection.execute(placed(sql, "?"), args)
        return rows_of(cursor.fetchall()) if rows else {}

    def fault(self, error: Exception) -> Fault:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            text = str(error)
            code = next((known for said, known in _CODES.items() if said in text), 1)
        return Fault(code & 0xFF, getattr(error, "sqlite_errorname", None), is_certain=True)
