"""Carrying out the network steps of a conversation, with the standard library.

    from assay import http

    with verifier.exchange({"kind": "verifyReceipt", "receipt": text}) as exchange:
        document = http.carry_out(exchange)
    document.raise_for_refusal()

`carry_out` drives; `Sender` sends. With another client, pass a function of your own
in place of the sender: it takes a request and returns an answer, both mappings that
docs/exchanges.md describes. For asyncio there is `assay.aio.carry_out`.

Loaded on first use.
"""

from __future__ import annotations

import base64
import http.client
import ssl
import time
from ipaddress import ip_address
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from socket import socket
    from typing import Any

    from .documents import Document
    from .exchange import Exchange

    Send = Callable[[Mapping[str, Any]], Mapping[str, Any]]

__all__ = ["Sender", "carry_out"]

# An answer is handed in as JSON of at most 8 MiB (EXC-5): this much of a body fits into
# it as base64.
_ROOM = ((8 << 20) - 4096) // 4 * 3
# A longer body always goes in as base64 (EXC-20).
_TEXT = 1 << 20
_PIECE = 1 << 16


def carry_out(
    exchange: Exchange,
    send: Send | None = None,
    *,
    patience: float = 30.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], object] = time.sleep,
) -> Document:
    """Conduct a conversation to its end; returns its last document.

    send      takes a request and returns its answer; None: a `Sender`
    patience  how many seconds to wait before a step. If Apple asks for more, the
              document of that wait is the last one: put its `exchange.retry` into
              your own queue (docs/exchanges.md)
    clock     the time in seconds since 1970 UTC

    A refused result is an answer, not an error: look at the document. What `send` raises
    passes through, with the step still open.
    """
    if send is None:
        send = Sender()
    while not exchange.done:
        payload = exchange.payload
        state = payload.get("state")
        if state == "request":
            answer: Mapping[str, Any] = send(payload["request"])
        elif state == "wait":
            left = payload["notBeforeMs"] / 1000 - clock()
            if left > patience:
                break
            if left > 0:
                sleep(left)
            answer = {}
        else:
            raise NotImplementedError(f"a step of state {state!r} is not a request")
        exchange.step(answer, int(clock() * 1000))
    return exchange.document


class Sender:
    """Sends requests with `http.client`: certificates are verified, redirects are not
    followed, no cookie is kept, no proxy from the environment is used, and no more is
    read than a request allows.

        Sender()("request of a step")   # -> the answer, a mapping

    context  for TLS; None: `ssl.create_default_context()`
    hosts    only for tests: where to find a host instead, {"buy.itunes.apple.com":
             "http://127.0.0.1:8080"}. Loopback addresses only
    """

    def __init__(
        self, context: ssl.SSLContext | None = None, hosts: Mapping[str, str] | None = None
    ) -> None:
        self._context = context
        self._hosts = {name: _loopback(url) for name, url in (hosts or {}).items()}

    def __repr__(self) -> str:
        return "<assay.http.Sender>"

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; status 0 if none came."""
        try:
            return self._send(request)
        except (OSError, http.client.HTTPException):
            return {"id": request["id"], "status": 0, "body": None}

    def _send(self, request: Mapping[str, Any]) -> dict[str, Any]:
        url = urlsplit(request["url"])
        end = time.monotonic() + request["timeoutMs"] / 1000
        headers = dict(request["headers"])
        headers["Host"] = url.netloc
        target = url.path + (f"?{url.query}" if url.query else "")
        connection = self._connect(url.hostname or "", url.port, request["timeoutMs"] / 1000)
        try:
            connection.request(request["method"], target, _octets(request["body"]), headers)
            # The connection drops its socket when no further response can follow.
            held = connection.sock
            response = connection.getresponse()
            room = min(request["maxResponseBytes"], _ROOM)
            body = _read(held, response, room + 1, end)
            wanted = [
                [name, response.headers[name]]
                for name in request["wantHeaders"]
                if name in response.headers
            ]
        finally:
            connection.close()
        cut = len(body) > room
        return {
            "id": request["id"],
            "status": response.status,
            "headers": wanted,
            "body": None if cut else _given(body),
            "cut": cut,
        }

    def _connect(
        self, host: str, port: int | None, seconds: float
    ) -> http.client.HTTPConnection:
        instead = self._hosts.get(host)
        if instead is not None:
            scheme, host, port = instead
            if scheme == "http":
                return http.client.HTTPConnection(host, port, timeout=seconds)
        if self._context is None:
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=seconds, context=self._context)


def _read(
    held: socket, response: http.client.HTTPResponse, most: int, end: float
) -> bytes:
    """At most `most` bytes of a body, read before the time `end`."""
    pieces: list[bytes] = []
    count = 0
    while count < most:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        held.settimeout(left)
        piece = response.read1(min(_PIECE, most - count))
        if not piece:
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            break
        pieces.append(piece)
        count += len(piece)
    return b"".join(pieces)


def _octets(body: Mapping[str, str] | None) -> bytes | None:
    if body is None:
        return None
    if "text" in body:
        return body["text"].encode()
    return base64.b64decode(body["base64"], validate=True)


def _given(body: bytes) -> dict[str, str]:
    if len(body) <= _TEXT and 0 not in body:  # which a text in an answer must not hold
        try:
            return {"text": body.decode()}
        except UnicodeDecodeError:
            pass
    return {"base64": base64.b64encode(body).decode()}


def _loopback(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not here or parts.scheme not in ("http", "https") or parts.path not in ("", "/"):
        raise ValueError("hosts: only addresses of this machine, http://127.0.0.1:PORT")
    return parts.scheme, host, parts.port
