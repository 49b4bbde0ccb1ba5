"""The deletion of a ledger's expired rows, by statements of the library (STM-3)."""

from __future__ import annotations

from ._answers import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..documents import Document
    from ._answers import Answer
    from .grants import AsyncExecutor, Executor

    Call = Mapping[str, Any]

# The number of attempts: a busy row is no reason to wait until the next day.
_TRIES = 3


def calls_of(document: Document, *names: str) -> list[Call]:
    """Return the statements that a document of `describe-schema` has under these names."""
    document.raise_for_status()
    found = document.json["exchange"]
    return [call for name in names for call in found[name]]


def define(executor: Executor, calls: list[Call]) -> None:
    """Run statements that the exchange `describe-schema` returned."""
    with executor.session() as execute:
        for call in calls:
            said: list[Mapping[str, Any]] = []
            while _goes_on(said):
                said.append(execute(_step(executor.engine, call)))


async def define_async(executor: AsyncExecutor, calls: list[Call]) -> None:
    """Run statements as `define` does, for asyncio."""
    async with executor.session() as execute:
        for call in calls:
            said: list[Mapping[str, Any]] = []
            while _goes_on(said):
                said.append(await execute(_step(executor.engine, call)))


def _goes_on(said: list[Mapping[str, Any]]) -> bool:
    """Return whether to run the statement, for the first time or again."""
    if not said or said[-1]["code"] != 200:
        if len(said) == _TRIES:
            error = said[-1].get("error", {})
            raise SchemaError(f"{error.get('code', 'no answer')} {error.get('text', '')}".strip())
        return True
    return False


def _step(engine: str, call: Call) -> Answer:
    return {
        "id": 0,
        "engine": engine,
        "repeatable": True,
        "connection": "any",
        "transaction": None,
        "calls": [call],
    }

