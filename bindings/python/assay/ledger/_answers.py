"""The forms in which an executor answers a step (docs/spec/ledger.md, STO-3), and the line
in the log."""

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

# The code of a connection that leads to no primary (STO-74).
STANDBY = "standby"


# The marks of the steps with which a transaction begins and ends (EXC-24).
BEGINS, ENDS = ("begin", "single"), ("commit", "single")

# The limits of a step that names none, in milliseconds (STO-76).
LIMITS = {"statementMs": 5000, "lockMs": 2000}
# Of a connection that could not be made (STO-77).
CONNECT = "connect"


class Fault(Exception):
    """An engine did not carry a step out.

    code        its own code, as text
    text        what it said; None where that may hold values
    detail      for the log alone: it names a host, a user or a path
    is_certain  nothing was carried out
    is_lost     nothing came back: the connection is of no use any more, and nobody knows
                what became of the statement
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
        """Nothing came back."""
        return cls(is_lost=True)

    @classmethod
    def standby(cls) -> Fault:
        """The connection leads to a standby, or to a file that cannot be written."""
        return cls(STANDBY, "not a primary", is_certain=True)

    @classmethod
    def unreached(cls, error: Exception, code: object = CONNECT) -> Fault:
        """No connection was made: nothing was sent (STO-77). What the client says has the host
        and the user, so the log alone has it."""
        return cls(code, type(error).__name__, detail=str(error), is_certain=True)

    def note(self, engine: str, what: str) -> None:
        """A line in the log, without a value of a statement (EXC-22)."""
        LOG.warning("%s %s: %s", engine, what, "no answer" if self.is_lost else self)

    def answer(self, step: Step) -> Answer:
        """What the library is told."""
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
    """A store did not take a statement of the schema."""


def limits_of(step: Step) -> Mapping[str, int]:
    """How long a statement of it may run, and wait for a lock."""
    found: Mapping[str, int] = step.get("limits") or LIMITS
    return found


def seconds(limits: Mapping[str, int], name: str) -> float:
    return limits[name] / 1000


def ended(step: Step) -> Answer:
    """The answer to a grant step whose transaction the grant ended, or would have (STO-38)."""
    LOG.error("STO-38: the grant ended the transaction of its claim, or tried to")
    return {"id": step["id"], "code": 500, "error": {"code": "transaction", "executed": "unknown"}}


def lost(step: Step) -> Answer:
    """The answer to a grant step whose session is gone: nothing was committed (STO-39)."""
    return {"id": step["id"], "code": 0}


def refused(step: Step) -> Answer:
    """The answer to a grant step whose grant gave nothing."""
    return {"id": step["id"], "code": 500}


def granted(step: Step) -> Answer:
    """The answer to a grant step: what the host wrote is committed with the claim."""
    return {"id": step["id"], "code": 200}


def done(step: Step, results: list[Answer]) -> Answer:
    """The answer to a step that was carried out."""
    return {"id": step["id"], "code": 200, "results": results}


def rows_of(found: Iterable[Iterable[Any]]) -> Answer:
    """The rows of a statement."""
    return {"rows": [[value(each) for each in row] for row in found]}


def value(found: Any) -> Value:
    """Text, an integer or None, whatever a client makes of it (STO-4)."""
    if found is None or type(found) in (str, int):
        known: Value = found
        return known
    if isinstance(found, (bytes, bytearray, memoryview)):
        return bytes(found).decode("utf-8", "replace")
    if isinstance(found, bool) or (isinstance(found, Decimal) and found == found.to_integral()):
        return int(found)
    return str(found)
