"""Data that the back end stores beside the ledger: refresh tokens of Sign in with Apple, which
accounts were deleted while their access tokens are still valid, which changes have still to be
published, and which subscriptions a run of the schedule has still to ask about. And two reads of
the ledger's own rows for which it has no operation (docs/spec/ledger-statements.md).

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
# Longer than anybody repeats a request: Apple does so for three days.
PROMISED_SECONDS = 30 * 86400


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

    def promise(self, key: str, id: str, now: int) -> str:
        """Store the id of a message that may have to be sent, and return it; the one that was
        stored before, if there is one."""
        ...

    def fulfil(self, key: str) -> None:
        """Delete a promise."""
        ...

    def keep_batch(self, batch: str, text: str) -> None: ...

    def drop_batch(self, batch: str) -> None: ...

    def batches(self) -> list[tuple[str, str]]:
        """Return the stored batches, oldest first, at most 100."""
        ...

    def owner(self, environment: str, original: str) -> str | None:
        """Return the owner of a subscription of the ledger."""
        ...

    def has_event(self, id: str) -> bool:
        """Return whether the ledger has recorded an event."""
        ...


def records_of(ledger: Ledger) -> Records:
    """Return the records beside this ledger."""
    store: Any = ledger.executor
    if store.engine == "dynamodb":
        policy = ledger.verifier.configuration["ledger"]
        return DynamoDBRecords(store, policy["table"])
    if store.engine == "sqlite":
        return SQLiteRecords(store, ledger.verifier.configuration["ledger"]["prefix"])
    raise ValueError(f"no records on {store.engine}")


class SQLiteRecords:
    """A table of its own in the ledger's file."""

    def __init__(self, store: SQLite, prefix: str) -> None:
        self._store, self._prefix = store, prefix
        self._run("CREATE TABLE IF NOT EXISTS apple_token (account TEXT PRIMARY KEY, token TEXT)")
        self._run("CREATE TABLE IF NOT EXISTS closed_account (digest TEXT PRIMARY KEY, until_s)")
        self._run("CREATE TABLE IF NOT EXISTS promise (digest TEXT PRIMARY KEY, id, until_s)")
        self._run("CREATE TABLE IF NOT EXISTS batch (id TEXT PRIMARY KEY, lines TEXT)")

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

    def promise(self, key: str, id: str, now: int) -> str:
        seconds = now // 1000
        self._run("DELETE FROM promise WHERE until_s < ?", seconds)
        sql = ("INSERT INTO promise VALUES (?, ?, ?)"
               " ON CONFLICT (digest) DO UPDATE SET id = id RETURNING id")
        return str(self._run(sql, _digest(key), id, seconds + PROMISED_SECONDS)[0][0])

    def fulfil(self, key: str) -> None:
        self._run("DELETE FROM promise WHERE digest = ?", _digest(key))

    def keep_batch(self, batch: str, text: str) -> None:
        self._run("INSERT OR REPLACE INTO batch VALUES (?, ?)", batch, text)

    def drop_batch(self, batch: str) -> None:
        self._run("DELETE FROM batch WHERE id = ?", batch)

    def batches(self) -> list[tuple[str, str]]:
        return [(str(batch), str(text)) for batch, text in
                self._run("SELECT id, lines FROM batch ORDER BY id LIMIT 100")]

    def owner(self, environment: str, original: str) -> str | None:
        sql = (f"SELECT owner FROM {self._prefix}subscription"
               " WHERE environment = ? AND original_transaction_id = ?")
        found = self._run(sql, environment, original)
        return (str(found[0][0]) or None) if found else None

    def has_event(self, id: str) -> bool:
        return bool(self._run(f"SELECT 1 FROM {self._prefix}event WHERE id = ?", id))

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

    def promise(self, key: str, id: str, now: int) -> str:
        found = self._ask(
            "update_item",
            Key=_promise(key),
            UpdateExpression="SET #id = if_not_exists(#id, :id), #ttl = :ttl",
            ExpressionAttributeNames={"#id": "id", "#ttl": "ttl"},
            ExpressionAttributeValues={
                ":id": {"S": id}, ":ttl": {"N": str(now // 1000 + PROMISED_SECONDS)}},
            ReturnValues="ALL_NEW",
        )
        return str(found["Attributes"]["id"]["S"])

    def fulfil(self, key: str) -> None:
        self._ask("delete_item", Key=_promise(key))

    def keep_batch(self, batch: str, text: str) -> None:
        self._ask("put_item", Item={**_batch(batch), "lines": {"S": text}})

    def drop_batch(self, batch: str) -> None:
        self._ask("delete_item", Key=_batch(batch))

    def batches(self) -> list[tuple[str, str]]:
        found = self._ask(
            "query",
            KeyConditionExpression="PK = :pk",
            ExpressionAttributeValues={":pk": _batch("")["PK"]},
            ConsistentRead=True,
            Limit=100,
        )
        return [(str(item["SK"]["S"]), str(item["lines"]["S"])) for item in found["Items"]]

    def owner(self, environment: str, original: str) -> str | None:
        key = _row(f"SUBSCRIPTION#{environment}#{original}", "SUBSCRIPTION")
        found = self._ask("get_item", Key=key, ConsistentRead=True)
        return str(found["Item"]["owner"]["S"]) or None if "Item" in found else None

    def has_event(self, id: str) -> bool:
        key = _row(f"EVENT#{id}", "EVENT")
        return "Item" in self._ask("get_item", Key=key, ConsistentRead=True)

    def _ask(self, name: str, **given: Any) -> Any:
        try:
            return getattr(self._client, name)(TableName=self._table, **given)
        except self._errors as error:
            raise Unreachable from error


def _row(partition: str, sort: str) -> dict[str, Any]:
    return {"PK": {"S": partition}, "SK": {"S": sort}}


def _key(account: str) -> dict[str, Any]:
    return _row(f"APPLETOKEN#{account}", "TOKEN")


def _mark(account: str) -> dict[str, Any]:
    return _row(f"CLOSED#{_digest(account)}", "CLOSED")


def _promise(key: str) -> dict[str, Any]:
    return _row(f"PUSH#{_digest(key)}", "PUSH")


def _batch(batch: str) -> dict[str, Any]:
    return _row("SWEEP#LEASED", batch)


def _digest(account: str) -> str:
    """Return a digest of an account's id, which is random, so that the digest identifies no one."""
    return hashlib.sha256(account.encode()).hexdigest()
