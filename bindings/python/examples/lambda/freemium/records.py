"""What the back end keeps beside the ledger: refresh tokens of Sign in with Apple.

In the ledger's own database. On DynamoDB they are encrypted at rest, by the key that the
template gives the table; a local SQLite file is as safe as its disk.
"""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.store import DynamoDB, Ledger, SQLite


class Unreachable(Exception):
    """A service that the back end needs gave no answer, or another than was asked for."""


class Records(Protocol):
    """One token for each account."""

    def token(self, account: str) -> str | None: ...

    def keep_token(self, account: str, token: str) -> None: ...

    def drop_token(self, account: str) -> None: ...


def records_of(ledger: Ledger) -> Records:
    """Beside this ledger."""
    store: Any = ledger.store
    if store.dialect == "dynamodb":
        policy = ledger.verifier.effective_configuration["stores"]
        return DynamoDBRecords(store, policy["table"])
    if store.dialect == "sqlite":
        return SQLiteRecords(store)
    raise ValueError(f"no records on {store.dialect}")


class SQLiteRecords:
    """A table of its own in the ledger's file."""

    def __init__(self, store: SQLite) -> None:
        self._store = store
        self._run("CREATE TABLE IF NOT EXISTS apple_token (account TEXT PRIMARY KEY, token TEXT)")

    def token(self, account: str) -> str | None:
        found = self._run("SELECT token FROM apple_token WHERE account = ?", account)
        return str(found[0][0]) if found else None

    def keep_token(self, account: str, token: str) -> None:
        self._run("INSERT OR REPLACE INTO apple_token VALUES (?, ?)", account, token)

    def drop_token(self, account: str) -> None:
        self._run("DELETE FROM apple_token WHERE account = ?", account)

    def _run(self, sql: str, *args: str) -> list[Any]:
        try:
            with closing(self._store.connect()) as connection:
                return list(connection.execute(sql, args))
        except self._store.errors as error:
            raise Unreachable from error


class DynamoDBRecords:
    """Items of the ledger's table, under a key that the ledger never uses."""

    def __init__(self, store: DynamoDB, table: str) -> None:
        self._client, self._table = store.client, table
        errors = import_module("botocore.exceptions")
        self._errors = errors.ClientError, errors.BotoCoreError

    def token(self, account: str) -> str | None:
        found = self._ask("get_item", Key=_key(account), ConsistentRead=True)
        return str(found["Item"]["token"]["S"]) if "Item" in found else None

    def keep_token(self, account: str, token: str) -> None:
        item = {**_key(account), "token": {"S": token}}
        self._ask("put_item", Item=item)

    def drop_token(self, account: str) -> None:
        self._ask("delete_item", Key=_key(account))

    def _ask(self, name: str, **given: Any) -> Any:
        try:
            return getattr(self._client, name)(TableName=self._table, **given)
        except self._errors as error:
            raise Unreachable from error


def _key(account: str) -> dict[str, Any]:
    return {"PK": {"S": f"APPLETOKEN#{account}"}, "SK": {"S": "TOKEN"}}
