"""What API Gateway hands a function, and what it takes back (BCK-18 … 20, 23).

Events of HTTP APIs (payload 2.0) and of REST APIs become the same `Request`. Nothing is
taken from where a client could have put it: the caller from the authorizer's claims, the
address from the gateway's own field.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_BODY = 1024 * 1024


class BadBody(ValueError):
    """The body is not what the route takes."""


@dataclass(frozen=True)
class Request:
    """One request. The body is read after the caller is known, never before."""

    method: str
    path: str
    headers: Mapping[str, str]
    address: str | None
    claims: Mapping[str, Any] | None
    content: str | None = field(repr=False)
    is_base64: bool = False

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Request:
        """Of an event; what is missing in it is missing here, and nothing is made up."""
        context = _object(event.get("requestContext"))
        http = _object(context.get("http"))
        headers = _object(event.get("headers"))
        content = event.get("body")
        return cls(
            method=str(http.get("method") or event.get("httpMethod") or ""),
            path=_path(event, context),
            headers={str(name).lower(): str(value) for name, value in headers.items()},
            address=http.get("sourceIp") or _object(context.get("identity")).get("sourceIp"),
            claims=_claims(context.get("authorizer")),
            content=content if isinstance(content, str) else None,
            is_base64=event.get("isBase64Encoded") is True,
        )

    def json(self, limit: int = LONGEST_BODY) -> Body:
        """The body, which must be one JSON object without a member twice. Raises BadBody."""
        if self.content is None or len(self.content) > 2 * limit:
            raise BadBody("absent or too long")
        octets = self._octets()
        if len(octets) > limit:
            raise BadBody("too long")
        try:
            found = json.loads(
                octets.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
            )
            # A half of a surrogate pair is no text, though JSON can spell it.
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError) as error:
            raise BadBody(type(error).__name__) from None
        if not isinstance(found, dict):
            raise BadBody("not an object")
        return Body(found)

    def _octets(self) -> bytes:
        content = self.content or ""
        try:
            if self.is_base64:
                return base64.b64decode(content, validate=True)
            return content.encode("utf-8")
        except (binascii.Error, ValueError):
            raise BadBody("bad base64") from None


class Body(dict[str, Any]):
    """The object of a body."""

    def text(self, name: str) -> str:
        """A member that must be a text with something in it, and no NUL. Raises BadBody."""
        found = self.get(name)
        if not isinstance(found, str) or not found or "\0" in found:
            raise BadBody(name)
        return found

    def octets(self, name: str) -> bytes:
        """A member that must be base64. Raises BadBody."""
        try:
            return base64.b64decode(self.text(name), validate=True)
        except (binascii.Error, ValueError):
            raise BadBody(name) from None


@dataclass(frozen=True)
class Answer:
    """What the client gets. Without a body it is the empty 200 that Apple gets."""

    status: int
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def error(cls, status: int, text: str, headers: Mapping[str, str] | None = None) -> Answer:
        """A refusal: one fixed text, nothing about the reason."""
        return cls(status, {"error": text}, headers or {})

    def response(self) -> dict[str, Any]:
        """For Lambda."""
        if self.body is None:
            return {"statusCode": self.status, "headers": dict(self.headers), "body": ""}
        return {
            "statusCode": self.status,
            "headers": {
                "Content-Type": "application/json",
                "Cache-Control": "no-store",
                **self.headers,
            },
            "body": json.dumps(self.body),
        }


class Refused(Exception):
    """Ends a request with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _object(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _path(event: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """Without the stage, which HTTP APIs put before it."""
    path = str(event.get("rawPath") or event.get("path") or "")
    stage = context.get("stage")
    if "rawPath" in event and stage and stage != "$default":
        path = path[len(stage) + 1 :] if path.startswith(f"/{stage}/") else path
    return path


def _claims(authorizer: Any) -> Mapping[str, Any] | None:
    """HTTP APIs: authorizer.jwt.claims; REST APIs: authorizer.claims; nothing else."""
    found = _object(authorizer)
    claims = _object(found.get("jwt")).get("claims") or found.get("claims")
    return claims if isinstance(claims, Mapping) else None


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)
