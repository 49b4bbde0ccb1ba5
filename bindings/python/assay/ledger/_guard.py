"""The open transaction of a claim in the form that its grant receives (STO-38): statements pass,
and a call that would end the transaction raises `misuse.ledger.transaction`."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, NoReturn

    from ..errors import AssayError

# The executor sets this savepoint before the grant and releases it afterwards. It is gone if the
# transaction ended in any way, even if another one was begun since.
SAVEPOINT, RELEASE = "SAVEPOINT assay_grant", "RELEASE SAVEPOINT assay_grant"
_NESTED, _KEPT, _UNDONE = (
    "SAVEPOINT assay_nested",
    "RELEASE SAVEPOINT assay_nested",
    "ROLLBACK TO SAVEPOINT assay_nested",
)

# Methods of psycopg, PyMySQL and sqlite3 that end a transaction, or change how one is begun.
_ENDING = frozenset(
    (
        "begin", "close", "commit", "executescript", "ping", "rollback", "select_db",
        "set_autocommit", "set_deferrable", "set_isolation_level", "set_read_only", "tpc_begin",
        "tpc_commit", "tpc_prepare", "tpc_rollback",
    )
)
_SETTINGS = frozenset(("autocommit", "deferrable", "isolation_level", "read_only"))
# Methods that take the text of a statement.
_ASKING = frozenset(("execute", "executemany", "query", "stream"))
_SPACE = r"(?:\s|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*"
_ENDS = re.compile(
    _SPACE + r"(?:COMMIT|END|ABORT|BEGIN|START\s+TRANSACTION|PREPARE\s+TRANSACTION|DISCARD|XA"
    r"|ROLLBACK(?!(?:\s+(?:WORK|TRANSACTION))?\s+TO\b)"
    r"|SET\s+(?:SESSION\s+|LOCAL\s+|@@(?:SESSION\.)?)?AUTOCOMMIT)\b",
    re.IGNORECASE | re.DOTALL,
)
_READS = re.compile(
    _SPACE + r"(?:SELECT|SHOW|PRAGMA|VALUES|EXPLAIN|SET|SAVEPOINT|RELEASE|ROLLBACK)\b",
    re.IGNORECASE | re.DOTALL,
)


def misuse(message: str) -> AssayError:
    """Return `misuse.ledger.transaction` with this message."""
    from ..documents import status_named
    from ..errors import MisuseError, refusal_of_status

    code = status_named("misuse.ledger.transaction")
    hint = refusal_of_status(code).hint
    return MisuseError(code, {"message": message, "rule": "STO-38", "hint": hint})


def open_already() -> AssayError:
    """Return the error for a connection of the host that is in a transaction of the host."""
    return misuse(
        "the connection has an open transaction of yours, which the ledger neither joins nor "
        "ends: give the ledger connections of its own, and write in its grant"
    )


class Watch:
    """The state that the guards of one grant share.

    fault    the error raised for a call that would have ended the transaction, or None
    is_over  whether the grant has returned
    """

    def __init__(self) -> None:
        self.fault: AssayError | None = None
        self.is_over = False

    def refuse(self, what: str) -> NoReturn:
        if not self.is_over:
            self.fault = misuse(
                f"{what} in the transaction of a claim: the ledger commits it with the claim, "
                "or rolls both back; raise, or return False, to grant nothing"
            )
            raise self.fault
        raise misuse(f"{what} on the connection of a grant that has returned")

    def check(self) -> None:
        """Raise if the guard must not be used any more."""
        if self.fault is not None:
            raise self.fault
        if self.is_over:
            self.refuse("a call")


class Guard:
    """A connection, or a cursor of it, in the transaction of a claim. Members that it lacks are the
    client's; `isinstance` takes it for the object that it guards."""

    _watch: Watch
    _real: Any
    _owner: Guard

    def __init__(self, real: Any, watch: Watch, owner: Guard | None = None) -> None:
        vars(self).update(_real=real, _watch=watch, _owner=owner or self)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._real)

    def __repr__(self) -> str:
        return f"<{type(self._real).__name__} in the transaction of a claim>"

    def nested(self) -> Nested:
        """Return the same connection for a layer that commits by itself, such as an ORM: its commit
        and its rollback are those of a savepoint, and what it committed is committed with the claim
        or not at all."""
        self._watch.check()
        return Nested(self._real, self._watch)

    def __getattr__(self, name: str) -> Any:
        self._watch.check()
        is_connection = self._owner is self
        if is_connection and name in _ENDING:
            return lambda *given, **named: self._watch.refuse(f"{name}()")
        found = getattr(self._real, name)
        if name in _ASKING:
            return self._asking(found)
        if name == "cursor" and callable(found):
            return lambda *given, **named: Guard(found(*given, **named), self._watch, self._owner)
        if name == "connection" and not is_connection:
            return self._owner
        if is_connection and name in _SETTINGS and callable(found):
            return lambda *given, **named: self._watch.refuse(f"{name}()")
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._watch.check()
        if self._owner is self and name in _SETTINGS:
            self._watch.refuse(f"a change of {name}")
        setattr(self._real, name, value)

    def close(self) -> Any:
        """Close the cursor; a connection refuses."""
        if self._owner is self:
            self._watch.refuse("close()")
        return self._real.close()

    def _asking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def ask(statement: Any, *given: Any, **named: Any) -> Any:
            self._owner._before(statement)
            found = method(statement, *given, **named)
            if found is self._real:
                return self
            is_cursor = hasattr(found, "fetchone")
            return Guard(found, self._watch, self._owner) if is_cursor else found

        return ask

    def _before(self, statement: Any) -> None:
        """Check a statement before it runs. One that is no plain text is detected after the
        grant."""
        text = _text(statement)
        if _ENDS.match(text):
            self._watch.refuse(text.split()[0].upper() if text.split() else "a statement")

    def __enter__(self) -> Any:
        if self._owner is self:
            self._watch.refuse("the connection as a context manager")
        self._real.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        return self._real.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Any:
        if self._owner is self:
            self._watch.refuse("the connection as a context manager")
        await self._real.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        return await self._real.__aexit__(kind, error, traceback)

    def __iter__(self) -> Any:
        return iter(self._real)

    def __next__(self) -> Any:
        return next(self._real)

    def __aiter__(self) -> Any:
        return self._real.__aiter__()


class Nested(Guard):
    """The connection that `Guard.nested` returns."""

    def __init__(self, real: Any, watch: Watch) -> None:
        super().__init__(real, watch)
        vars(self).update(_is_begun=False, _has_written=False)

    def nested(self) -> Nested:
        return self

    def commit(self) -> None:
        """Keep what was written, to be committed with the claim."""
        self._watch.check()
        self._end(_KEPT)

    def rollback(self) -> None:
        """Undo what was written since the last commit. The claim is then not granted: a client must
        not be told that it was after its content was undone."""
        if self._watch.is_over:
            return  # an engine that is disposed of at the end of the process
        if vars(self)["_has_written"]:
            self._watch.refuse("what the grant wrote was rolled back")
        self._watch.check()
        self._end(_UNDONE, _KEPT)

    def close(self) -> None:
        """Undo what was not committed, as the client's own close does."""
        self.rollback()

    def _before(self, statement: Any) -> None:
        super()._before(statement)
        own = vars(self)
        if not own["_is_begun"]:
            run(self._real, _NESTED)
            own["_is_begun"] = True
        own["_has_written"] = own["_has_written"] or not _READS.match(_text(statement))

    def _end(self, *statements: str) -> None:
        own = vars(self)
        if own["_is_begun"]:
            own.update(_is_begun=False, _has_written=False)
            for each in statements:
                run(self._real, each)


def run(connection: Any, statement: str) -> None:
    """Run a statement without a result, with any of the clients."""
    cursor = connection.cursor()
    cursor.execute(statement)
    cursor.close()


def _text(statement: Any) -> str:
    if isinstance(statement, (bytes, bytearray)):
        return bytes(statement).decode("utf-8", "replace")
    return statement if isinstance(statement, str) else ""
