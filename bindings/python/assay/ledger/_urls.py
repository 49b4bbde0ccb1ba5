"""The executor for a URL."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from urllib.parse import SplitResult

_SCHEMES = "sqlite:////var/lib/shop.db, postgresql://…, mysql://…, dynamodb://TABLE?region=…, redis://…"
_MARIADB = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")


def opened(url: str, is_async: bool) -> tuple[Any, str | None]:
    """Return the executor for a URL, and DynamoDB's table or None. It makes no connection yet."""
    parts = urlsplit(url)
    scheme = parts.scheme.partition("+")[0]
    if scheme in ("postgresql", "postgres"):
        from . import postgres

        kind = postgres.AsyncPostgres if is_async else postgres.Postgres
        return kind(url.replace(parts.scheme, "postgresql", 1)), None
    if scheme in ("redis", "rediss", "unix"):
        from . import redis

        return (redis.AsyncRedis if is_async else redis.Redis)(url), None
    if scheme not in ("sqlite", "mysql", "mariadb", "dynamodb"):
        raise ValueError(f"a store's URL is one of {_SCHEMES}")
    if is_async:
        raise ValueError(f"the client for {scheme} is not async: use Ledger in a thread")
    return _blocking(scheme, parts)


def _blocking(scheme: str, parts: SplitResult) -> tuple[Any, str | None]:
    options = dict(parse_qsl(parts.query))
    if scheme == "sqlite":
        from .sqlite import SQLite

        if parts.netloc or options:
            raise ValueError("sqlite:////PATH from the root, or sqlite:///./PATH, and no options")
        return SQLite(unquote(parts.path[1:])), None
    if scheme == "dynamodb":
        from .dynamodb import DynamoDB

        _only(options, ("region", "endpoint"))
        return DynamoDB(**options), parts.netloc
    from .mariadb import MariaDB

    _only(options, _MARIADB)
    found = {
        "host": parts.hostname,
        "port": parts.port,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path[1:]),
        **options,
    }
    return MariaDB({name: value for name, value in found.items() if value}), None


def _only(options: dict[str, str], known: tuple[str, ...]) -> None:
    for name in options:
        if name not in known:
            raise ValueError(f"a store's URL has no option {name!r}; it has {', '.join(known)}")
