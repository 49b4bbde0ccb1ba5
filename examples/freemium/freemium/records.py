"""Data that the back end stores beside the ledger: refresh tokens of Sign in with Apple, and
which accounts were deleted while their access tokens are still valid.

The data are in the ledger's own database. On DynamoDB they are encrypted at rest by the key
that the template gives the table; a local SQLite file is as safe as its disk.
"""

from __future__ import annotations

import hashlib
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.ledger import DynamoDB, Ledger, SQLite


# Two days, longer than the longest lifetime of an access token, a day.
CLOSED_SECONDS = 2 * 86400


class Unreachable(Exception):
    """Raised if a service that the back end needs gives no response, or an unexpected one."""


class Records(Protocol):
    """One token for each account, and a mark for each deleted account. The mark has a digest of the
    account's id instead of the id, and expires after two days."""

    def token(self, account: str) -> str | None: ...

    def keep_token(self, account: str, token: str) -> None: ...

    def drop_token(self, account: str) -> None: ...

    def close(self, account: str, now: int) -> None: ...

    def reopen(self, account: str) -> None: ...

    def is_closed(self, account: str) -> bool: ...


def records_of(ledger: Ledger) -> Records:
    """Return the records beside this ledger."""
    store: Any = ledger.executor
    if store.engine == "dynamodb":
        policy = ledger.verifier.configuration["ledger"]
        return DynamoDBRecords(store, policy["table"])
    if store.engine == "sqlite":
        return SQLiteRecords(store)
    raise ValueError(f"no records on {store.engine}")


class SQLiteRecords:
    """A table of its own in the ledger's file."""

    def __init__(self, store: SQLite) -> None:
        self._store = store
        self._run("CREATE TABLE IF NOT EXISTS apple_token (account TEXT PRIMARY KEY, token TEXT)")
        self._run("CREATE TABLE IF NOT EXISTS closed_account (digest TEXT PRIMARY KEY, until_s)")

    def token(self, account: str) -> str | None:
        found = self._run("SELECT token FROM apple_token WHERE account = ?", account)
        return str(found[0][0]) if found else None

    def keep_token(self, account: str, token: str) -> None:
        self._run("INSERT OR REPLACE INTO apple_token VALUES (?, ?)", account, token)

    def drop_token(self, account: str) -> None:
        self._run("DELETE FROM apple_token WHERE account = ?", account)

    def close(self, account: str, now: int) -> None:
        seconds = now // 1000
        self._run("DELETE FROM closed_account WHERE until_s < ?", seconds)
        until = seconds + CLOSED_SECONDS
        self._run("INSERT OR REPLACE INTO closed_account VALUES (?, ?)", _digest(account), until)

    def reopen(self, account: str) -> None:
        self._run("DELETE FROM closed_account WHERE digest = ?", _digest(account))

    def is_closed(self, account: str) -> bool:
        sql = "SELECT 1 FROM closed_account WHERE digest = ?"
        return bool(self._run(sql, _digest(account)))

    def _run(self, sql: str, *args: str | int) -> list[Any]:
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

    def close(self, account: str, now: int) -> None:
        until = str(now // 1000 + CLOSED_SECONDS)
        self._ask("put_item", Item={**_mark(account), "ttl": {"N": until}})

    def reopen(self, account: str) -> None:
        self._ask("delete_item", Key=_mark(account))

    def is_closed(self, account: str) -> bool:
        return "Item" in self._ask("get_item", Key=_mark(account), ConsistentRead=True)

    def _ask(self, name: str, **given: Any) -> Any:
        try:
            return getattr(self._client, name)(TableName=self._table, **given)
        except self._errors as error:
            raise Unreachable from error


def _key(account: str) -> dict[str, Any]:
    return {"PK": {"S": f"APPLETOKEN#{account}"}, "SK": {"S": "TOKEN"}}


def _mark(account: str) -> dict[str, Any]:
    return {"PK": {"S": f"CLOSED#{_digest(account)}"}, "SK": {"S": "CLOSED"}}


def _digest(account: str) -> str:
    """Return a digest of an account's id, which is random, so that the digest identifies no one."""
    return hashlib.sha256(account.encode()).hexdigest()
