"""The executor for MariaDB 10.6 or later, with PyMySQL."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ._answers import CONNECT, Fault, rows_of, seconds
from ._drivers import installed
from ._guard import open_already
from ._pool import is_quiet
from ._sql import SQLExecutor, placed

with installed("pymysql"):
    import pymysql
    from pymysql.constants import SERVER_STATUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Union

    from ._answers import Answer

    # PyMySQL has no types of its own.
    Connection = Any
    Where = Union[Mapping[str, Any], Callable[[], Connection]]

__all__ = ["MariaDB"]

# Used unless the host sets something else.
_SETTINGS: dict[str, Any] = {
    "charset": "utf8mb4",
    "connect_timeout": 5,
    "read_timeout": 15,
    "write_timeout": 15,
    "sql_mode": "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
}
_ISOLATION = "SET {}TRANSACTION ISOLATION LEVEL READ COMMITTED"
# The limits of a statement (STO-76): of its time, of row locks, and of table locks.
_LIMITS = "max_statement_time={:g}, innodb_lock_wait_timeout={:d}, lock_wait_timeout={:d}"
# How much longer a reply may take than its statement, in seconds.
_GRACE = 5.0
# Codes of a server that is gone, a reply that did not arrive, or a closed connection.
_LOST = {0, 2006, 2013, 2014, 2055, 4031}
# The codes of the server, which end before the client's own.
_OF_SERVER = range(1000, 2000)


class MariaDB(SQLExecutor):
    """A database of MariaDB.

    where  the arguments of `pymysql.connect` as a mapping, or a function that connects. A
           connection that is in a transaction already is refused and left unchanged
    size   how many connections at most
    """

    engine = "mariadb"
    errors = (pymysql.MySQLError,)

    def __init__(self, where: Where, *, size: int = 8) -> None:
        self._where = where
        self._limits: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
        super().__init__(size)

    def connect(self) -> Connection:
        where = self._where
        try:
            connection = where() if callable(where) else pymysql.connect(**{**_SETTINGS, **where})
        except pymysql.MySQLError as error:
            code = _code(error)
            raise Fault.unreached(error, code if code in _OF_SERVER else CONNECT) from error
        if self.is_open(connection):
            raise open_already()
        try:
            connection.autocommit(True)
            _rows(connection, _ISOLATION.format("SESSION "))
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
        # Closed without a farewell, which would wait for a server that hangs.
        connection._force_close()

    def is_quiet(self, connection: Connection) -> bool:
        return is_quiet(connection._sock.fileno())

    def limit(self, connection: Connection, limits: Mapping[str, int]) -> None:
        # A connection that the host made is not the ledger's only: `run` sets its limits.
        text = _limits(limits)
        if not callable(self._where) and self._limits.get(connection) != text:
            _rows(connection, f"SET SESSION {text}")
            self._limits[connection] = text
            if "read_timeout" not in self._where:
                connection._read_timeout = seconds(limits, "statementMs") + _GRACE

    def begin(self, connection: Connection, limits: Mapping[str, int]) -> None:
        self.limit(connection, limits)
        _rows(connection, _ISOLATION.format(""))
        _rows(connection, "START TRANSACTION")

    def commit(self, connection: Connection) -> None:
        _rows(connection, "COMMIT")

    def rollback(self, connection: Connection) -> None:
        _rows(connection, "ROLLBACK")

    def is_open(self, connection: Connection) -> bool:
        return bool(connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS)

    def is_gone(self, connection: Connection, wait_ms: int) -> bool:
        return connection._sock is None or not is_quiet(connection._sock.fileno(), wait_ms)

    def run(
        self, connection: Connection, call: Mapping[str, Any], limits: Mapping[str, int]
    ) -> Answer:
        sql = placed(call["sql"], "%s")
        if callable(self._where):
            sql = f"SET STATEMENT {_limits(limits)} FOR {sql}"
        found = _rows(connection, sql, call["args"])
        return rows_of(found) if call["returnsRows"] else {}

    def fault(self, error: Exception) -> Fault:
        code = _code(error)
        # The message is left out, because it may quote values.
        return Fault.lost() if code in _LOST else Fault(code, is_certain=True)


def _limits(limits: Mapping[str, int]) -> str:
    lock = max(1, round(seconds(limits, "lockMs")))
    return _LIMITS.format(seconds(limits, "statementMs"), lock, lock)


def _rows(connection: Connection, sql: str, args: list[Any] | None = None) -> Any:
    with connection.cursor(pymysql.cursors.Cursor) as cursor:
        cursor.execute(sql, args or None)
        return cursor.fetchall()


def _code(error: Exception) -> int:
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0
