"""A WSGI endpoint for App Store Server Notifications V2.

Apple posts {"signedPayload": "<JWS>"}. One call verifies the notification and every
JWS inside it. The text is stored before 200 is answered, because Apple does not send
again what was acknowledged; a repeated notification is stored once.

To try it here:

    python3 notification_endpoint.py config.json notifications.db 8080

In production any WSGI server runs `make_application(...)`; several processes may
share the SQLite file.
"""

from __future__ import annotations

import hashlib
import json
import logging
import pathlib
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any
from wsgiref.simple_server import make_server

import assay

log = logging.getLogger("notifications")

LONGEST_BODY = 256 * 1024
TABLE = """
create table if not exists notification (
  key text primary key, type text, subtype text, line text, signed_ms integer,
  jws text not null)
"""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def make_application(verifier: assay.Verifier, database: str) -> Application:
    """The WSGI application for one verifier and one SQLite file."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(TABLE)

    def application(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        status = receive(verifier, database, environ)
        start_response(status, [("content-type", "text/plain"), ("content-length", "0")])
        return [b""]

    return application


def receive(verifier: assay.Verifier, database: str, environ: dict[str, Any]) -> str:
    """Verify and store one request's notification; returns the HTTP status."""
    if environ.get("REQUEST_METHOD") != "POST":
        return "405 Method Not Allowed"
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if not 0 < length <= LONGEST_BODY:
            return "413 Content Too Large"
        jws = json.loads(environ["wsgi.input"].read(length))["signedPayload"]
        notification = verifier.verify_notification(jws)
    except (KeyError, TypeError, ValueError):
        return "400 Bad Request"
    except assay.UnsupportedError as refusal:
        # Genuine, but newer than this version: keep the text for a later one.
        log.warning("notification not understood: %s", refusal)
        digest = hashlib.sha256(jws.encode()).hexdigest()
        store(database, (f"unknown/{digest}", None, None, None, None, jws))
        return "200 OK"
    except assay.AssayError as refusal:
        log.warning("notification refused: %s", refusal)
        return f"{refusal.http_status} Refused"
    store(database, row(notification, jws))
    return "200 OK"


def row(notification: assay.Notification, jws: str) -> tuple[Any, ...]:
    """What is kept: when it is processed, the text is verified again."""
    transaction = notification.transaction
    return (
        notification.keys.notification if notification.keys else None,
        notification.notification_type,
        notification.subtype,
        transaction.keys.subscription if transaction and transaction.keys else None,
        notification.signed_date,
        jws,
    )


def store(database: str, values: tuple[Any, ...]) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("insert or ignore into notification values (?,?,?,?,?,?)", values)


def main(config: str, database: str, port: str) -> None:
    verifier = assay.Verifier(pathlib.Path(config).read_text())
    with make_server("127.0.0.1", int(port), make_application(verifier, database)) as server:
        print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main(*sys.argv[1:4])
