"""Frame of docs/tasks/ledger-python.md: SQLite as an executor whose calls are awaited."""
# REPLACES "postgresql:///shop" WITH Awaited(SQLite("./async.db"))
import asyncio
import json
import pathlib
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Optional

import minted

from assay.ledger import Ledger, SQLite


class Awaited:
    """An executor, and its session, for asyncio."""

    def __init__(self, store: SQLite) -> None:
        Ledger(store, config).create_schema()
        self._session = store.session()

    engine = "sqlite"
    connection = None

    def session(self) -> "Awaited":
        return self

    async def __call__(self, step: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._session(step)

    async def grant(
        self, step: Mapping[str, Any], call: Callable[[Any], Awaitable[object]]
    ) -> Mapping[str, Any]:
        raise NotImplementedError

    async def __aenter__(self) -> "Awaited":
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._session.close()


class Balances:
    """The grants."""

    def __init__(self) -> None:
        self.granted: dict[str, tuple[str, int]] = {}

    async def add(self, grant_id: str, account: str, coins: int) -> None:
        self.granted.setdefault(grant_id, (account, coins))


for left in pathlib.Path(".").glob("async.db*"):
    left.unlink()
account, balances = "account-1", Balances()
config = json.loads((minted.AUTHORITY / "config.json").read_text())
config["products"]["coins.100"] = {"type": "consumable"}
jws = minted.mint("transaction", "--product", "coins.100", "--type", "consumable")


async def main() -> None:
    # SNIPPET
    assert list(balances.granted.values()) == [("account-1", 100)]


asyncio.run(main())
