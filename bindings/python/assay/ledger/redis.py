"""The executors for Redis 6 or later, with redis-py: blocking and for asyncio.

For counters, sign-ups, challenges and `record_event` only (STO-13).
"""

from __future__ import annotations

import time

from ._answers import LIMITS, STANDBY, Fault, done, limits_of, seconds, value
from ._drivers import installed

with installed("redis"):
    import redis
    from redis import exceptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

__all__ = ["AsyncRedis", "Redis"]

# For errors that have a class the client drops the server's error code: these are the codes.
_WORDS = (
    (exceptions.BusyLoadingError, "LOADING"),
    (exceptions.TryAgainError, "TRYAGAIN"),
    (exceptions.ClusterDownError, "CLUSTERDOWN"),
    (exceptions.ReadOnlyError, "READONLY"),
)
_SETTINGS: dict[str, Any] = {"decode_responses": True, "socket_connect_timeout": 1}
# The code of a server that may evict stored data (STO-83).
EVICTING = "evicting"
# The least time between two checks of a server's eviction policy, in seconds.
_LOOKS = 60.0


_ROLE, _MEMORY = ("ROLE",), ("INFO", "memory")


class _Looked:
    """The commands that check a server before its first step, and after a connection was lost."""

    def __init__(self) -> None:
        self.is_due = True
        self._at = -_LOOKS

    def calls(self) -> list[tuple[str, ...]]:
        """Return the commands that are due."""
        if not self.is_due:
            return []
        return [_ROLE, _MEMORY] if time.monotonic() - self._at >= _LOOKS else [_ROLE]

    def leave(self, step: Step) -> None:
        """Record that the library itself checks the policy, as `check-schema` does."""
        if any(call.get("command", ("",))[0] == _MEMORY[0] for call in step["calls"]):
            self._at = time.monotonic()

    def judge(self, asked: tuple[str, ...], reply: Any) -> None:
        """Raise the fault that a reply means. A reply of None is a server that does not report
        it."""
        if asked is _ROLE and (reply is None or value(reply[0]) != "master"):
            raise Fault.standby()
        if asked is _MEMORY:
            if reply is not None and _is_evicting(reply):
                raise Fault(EVICTING, "maxmemory-policy is not noeviction", is_certain=True)
            self._at = time.monotonic()


def _is_evicting(info: Any) -> bool:
    """Return whether the server evicts data (STO-83). The client parses the text into a mapping; a
    client of the host may not."""
    found = info
    if not isinstance(info, dict):
        lines = str(value(info)).splitlines()
        found = dict(line.split(":", 1) for line in lines if ":" in line)
    policy, most = str(found.get("maxmemory_policy", "")), str(found.get("maxmemory", 0))
    return most.isdigit() and int(most) > 0 and policy not in ("", "noeviction")


class Redis:
    """A server of Redis.

    where  the URL, or a `redis.Redis` that repeats nothing by itself, because a repetition
           would increase a counter twice
    """

    engine = "redis"

    def __init__(self, where: str | redis.Redis) -> None:
        self.client: Any = where
        self._where = where if isinstance(where, str) else None
        self._limits: Mapping[str, int] | None = None
        self.limit(LIMITS)
        self.looked = _Looked()

    def __repr__(self) -> str:
        return "<assay.ledger.Redis>"

    def session(self) -> RedisSession:
        """Return the session that performs the steps of one exchange."""
        return RedisSession(self)

    def close(self) -> None:
        """Close the client's connections."""
        self.client.close()

    def limit(self, limits: Mapping[str, int]) -> None:
        """Set the limits of a step (STO-76) by a new client, if the executor has one of its own."""
        if self._where is not None and self._limits != limits:
            self.client = redis.Redis.from_url(
                self._where, **_settings(limits), retry=_no_retry("redis.retry")
            )
            self._limits = dict(limits)

    def run(self, call: Mapping[str, Any]) -> Any:
        """Send one command, and return the client's form of its reply."""
        execute = self.client.execute_command
        try:
            for asked in self.looked.calls():
                try:
                    said = execute(*asked)
                except exceptions.NoPermissionError:
                    said = None
                self.looked.judge(asked, said)
            self.looked.is_due = False
            if "command" in call:
                return execute(*call["command"])
            rest = (len(call["keys"]), *call["keys"], *call["args"])
            try:
                return execute("EVALSHA", call["sha1"], *rest)
            except exceptions.NoScriptError:
                return execute("EVAL", call["script"], *rest)
        except exceptions.ConnectionError:
            self.looked.is_due = True  # the next connection may lead to another server
            raise


class RedisSession:
    """Performs the steps of one exchange; no transaction stays open."""

    connection = None

    def __init__(self, store: Redis) -> None:
        self._store = store

    def __call__(self, step: Step) -> Answer:
        """Perform one step, and return its reply."""
        results: list[Answer] = []
        self._store.limit(limits_of(step))
        self._store.looked.leave(step)
        try:
            for call in step["calls"]:
                results.append(_result(self._store.run(call)))
        except (exceptions.RedisError, Fault) as error:
            return _fault(error, results).answer(step)
        return done(step, results)

    def grant(self, step: Step, call: Callable[[Any], object]) -> Answer:
        """Raise, because nothing is granted with Redis (STO-13)."""
        raise RuntimeError("Redis keeps no ledger")

    def rollback(self) -> None:
        """Do nothing, because there is nothing to undo."""

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

    where  the URL, or a `redis.asyncio.Redis` that repeats nothing by itself
    """

    engine = "redis"

    def __init__(self, where: Any) -> None:
        from redis import asyncio

        self.client: Any = where
        self._where = where if isinstance(where, str) else None
        self._limits: Mapping[str, int] | None = None
        self._kind = asyncio.Redis
        self.limit(LIMITS)
        self.looked = _Looked()

    def __repr__(self) -> str:
        return "<assay.ledger.AsyncRedis>"

    def session(self) -> AsyncRedisSession:
        """Return the session that performs the steps of one exchange."""
        return AsyncRedisSession(self)

    async def close(self) -> None:
        """Close the client's connections."""
        await self.client.close()

    def limit(self, limits: Mapping[str, int]) -> None:
        """Set the limits as `Redis.limit` does."""
        if self._where is not None and self._limits != limits:
            self.client = self._kind.from_url(
                self._where, **_settings(limits), retry=_no_retry("redis.asyncio.retry")
            )
            self._limits = dict(limits)

    async def run(self, call: Mapping[str, Any]) -> Any:
        """Send one command, and return the client's form of its reply."""
        execute = self.client.execute_command
        try:
            for asked in self.looked.calls():
                try:
                    said = await execute(*asked)
                except exceptions.NoPermissionError:
                    said = None
                self.looked.judge(asked, said)
            self.looked.is_due = False
            if "command" in call:
                return await execute(*call["command"])
            rest = (len(call["keys"]), *call["keys"], *call["args"])
            try:
                return await execute("EVALSHA", call["sha1"], *rest)
            except exceptions.NoScriptError:
                return await execute("EVAL", call["script"], *rest)
        except exceptions.ConnectionError:
            self.looked.is_due = True  # the next connection may lead to another server
            raise


class AsyncRedisSession:
    """`RedisSession` for asyncio: `async with executor.session() as execute`."""

    connection = None

    def __init__(self, store: AsyncRedis) -> None:
        self._store = store

    async def __call__(self, step: Step) -> Answer:
        """Perform one step, and return its reply."""
        results: list[Answer] = []
        self._store.limit(limits_of(step))
        self._store.looked.leave(step)
        try:
            for call in step["calls"]:
                results.append(_result(await self._store.run(call)))
        except (exceptions.RedisError, Fault) as error:
            return _fault(error, results).answer(step)
        return done(step, results)

    async def grant(self, step: Step, call: Callable[[Any], Awaitable[object]]) -> Answer:
        """Raise, because nothing is granted with Redis (STO-13)."""
        raise RuntimeError("Redis keeps no ledger")

    async def rollback(self) -> None:
        """Do nothing, because there is nothing to undo."""

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
    """Return a reply as a flat list, whatever the client's callbacks made of it."""
    if isinstance(reply, dict):
        reply = [each for pair in reply.items() for each in pair]
    found = reply if isinstance(reply, (list, tuple, set)) else [reply]
    return {"reply": [value(each) for each in found]}


def _fault(error: Exception, results: list[Answer]) -> Fault:
    if isinstance(error, Fault):
        return error
    if isinstance(error, exceptions.AuthenticationError):
        # The client keeps neither of the two codes.
        return Fault.unreached(error, "NOAUTH" if "required" in str(error) else "WRONGPASS")
    known = next((word for kind, word in _WORDS if isinstance(error, kind)), None)
    if known is None and isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError)):
        return _not_answered(error, results)
    word = known or str(error).partition(" ")[0]
    return Fault(STANDBY if known == "READONLY" else word, is_certain=not results)


def _not_answered(error: Exception, results: list[Answer]) -> Fault:
    """Return the fault of a missing reply. If the connection failed, the command was not sent."""
    is_unsent = "connecting to" in str(error) or isinstance(error, exceptions.MaxConnectionsError)
    if not is_unsent:
        return Fault.lost()
    fault = Fault.unreached(error)
    fault.is_certain = not results
    return fault


def _settings(limits: Mapping[str, int]) -> dict[str, Any]:
    return {**_SETTINGS, "socket_timeout": seconds(limits, "statementMs")}


def _no_retry(module: str) -> Any:
    from importlib import import_module

    from redis.backoff import NoBackoff

    return import_module(module).Retry(NoBackoff(), 0)
