"""Exactly-once claims, quotas, challenges and accounts in the host's own database.

    from assay.ledger import Ledger

    ledger = Ledger("sqlite:////var/lib/shop.db", config)
    claim = ledger.claim(transaction, account, grant=pay_out)
    claim.client_result                           # "granted", "already-granted" …

The library defines which statement to run and evaluates its result (docs/spec/ledger.md);
the executors of this package run the statements, with the client library that you have:
`SQLite`, `Postgres`, `MariaDB`, `DynamoDB`, `Redis`, and for asyncio `AsyncPostgres` and
`AsyncRedis`. Each needs its client only when it is used: psycopg 3, PyMySQL, boto3, redis-py.

Loaded on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._answers import SchemaError
    from .async_ledger import AsyncLedger
    from .dynamodb import DynamoDB
    from .grants import Grant, TakeBack
    from .ledger import Ledger
    from .mariadb import MariaDB
    from .postgres import AsyncPostgres, Postgres
    from .redis import AsyncRedis, Redis
    from .sqlite import SQLite

__all__ = [
    "AsyncLedger",
    "AsyncPostgres",
    "AsyncRedis",
    "DynamoDB",
    "Grant",
    "Ledger",
    "MariaDB",
    "Postgres",
    "Redis",
    "SQLite",
    "SchemaError",
    "TakeBack",
]

_LATER = {
    "AsyncLedger": "async_ledger",
    "AsyncPostgres": "postgres",
    "AsyncRedis": "redis",
    "DynamoDB": "dynamodb",
    "Grant": "grants",
    "Ledger": "ledger",
    "MariaDB": "mariadb",
    "Postgres": "postgres",
    "Redis": "redis",
    "SQLite": "sqlite",
    "SchemaError": "_answers",
    "TakeBack": "grants",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'assay.ledger' has no attribute {name!r}")
    found = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
