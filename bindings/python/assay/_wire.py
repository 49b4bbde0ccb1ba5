"""What all senders of requests have in common: where a request goes, how its answer is
handed in, and the line in the log (docs/exchanges.md)."""

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
        """Those of an answer, by name in any case."""

        def get(self, name: str, /) -> str | None: ...


LOG = logging.getLogger("assay.http")

# An answer is handed in as JSON of at most 8 MiB (EXC-5): this much of a body fits into
# it as base64.
_ROOM = ((8 << 20) - 4096) // 4 * 3
# A longer body always goes in as base64 (EXC-20).
_TEXT = 1 << 20
PIECE = 1 << 16


class NoAnswer(Exception):
    """An answer that cannot be handed in as one."""


class Hosts:
    """Where to find a host instead, in tests: {"buy.itunes.apple.com":
    "http://127.0.0.1:8080"}. Loopback addresses only (PLY-3)."""

    def __init__(self, hosts: Mapping[str, str] | None) -> None:
        self._bases = {name: _loopback(url) for name, url in (hosts or {}).items()}

    def __repr__(self) -> str:
        return f"<assay hosts: {', '.join(self._bases)}>"

    def find(self, url: str) -> SplitResult:
        """The address to open; its path is as it was."""
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
    """The headers to send. No content coding is asked for: the limit counts decoded bytes."""
    return {
        "Accept-Encoding": "identity",
        **dict(request["headers"]),
        "Host": urlsplit(request["url"]).netloc,
    }


def octets_of(request: Mapping[str, Any]) -> bytes | None:
    """The body to send."""
    body: Mapping[str, str] | None = request["body"]
    if body is None:
        return None
    if "text" in body:
        return body["text"].encode()
    return base64.b64decode(body["base64"], validate=True)


class Body:
    """The body of an answer as it comes in: decoded, and never more of it than a request
    allows and one byte (EXC-19)."""

    def __init__(self, request: Mapping[str, Any], headers: Headers) -> None:
        self._most = min(request["maxResponseBytes"], _ROOM) + 1
        self._octets = bytearray()
        coding = (headers.get("content-encoding") or "identity").strip().lower()
        if coding not in ("identity", "gzip"):
            raise NoAnswer(f"the coding {coding[:20]!r}, which nobody asked for")
        self._gzip = zlib.decompressobj(31) if coding == "gzip" else None

    @property
    def cut(self) -> bool:
        """Whether it is longer than allowed."""
        most: int = self._most
        return len(self._octets) == most

    def add(self, piece: bytes) -> bool:
        """Take what came in; whether more is wanted."""
        room = self._most - len(self._octets)
        if self._gzip is None:
            self._octets += piece[:room]
        elif room:
            # Of what is packed densely, only as much as there is room for is unpacked.
            self._octets += self._gzip.decompress(piece, room)
        return not self.cut

    def given(self) -> dict[str, str] | None:
        """The body of the answer, once all of it came in; None if it is cut."""
        if self.cut:
            return None
        if self._gzip is not None and not self._gzip.eof:
            raise NoAnswer("half a body")
        octets = bytes(self._octets)
        if len(octets) <= _TEXT and 0 not in octets:  # which a text must not hold
            try:
                return {"text": octets.decode()}
            except UnicodeDecodeError:
                pass
        return {"base64": base64.b64encode(octets).decode()}


def answer(
    request: Mapping[str, Any], status: int, headers: Headers, body: Body
) -> dict[str, Any]:
    """What to hand in."""
    found = [(name, headers.get(name)) for name in request["responseHeaders"]]
    return {
        "id": request["id"],
        "status": status,
        "headers": [[name, value] for name, value in found if value is not None],
        "body": body.given(),
        "truncated": body.cut,
    }


def no_answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """What to hand in when none came."""
    return {"id": request["id"], "status": 0, "body": None}


def note(request: Mapping[str, Any], answer: Mapping[str, Any], begin: float) -> None:
    """One line in the log: method, host, path, status, time; nothing else (EXC-22)."""
    if LOG.isEnabledFor(logging.INFO):
        asked = urlsplit(request["url"])
        path = "" if "url" in request.get("sensitivePaths", ()) else asked.path
        taken = round((time.monotonic() - begin) * 1000)
        LOG.info(
            "%s %s%s %d %d ms", request["method"], asked.hostname, path, answer["status"], taken
        )
