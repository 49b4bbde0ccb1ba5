"""A pool of connections, each used by one exchange at a time and kept for the next.

A child of a fork begins with an empty pool: it neither uses nor closes the connections of its
parent, because closing one would send a farewell on the parent's socket. SQLite must not be
open during a fork, because its locks belong to a process. Its idle connections are closed
before the fork; if one is in use, the child gets no connections.
"""

from __future__ import annotations

import os
import select
from threading import BoundedSemaphore, Lock, RLock
from weakref import WeakSet

from ._answers import CONNECT, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# How long an exchange waits for a connection when all are in use, in seconds. The wait happens
# twice, as for an engine that cannot be reached.
PATIENCE = 5.0

_pools: WeakSet[Pool] = WeakSet()
_forking = RLock()
_held: list[Pool] = []
# References to connections that a child must not close, and must not free either.
_left_alone: list[Any] = []


class Pool:
    """At most `size` connections at once.

    make           opens one; raises `Fault`
    close          closes one; raises nothing
    is_quiet       whether an idle one has no unread bytes; a closed server leaves some
    survives_fork  whether a process may keep idle connections open while it forks
    """

    def __init__(
        self,
        make: Callable[[], Any],
        close: Callable[[Any], object],
        size: int,
        *,
        is_quiet: Callable[[Any], bool] = lambda connection: True,
        survives_fork: bool = True,
    ) -> None:
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"size is an int of 1 or more, not {size!r}")
        self._make, self._close, self._size = make, close, size
        self._is_quiet, self._survives_fork = is_quiet, survives_fork
        self._is_torn = False
        self._renew()
        _pools.add(self)

    def _renew(self) -> None:
        self._lock = Lock()
        self._idle: list[Any] = []
        self._used = 0
        self._room = BoundedSemaphore(self._size)
        self.pid = os.getpid()

    def take(self) -> Any:
        """Take a connection out of the pool; raises `Fault` if there is none."""
        if self._is_torn:
            raise Fault("fork", "forked while a connection was in use", is_certain=True)
        if not self._room.acquire(timeout=PATIENCE):
            raise Fault(CONNECT, "every connection is in use", is_certain=True)
        with self._lock:
            self._used += 1
        try:
            return self._idle_one() or self._make()
        except BaseException:
            self._leave()
            raise

    def _idle_one(self) -> Any:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None or self._is_quiet(connection):
                return connection
            self._close(connection)

    def give(self, connection: Any, pid: int) -> None:
        """Put back a connection on which no statement runs, taken in the process `pid`."""
        if self._is_ours(connection, pid):
            self._leave(connection)

    def drop(self, connection: Any, pid: int) -> None:
        """Close a connection on which a statement may still run. The idle ones are closed too,
        because the same cause may have ended them."""
        if self._is_ours(connection, pid):
            self._close(connection)
            self._leave()
            self.close()

    def _is_ours(self, connection: Any, pid: int) -> bool:
        if pid == self.pid:
            return True
        _left_alone.append(connection)
        return False

    def _leave(self, *kept: Any) -> None:
        with self._lock:
            self._used -= 1
            self._idle += kept
        self._room.release()

    def close(self) -> None:
        """Close the idle connections; the pool remains usable."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            self._close(connection)

    def before_fork(self) -> None:
        self._lock.acquire()
        if not self._survives_fork:
            while self._idle:
                self._close(self._idle.pop())

    def after_fork(self) -> None:
        self._lock.release()

    def in_child(self) -> None:
        self._is_torn = self._is_torn or (self._used > 0 and not self._survives_fork)
        _left_alone.append(self._idle)
        self._renew()


def is_quiet(file: int, wait_ms: int = 0) -> bool:
    """Return whether an idle connection has no unread bytes; a closed or failing server leaves
    some."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return not poll.poll(wait_ms)


def _before() -> None:
    _forking.acquire()
    _held.extend(_pools)
    for pool in _held:
        pool.before_fork()


def _in_parent() -> None:
    while _held:
        _held.pop().after_fork()
    _forking.release()


def _in_child() -> None:
    while _held:
        _held.pop().in_child()
    _forking.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
