"""The executor for MariaDB 10.6 or later, with PyMySQL."""

from __future__ import annotations

from ._answers import Fault, rows_of
from ._drivers import installed
from ._pool import is_quiet
from ._sql import SQLStore, placed

with installed("pymysql"):
    import pymysql
    from pymysql.constants import SERVER_STATUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Union

    from ._answers import Answer

    # It has no types of its own.
    Connection = Any
    Where = Union[Mapping[str, Any], Callable[[], Connection]]

__all__ = ["MariaDB"]

# Where the host does not say otherwise.
_SETTINGS: dict[str, Any] = {
    "charset": "utf8mb4",
    "connect_timeout": 5,
    "read_timeout": 15,
    "write_timeout": 15,
    "sql_mode": "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
}
_ISOLATION = "SET {}TRANSACTION ISOLATION LEVEL READ COMMITTED"
# Shorter than the time for an answer, or it would be unclear who got the row.
_PREPARED = _ISOLATION.format("SESSION "), "SET SESSION innodb_lock_wait_timeout = 5"
# The server is gone, the answer did not come, or the connection was closed before.
_LOST = {0, 2006, 2013, 2014, 2055, 4031}


class MariaDB(SQLStore):
    """A database of MariaDB.

    where  the arguments of `pymysql.connect` as a mapping, or a function that connects
    size   how many connections at most
    """

    dialect = "mysql"
    errors = (pymysql.MySQLError,)

    def __init__(self, where: Where, *, size: int = 8) -> None:
        self._where = where
        super().__init__(size)

    def connect(self) -> Connection:
        where = self._where
        try:
            connection = where() if callable(where) else pymysql.connect(**{**_SETTINGS, **where})
        except pymysql.MySQLError as error:
            raise Fault(_code(error), str(error.args[-1]), is_certain=True) from error
        try:
            connection.autocommit(True)
            for setting in _PREPARED:
                _rows(connection, setting)
            if _rows(connection, "SELECT @@global.read_only")[0][0]:
                raise Fault.standby()
        except pymysql.MySQLError as error:
            self.disconnect(connection)
            raise Fault(_code(error) or 2013, is_certain=True) from error
        except BaseException:
            self.disconnect(connection)
            raise
        return connection

    def disconnect(self, connection: Connection) -> None:
        # Without a good-bye, which would wait for a server that hangs.
        connection._force_close()

    def is_quiet(self, connection: Connection) -> bool:
        return is_quiet(connection._sock.fileno())

    def begin(self, connection: Connection) -> None:
        _rows(connection, _ISOLATION.format(""))
        _rows(connection, "START TRANSACTION")

    def commit(self, connection: Connection) -> None:
        _rows(connection, "COMMIT")

    def rollback(self, connection: Connection) -> None:
        _rows(connection, "ROLLBACK")

    def is_open(self, connection: Connection) -> bool:
        return bool(connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS)

    def run(self, connection: Connection, sql: str, args: list[Any], rows: bool) -> Answer:
        found = _rows(connection, placed(sql, "%s"), args)
        return rows_of(found) if rows else {}

    def fault(self, error: Exception) -> Fault:
        code = _code(error)
        # Without the text: it may quote values.
        return Fault.lost() if code in _LOST else Fault(code, is_certain=True)


def _rows(connection: Connection, sql: str, args: list[Any] | None = None) -> Any:
    with connection.cursor(pymysql.cursors.Cursor) as cursor:
        cursor.execute(sql, args or None)
        return cursor.fetchall()


def _code(error: Exception) -> int:
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0
