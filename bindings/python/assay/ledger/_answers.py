"""The forms of an executor's reply to a step (docs/spec/ledger.md, STO-3), and its line in the
log."""

from __future__ import annotations

import logging
from decimal import Decimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Union

    Step = Mapping[str, Any]
    Answer = dict[str, Any]
    Value = Union[str, int, None]

LOG = logging.getLogger("assay.ledger")

# The code of a connection that reaches no primary (STO-74).
STANDBY = "standby"


# The marks of the steps that begin and end a transaction (EXC-24).
BEGINS, ENDS = ("begin", "single"), ("commit", "single")

# The limits of a step that names none, in milliseconds (STO-76).
LIMITS = {"statementMs": 5000, "lockMs": 2000}
# The code of a connection that could not be made (STO-77).
CONNECT = "connect"


class Fault(Exception):
    """Raised if an engine did not perform a step.

    code        the engine's own code, as text
    text        the engine's message; None if the message may quote values
    detail      for the log only: it names a host, a user or a path
    is_certain  whether nothing was executed
    is_lost     whether the result was lost: the connection is unusable, and the statement
                may or may not have run
    """

    def __init__(
        self,
        code: object = "",
        text: str | None = None,
        *,
        detail: str | None = None,
        is_certain: bool = False,
        is_lost: bool = False,
    ) -> None:
        said = detail or text
        super().__init__(f"{code}: {' '.join(said.split())}" if said else str(code))
        self.code, self.text = str(code)[:64], text and " ".join(text.split())
        self.is_certain, self.is_lost = is_certain, is_lost

    @classmethod
    def lost(cls) -> Fault:
        """Return the fault of a step whose result was lost."""
        return cls(is_lost=True)

    @classmethod
    def standby(cls) -> Fault:
        """Return the fault of a connection to a standby, or to a file that cannot be written."""
        return cls(STANDBY, "not a primary", is_certain=True)

    @classmethod
    def unreached(cls, error: Exception, code: object = CONNECT) -> Fault:
        """Return the fault of a failed connection, over which nothing was sent (STO-77). The
        client's message has the host and the user, so only the log has it."""
        return cls(code, type(error).__name__, detail=str(error), is_certain=True)

    def note(self, engine: str, what: str) -> None:
        """Write a line to the log, without a value of a statement (EXC-22)."""
        LOG.warning("%s %s: %s", engine, what, "no answer" if self.is_lost else self)

    def answer(self, step: Step) -> Answer:
        """Return the reply for the library."""
        self.note(step["engine"], "a step" if step["repeatable"] else "a step for once")
        if self.is_lost:
            return {"id": step["id"], "code": 0}
        error = {
            "code": self.code,
            "text": self.text or "",
            "executed": "no" if self.is_certain else "unknown",
        }
        return {"id": step["id"], "code": 500, "error": error}


class SchemaError(RuntimeError):
    """Raised if a database refuses a statement of the schema."""


def limits_of(step: Step) -> Mapping[str, int]:
    """Return how long a statement of the step may run, and wait for a lock."""
    found: Mapping[str, int] = step.get("limits") or LIMITS
    return found


def seconds(limits: Mapping[str, int], name: str) -> float:
    return limits[name] / 1000


def ended(step: Step) -> Answer:
    """Return the reply to a grant step whose grant ended the transaction, or tried to (STO-38)."""
    LOG.error("STO-38: the grant ended the transaction of its claim, or tried to")
    return {"id": step["id"], "code": 500, "error": {"code": "transaction", "executed": "unknown"}}


def lost(step: Step) -> Answer:
    """Return the reply to a grant step whose session is lost: nothing was committed (STO-39)."""
    return {"id": step["id"], "code": 0}


def refused(step: Step) -> Answer:
    """Return the reply to a grant step whose grant gave nothing."""
    return {"id": step["id"], "code": 500}


def granted(step: Step) -> Answer:
    """Return the reply to a grant step: what the host wrote is committed with the claim."""
    return {"id": step["id"], "code": 200}


def done(step: Step, results: list[Answer]) -> Answer:
    """Return the reply to a step that was performed."""
    return {"id": step["id"], "code": 200, "results": results}


def rows_of(found: Iterable[Iterable[Any]]) -> Answer:
    """Return the rows of a statement."""
    return {"rows": [[value(each) for each in row] for row in found]}


def value(found: Any) -> Value:
    """Return text, an integer or None, whatever type a client returns (STO-4)."""
    if found is None or type(found) in (str, int):
        known: Value = found
        return known
    if isinstance(found, (bytes, bytearray, memoryview)):
        return bytes(found).decode("utf-8", "replace")
    if isinstance(found, bool) or (isinstance(found, Decimal) and found == found.to_integral()):
        return int(found)
    return str(found)
