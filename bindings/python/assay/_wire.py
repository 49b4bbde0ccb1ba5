"""What all senders have in common: the address of a request, the reply made from a response, and
the line in the log (docs/exchanges.md)."""

from __future__ import annotations

import base64
import logging
import time
import zlib
from ipaddress import ip_address
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol
    from urllib.parse import SplitResult

    class Headers(Protocol):
        """The headers of a response, by name in any case."""

        def get(self, name: str, /) -> str | None: ...


LOG = logging.getLogger("assay.http")

# A reply is JSON of at most 8 MiB (EXC-5): this many bytes of a body fit into it as base64.
_ROOM = ((8 << 20) - 4096) // 4 * 3
# A body longer than this many bytes is always passed as base64 (EXC-20).
_TEXT = 1 << 20
PIECE = 1 << 16


class NoAnswer(Exception):
    """Raised for a response that cannot be passed on: the request counts as unanswered."""


class Hosts:
    """Replacement addresses of hosts, for tests: {"buy.itunes.apple.com": "http://127.0.0.1:8080"}.
    Loopback addresses only (PLY-3)."""

    def __init__(self, hosts: Mapping[str, str] | None) -> None:
        self._bases = {name: _loopback(url) for name, url in (hosts or {}).items()}

    def __repr__(self) -> str:
        return f"<assay hosts: {', '.join(self._bases)}>"

    def find(self, url: str) -> SplitResult:
        """Return the address to open; the path does not change."""
        asked = urlsplit(url)
        base = self._bases.get(asked.hostname or "")
        return asked if base is None else asked._replace(scheme=base.scheme, netloc=base.netloc)


def _loopback(url: str) -> SplitResult:
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not here or parts.scheme not in ("http", "https") or parts.path not in ("", "/"):
        raise ValueError("hosts: only addresses of this machine, http://127.0.0.1:PORT")
    return parts


def headers_of(request: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers to send. No content coding is requested: the limit counts decoded
    bytes."""
    return {
        "Accept-Encoding": "identity",
        **dict(request["headers"]),
        "Host": urlsplit(request["url"]).netloc,
    }


def octets_of(request: Mapping[str, Any]) -> bytes | None:
    """Return the body to send; None if the request has none."""
    body: Mapping[str, str] | None = request["body"]
    if body is None:
        return None
    if "text" in body:
        return body["text"].encode()
    return base64.b64decode(body["base64"], validate=True)


class Body:
    """The body of a response while it arrives: decoded, and at most one byte longer than the
    request allows (EXC-19)."""

    def __init__(self, request: Mapping[str, Any], headers: Headers) -> None:
        self._most = min(request["maxResponseBytes"], _ROOM) + 1
        self._octets = bytearray()
        coding = (headers.get("content-encoding") or "identity").strip().lower()
        if coding not in ("identity", "gzip"):
            raise NoAnswer(f"the coding {coding[:20]!r}, which nobody asked for")
        self._gzip = zlib.decompressobj(31) if coding == "gzip" else None

    @property
    def cut(self) -> bool:
        """Whether the body is longer than allowed."""
        most: int = self._most
        return len(self._octets) == most

    def add(self, piece: bytes) -> bool:
        """Append a piece, and return whether more may follow."""
        room = self._most - len(self._octets)
        if self._gzip is None:
            self._octets += piece[:room]
        elif room:
            # A densely compressed body is decompressed only as far as there is room.
            self._octets += self._gzip.decompress(piece, room)
        return not self.cut

    def given(self) -> dict[str, str] | None:
        """Return the body for the reply after all of it has arrived; None if it is too long."""
        if self.cut:
            return None
        if self._gzip is not None and not self._gzip.eof:
            raise NoAnswer("half a body")
        octets = bytes(self._octets)
        if len(octets) <= _TEXT and 0 not in octets:  # a text must not contain NUL
            try:
                return {"text": octets.decode()}
            except UnicodeDecodeError:
                pass
        return {"base64": base64.b64encode(octets).decode()}


def answer(
    request: Mapping[str, Any], status: int, headers: Headers, body: Body
) -> dict[str, Any]:
    """Return the reply to an HTTP step."""
    found = [(name, headers.get(name)) for name in request["responseHeaders"]]
    return {
        "id": request["id"],
        "status": status,
        "headers": [[name, value] for name, value in found if value is not None],
        "body": body.given(),
        "truncated": body.cut,
    }


def no_answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply for a request that got no usable response."""
    return {"id": request["id"], "status": 0, "body": None}


def note(request: Mapping[str, Any], answer: Mapping[str, Any], begin: float) -> None:
    """Write a line to the log: method, host, path, status and time, nothing else (EXC-22)."""
    if LOG.isEnabledFor(logging.INFO):
        asked = urlsplit(request["url"])
        path = "" if "url" in request.get("sensitivePaths", ()) else asked.path
        taken = round((time.monotonic() - begin) * 1000)
        LOG.info(
            "%s %s%s %d %d ms", request["method"], asked.hostname, path, answer["status"], taken
        )
