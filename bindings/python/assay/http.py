"""Performs the HTTP steps of an exchange with the standard library.

    with verifier.exchange({"operation": "call-verify-receipt", "receipt": text}) as exchange:
        document = exchange.run()                   # or run(Sender(context))
    document.raise_for_status()

`Exchange.run` drives the exchange; `Sender` sends. `assay.senders` sends with httpx or
requests; for another client, pass a function that takes a request and returns a reply, both
mappings that docs/exchanges.md describes. For asyncio use `assay.aio.AsyncRunner`, for the key
sets of token issuers `assay.keysets`.

Each request is a line of the logger `assay.http`, at level INFO: method, host, path, status
and time. Loaded on first use.
"""

from __future__ import annotations

import http.client
import io
import ssl
import time
import zlib

from ._wire import PIECE, Body, Hosts, NoAnswer, answer, headers_of, no_answer, note, octets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from socket import socket
    from typing import Any

    Send = Callable[[Mapping[str, Any]], Mapping[str, Any]]

__all__ = ["Sender"]


class Sender:
    """Sends requests with `http.client`: certificates are verified, redirects are not
    followed, no cookie is kept, no proxy from the environment is used, and no more is read
    than a request allows. The time-out covers the whole request, from the connection (each
    address of a name is tried that long) to the last byte.

        Sender()("request of a step")   # -> the reply, a mapping; status 0: no response

    context  for TLS; None: `ssl.create_default_context()`
    hosts    only for tests: replacement addresses of hosts, {"buy.itunes.apple.com":
             "http://127.0.0.1:8080"}. Loopback addresses only
    """

    def __init__(
        self, context: ssl.SSLContext | None = None, hosts: Mapping[str, str] | None = None
    ) -> None:
        self._context = context
        self._hosts = Hosts(hosts)

    def __repr__(self) -> str:
        return "<assay.http.Sender>"

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request; its status is 0 if no response came."""
        begin = time.monotonic()
        try:
            found = self._send(request, begin + request["timeoutMs"] / 1000)
        except (OSError, http.client.HTTPException, zlib.error, NoAnswer):
            found = no_answer(request)
        note(request, found, begin)
        return found

    def _send(self, request: Mapping[str, Any], end: float) -> dict[str, Any]:
        url = self._hosts.find(request["url"])
        target = url.path + (f"?{url.query}" if url.query else "")
        connection = self._connection(url.scheme, url.hostname or "", url.port)
        connection.timeout = request["timeoutMs"] / 1000
        connection.response_class = _InTime.until(end)
        try:
            connection.request(
                request["method"], target, octets_of(request), headers_of(request)
            )
            response = connection.getresponse()
            body = Body(request, response.headers)
            while piece := response.read1(PIECE):
                if not body.add(piece):
                    break
            if response.length and not body.cut:
                raise NoAnswer("half a body")
            return answer(request, response.status, response.headers, body)
        finally:
            connection.close()

    def _connection(
        self, scheme: str, host: str, port: int | None
    ) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(host, port)
        if self._context is None:
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, context=self._context)


class _InTime(io.RawIOBase):
    """The bytes of a socket until a point in time: each read has the time that is left."""

    def __init__(self, held: socket, end: float) -> None:
        self._held = held
        # Keeps the socket open after the connection has released it.
        self._raw = held.makefile("rb", buffering=0)
        self._end = end

    @classmethod
    def until(cls, end: float) -> Any:
        """Return a substitute for `http.client.HTTPResponse`, which reads what `makefile`
        returns."""

        def response(held: socket, *arguments: Any, **named: Any) -> http.client.HTTPResponse:
            return http.client.HTTPResponse(cls(held, end), *arguments, **named)  # type: ignore[arg-type]

        return response

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        self._held.settimeout(left)
        return self._raw.readinto(buffer) or 0

    def close(self) -> None:
        self._raw.close()
        super().close()
