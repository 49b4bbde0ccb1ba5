"""Requests and responses of a Lambda function (BCK-18 … 20, 23).

Events of HTTP APIs (payload 1.0 and 2.0), REST APIs, function URLs and Application Load
Balancers become the same `Request`. No member is read from a field that a client can write:
the caller comes from the authorizer's claims, the route from the one that the gateway matched,
the address from the gateway's own field.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_BODY = 1024 * 1024
_PARAMETER = re.compile(r"\{([^{}+]+)\+?\}")


class BadBody(ValueError):
    """Raised if the body is not what the route accepts."""


@dataclass(frozen=True)
class Request:
    """One request. The body is read after the caller is known, never before.

    multi_value  whether the load balancer expects headers as lists
    """

    method: str
    path: str
    headers: Mapping[str, str]
    address: str | None
    claims: Mapping[str, Any] | None
    content: str | None = field(repr=False)
    is_base64: bool = False
    multi_value: bool = False

    @classmethod
    def of(cls, event: Mapping[str, Any], base_path: str = "") -> Request:
        """Read a request from an event; what the event lacks is missing, without a default.

        base_path  the prefix of every route
        """
        context = _object(event.get("requestContext"))
        http = _object(context.get("http"))
        headers = _headers(event)
        content = event.get("body")
        return cls(
            method=str(http.get("method") or event.get("httpMethod") or ""),
            path=_path(event, context, base_path),
            headers=headers,
            address=_address(context, headers),
            claims=_claims(context.get("authorizer")),
            content=content if isinstance(content, str) else None,
            is_base64=event.get("isBase64Encoded") is True,
            multi_value="multiValueHeaders" in event and "headers" not in event,
        )

    def json(self, limit: int = LONGEST_BODY) -> Body:
        """Read the body, which must be one JSON object without repeated members. Raises BadBody."""
        if self.content is None or len(self.content) > 2 * limit:
            raise BadBody("absent or too long")
        octets = self._octets()
        if len(octets) > limit:
            raise BadBody("too long")
        try:
            found = json.loads(
                octets.decode("utf-8"),
                object_pairs_hook=_once,
                parse_constant=_no_constant,
                parse_float=_finite,
            )
            # JSON can spell half of a surrogate pair, which is no text.
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
        """Return a member that must be a text, not empty and without NUL. Raises BadBody."""
        found = self.get(name)
        if not isinstance(found, str) or not found or "\0" in found:
            raise BadBody(name)
        return found

    def octets(self, name: str) -> bytes:
        """Return the bytes of a member that must be base64. Raises BadBody."""
        try:
            return base64.b64decode(self.text(name), validate=True)
        except (binascii.Error, ValueError):
            raise BadBody(name) from None


@dataclass(frozen=True)
class Answer:
    """The response to the client. Without a body it is the empty 200 for Apple."""

    status: int
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def error(cls, status: int, text: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Make a refusal: one fixed text, without the reason."""
        return cls(status, {"error": text}, headers or {})

    def response(self, multi_value: bool = False) -> dict[str, Any]:
        """Return the form for Lambda. Raises ValueError or TypeError if the body is not JSON."""
        headers = dict(self.headers)
        if self.body is not None:
            headers = {"Content-Type": "application/json", "Cache-Control": "no-store", **headers}
        found: dict[str, Any] = {
            "statusCode": self.status,
            "headers": headers,
            "body": "" if self.body is None else json.dumps(self.body, allow_nan=False),
            "isBase64Encoded": False,
        }
        if multi_value:
            found["multiValueHeaders"] = {name: [value] for name, value in headers.items()}
        return found


class Refused(Exception):
    """Raised to end a request with this response."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _object(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _headers(event: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers by lower-case name. A load balancer may have only lists of values, of
    which the last counts."""
    found = {
        name: values[-1]
        for name, values in _object(event.get("multiValueHeaders")).items()
        if isinstance(values, list) and values
    }
    found.update(_object(event.get("headers")))
    return {str(name).lower(): str(value) for name, value in found.items()}


def _address(context: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """Return the address in the gateway's own field. A load balancer has none: it appends the
    address to X-Forwarded-For, whose earlier members are the client's."""
    if "elb" in context:
        return headers.get("x-forwarded-for", "").rpartition(",")[2].strip() or None
    http, identity = _object(context.get("http")), _object(context.get("identity"))
    found = http.get("sourceIp") or identity.get("sourceIp")
    return found if isinstance(found, str) else None


def _path(event: Mapping[str, Any], context: Mapping[str, Any], base_path: str) -> str:
    """Return the route that the gateway matched, whatever a custom domain or a stage prefixes, or
    without a gateway the path. `base_path` is removed from either."""
    path = _matched(event)
    if path is None:
        path = str(event.get("rawPath") or event.get("path") or "")
        stage = f"/{context.get('stage')}"
        if "rawPath" in event and path.startswith(f"{stage}/"):
            path = path[len(stage) :]
    return path[len(base_path) :] if path.startswith(f"{base_path}/") else path


def _matched(event: Mapping[str, Any]) -> str | None:
    """Return `routeKey` of HTTP APIs, "POST /v1/analyze", or `resource` of REST APIs and payload
    1.0, "/v1/{proxy+}"; None for the default route, or a parameter that the event lacks."""
    route = event.get("routeKey")
    template = route.partition(" ")[2] if isinstance(route, str) else event.get("resource")
    if not isinstance(template, str) or not template.startswith("/"):
        return None
    given = _object(event.get("pathParameters"))
    names = _PARAMETER.findall(template)
    if any(not isinstance(given.get(name), str) for name in names):
        return None
    return _PARAMETER.sub(lambda found: str(given[found[1]]), template)


def _claims(authorizer: Any) -> Mapping[str, Any] | None:
    """Return authorizer.jwt.claims of HTTP APIs or authorizer.claims of REST APIs, and no
    others."""
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


def _finite(text: str) -> float:
    """Refuse numbers such as 1e999, which is JSON but cannot be written again."""
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(text[:20])
    return found
