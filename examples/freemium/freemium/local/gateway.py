"""A mock of API Gateway on a loopback address: HTTP requests become Lambda events.

Like Amazon's authorizer for JWTs it verifies signature, issuer, time and client, accepts ID
tokens as well as access tokens, and passes the claims on. Unlike it, a request without a valid
token reaches the function without claims, so that the function's 401 can be tested.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import assay
from assay.keysets import KeysetCache

from .pool import Pool

Handler = Callable[[dict[str, Any], object], dict[str, Any]]
LONGEST = 10 * 1024 * 1024
# How long the end of a server may wait for its loop.
POLL_SECONDS = 0.02
# HTTP APIs pass bodies of these types as text, and others as base64.
_TEXTUAL = ("text/", "application/json", "application/javascript", "application/xml")
_POOL_TARGET = "AWSCognitoIdentityProviderService."


class Gateway:
    """A server for one handler, from its start to `close`.

    pool   the user pool served at the same address; None if it is elsewhere
    form   "http": events of HTTP APIs, payload 2.0; "rest": those of REST APIs
    """

    def __init__(
        self,
        handler: Handler,
        authorizer: Authorizer,
        *,
        pool: Pool | None = None,
        port: int = 0,
        form: str = "http",
        context: object = None,
    ) -> None:
        self.handler, self.authorizer, self.pool = handler, authorizer, pool
        self.form, self.context = form, context
        gateway = self

        class Bound(_Connection):
            owner = gateway

        self._server = _Server(("127.0.0.1", port), Bound)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)

    def start(self) -> Gateway:
        self._thread.start()
        return self

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def event(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, address: str
    ) -> dict[str, Any]:
        """Return the event of one request."""
        url = urlsplit(target)
        claims = self.authorizer.claims(headers.get("authorization"))
        textual = headers.get("content-type", "application/json").startswith(_TEXTUAL)
        try:
            content = body.decode() if textual else None
        except UnicodeDecodeError:
            content = None
        content = base64.b64encode(body).decode() if content is None else content
        encoded = content != "" and not (textual and content.encode() == body)
        if self.form == "rest":
            return _rest(method, url.path, headers, claims, content, encoded, address)
        return _http(method, url.path, headers, claims, content, encoded, address)


class Authorizer:
    """The verification of a request's token, as Amazon's authorizer does it."""

    def __init__(
        self,
        issuer: str,
        client: str,
        send: Any,
        clock: Callable[[], float],
    ) -> None:
        app = {"bundleId": "com.example.gateway", "appAppleId": 1}
        access = {"profile": "cognito-access", "issuers": [issuer], "clients": [client]}
        identity = {
            "profile": "jwt",
            "issuers": [issuer],
            "audiences": [client],
            "algorithm": "RS256",
            "jwksUri": f"{issuer}/.well-known/jwks.json",
        }
        self._issuer, self._clock = issuer, clock
        self._keys = [
            KeysetCache(assay.Verifier({"apps": [app], "tokens": [profile]}), send, clock=clock)
            for profile in (access, identity)
        ]

    def claims(self, header: str | None) -> Mapping[str, Any] | None:
        """Return the claims of a valid token; None if there is none."""
        scheme, _, text = (header or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        for keys in self._keys:
            try:
                token = keys.verify_token(text.strip(), self._issuer, int(self._clock() * 1000))
            except assay.AssayError:
                continue
            return dict(token.payload)
        return None


def _http(
    method: str,
    path: str,
    headers: Mapping[str, str],
    claims: Mapping[str, Any] | None,
    content: str,
    encoded: bool,
    address: str,
) -> dict[str, Any]:
    """Return an event of payload 2.0, without the member `body` if there is none."""
    context: dict[str, Any] = {
        "stage": "$default",
        "http": {"method": method, "path": path, "sourceIp": address},
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    event = {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "headers": dict(headers),
        "requestContext": context,
        "isBase64Encoded": encoded,
    }
    return {**event, "body": content} if content else event


def _rest(
    method: str,
    path: str,
    headers: Mapping[str, str],
    claims: Mapping[str, Any] | None,
    content: str,
    encoded: bool,
    address: str,
) -> dict[str, Any]:
    """Return an event of a REST API: claims are texts, and `body` is null if there is none."""
    context: dict[str, Any] = {"stage": "prod", "identity": {"sourceIp": address}}
    if claims is not None:
        context["authorizer"] = {"claims": {name: str(value) for name, value in claims.items()}}
    return {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": {name.title(): value for name, value in headers.items()},
        "requestContext": context,
        "body": content or None,
        "isBase64Encoded": encoded,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class _Connection(BaseHTTPRequestHandler):
    """One connection: a request goes to the pool by its target or its key set's path, else to the
    handler."""

    owner: Gateway
    protocol_version = "HTTP/1.1"
    timeout = 30
    # Head and body go in one piece: the second of two would wait for the client's ACK.
    wbufsize = -1

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if length > LONGEST:
            self.close_connection = True
            return self._send(413, {"Content-Type": "application/json"}, b"{}")
        body = self.rfile.read(length)
        target, pool = self.headers.get("x-amz-target", ""), self.owner.pool
        if pool is not None and target.startswith(_POOL_TARGET):
            status, found = pool.called(target, body)
            kind = {"Content-Type": "application/x-amz-json-1.1"}
            return self._send(status, kind, json.dumps(found).encode())
        if pool is not None and self.path.endswith("/.well-known/jwks.json"):
            kind = {"Content-Type": "application/json"}
            return self._send(200, kind, pool.key_set.encode())
        headers = {name.lower(): value for name, value in self.headers.items()}
        address = self.client_address[0]
        event = self.owner.event(self.command, self.path, headers, body, address)
        answer = self.owner.handler(event, self.owner.context)
        return self._send(answer["statusCode"], answer["headers"], answer["body"].encode())

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the handler writes one line for each request."""
