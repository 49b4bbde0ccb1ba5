"""The executors for Redis 6 or later, with redis-py: blocking and for asyncio.

For counters, sign-ups, challenges and `once` alone (STO-13).
"""

from __future__ import annotations

from ._answers import STANDBY, Fault, done, value
from ._drivers import installed

with installed("redis"):
    import redis
    from redis import exceptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

__all__ = ["AsyncRedis", "Redis"]

# What the client has classes for, it gives without the word.
_WORDS = (
    (exceptions.BusyLoadingError, "LOADING"),
    (exceptions.TryAgainError, "TRYAGAIN"),
    (exceptions.ClusterDownError, "CLUSTERDOWN"),
    (exceptions.ReadOnlyError, "READONLY"),
)
_SETTINGS: dict[str, Any] = {
    "decode_responses": True,
    "socket_timeout": 5,
    "socket_connect_timeout": 5,
}


class Redis:
    """A server of Redis.

    where  its URL, or a `redis.Redis` of yours that repeats nothing by itself: a counter
           would count twice
    """

    dialect = "redis"

    def __init__(self, where: str | redis.Redis) -> None:
        self.client: Any = where
        if isinstance(where, str):
            self.client = redis.Redis.from_url(where, **_SETTINGS, retry=_no_retry("redis.retry"))
        self._is_asked = False

    def __repr__(self) -> str:
        return "<assay.store.Redis>"

    def session(self) -> RedisSession:
        """The executor of one conversation."""
        return RedisSession(self)

    def close(self) -> None:
        """Close the client's connections."""
        self.client.close()

    def run(self, call: Mapping[str, Any]) -> Any:
        """One call; what the client makes of its reply."""
        execute = self.client.execute_command
        try:
            if not self._is_asked:
                _judge(execute("ROLE"))
                self._is_asked = True
            if "command" in call:
                return execute(*call["command"])
            rest = (len(call["keys"]), *call["keys"], *call["args"])
            try:
                return execute("EVALSHA", call["sha1"], *rest)
            except exceptions.NoScriptError:
                return execute("EVAL", call["script"], *rest)
        except exceptions.ConnectionError:
            self._is_asked = False  # the next one may lead elsewhere
            raise


class RedisSession:
    """Carries the steps of one conversation out; nothing of it stays open."""

    connection = None

    def __init__(self, store: Redis) -> None:
        self._store = store

    def __call__(self, step: Step) -> Answer:
        """Carry out one step; returns its answer."""
        results: list[Answer] = []
        try:
            for call in step["run"]:
                results.append(_result(self._store.run(call)))
        except (exceptions.RedisError, Fault) as error:
            return _fault(error, results).answer(step)
        return done(step, results)

    def confirm(self, step: Step) -> Answer:
        """Nothing is granted here (STO-13)."""
        raise RuntimeError("Redis keeps no ledger")

    def rollback(self) -> None:
        """There is nothing to undo."""

    close = rollback

    def __enter__(self) -> RedisSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncRedis:
    """`Redis` for the tasks of one event loop.

    where  its URL, or a `redis.asyncio.Redis` of yours that repeats nothing by itself
    """

    dialect = "redis"

    def __init__(self, where: Any) -> None:
        from redis import asyncio

        self.client: Any = where
        if isinstance(where, str):
            retry = _no_retry("redis.asyncio.retry")
            self.client = asyncio.Redis.from_url(where, **_SETTINGS, retry=retry)
        self._is_asked = False

    def __repr__(self) -> str:
        return "<assay.store.AsyncRedis>"

    def session(self) -> AsyncRedisSession:
        """The executor of one conversation."""
        return AsyncRedisSession(self)

    async def close(self) -> None:
        """Close the client's connections."""
        await self.client.close()

    async def run(self, call: Mapping[str, Any]) -> Any:
        """One call; what the client makes of its reply."""
        execute = self.client.execute_command
        try:
            if not self._is_asked:
                _judge(await execute("ROLE"))
                self._is_asked = True
            if "command" in call:
                return await execute(*call["command"])
            rest = (len(call["keys"]), *call["keys"], *call["args"])
            try:
                return await execute("EVALSHA", call["sha1"], *rest)
            except exceptions.NoScriptError:
                return await execute("EVAL", call["script"], *rest)
        except exceptions.ConnectionError:
            self._is_asked = False  # the next one may lead elsewhere
            raise


class AsyncRedisSession:
    """`RedisSession` for asyncio: `async with store.session() as execute`."""

    connection = None

    def __init__(self, store: AsyncRedis) -> None:
        self._store = store

    async def __call__(self, step: Step) -> Answer:
        """Carry out one step; returns its answer."""
        results: list[Answer] = []
        try:
            for call in step["run"]:
                results.append(_result(await self._store.run(call)))
        except (exceptions.RedisError, Fault) as error:
            return _fault(error, results).answer(step)
        return done(step, results)

    def confirm(self, step: Step) -> Answer:
        """Nothing is granted here (STO-13)."""
        raise RuntimeError("Redis keeps no ledger")

    async def rollback(self) -> None:
        """There is nothing to undo."""

    close = rollback

    async def __aenter__(self) -> AsyncRedisSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _result(reply: Any) -> Answer:
    """A reply as a flat list, whatever the client's callbacks make of it."""
    if isinstance(reply, dict):
        reply = [each for pair in reply.items() for each in pair]
    found = reply if isinstance(reply, (list, tuple, set)) else [reply]
    return {"reply": [value(each) for each in found]}


def _judge(role: Any) -> None:
    """STO-74."""
    if value(role[0]) != "master":
        raise Fault.standby()


def _fault(error: Exception, results: list[Answer]) -> Fault:
    if isinstance(error, Fault):
        return error
    known = next((word for kind, word in _WORDS if isinstance(error, kind)), None)
    if known is None and isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError)):
        return Fault.lost()
    word = known or str(error).partition(" ")[0]
    return Fault(STANDBY if known == "READONLY" else word, is_certain=not results)


def _no_retry(module: str) -> Any:
    from importlib import import_module

    from redis.backoff import NoBackoff

    return import_module(module).Retry(NoBackoff(), 0)
