"""A WSGI endpoint for App Store Server Notifications V2.

Apple posts {"signedPayload": "<JWS>"}. One call verifies the notification and every
JWS inside it, a second applies it to the ledger: a refund is taken back, a reversed one is
granted again, and subscriptions are updated. Notifications come twice, late and in any order,
and the newest signed state counts. The response is 200 if everything is committed, or finally
refused; after any other response Apple sends the notification again.

The goods are bookings in the ledger's own SQLite file, so that each is committed with its row
or not at all. The first grant, by a claim, uses the same file and the same `pay_out`. To try it
here; the first line creates the tables once:

    python3 notification_endpoint.py config.json shop.db setup
    python3 notification_endpoint.py config.json shop.db 8080

In production any WSGI server runs `make_application(...)`; several processes may share the
file, and another engine is another URL.
"""

from __future__ import annotations

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
from assay.ledger import Grant, Ledger, TakeBack

log = logging.getLogger("notifications")

LONGEST_BODY = 256 * 1024
# A customer's balance is the sum of the bookings, so that no row must exist before the first.
TABLE = """
create table if not exists booking (
  id text primary key, account text not null, product text not null, units integer not null)
"""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def pay_out(grant: Grant) -> None:
    """Book the units in the transaction of the claim."""
    book(grant.connection, grant.grant_id, grant.account, grant.product, grant.units)


def take_back(take: TakeBack) -> None:
    """Book the take-back in the transaction of the refund."""
    book(take.connection, take.take_id, take.account, take.product, -take.units)


def book(connection: Any, id: str, account: str, product: str, units: int) -> None:
    connection.execute("insert into booking values (?, ?, ?, ?)", (id, account, product, units))


def make_application(ledger: Ledger) -> Application:
    """Return the WSGI application over one ledger."""

    def application(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        status = receive(ledger, environ)
        headers = [("content-type", "text/plain"), ("content-length", "0")]
        if status.startswith("503"):
            headers.append(("retry-after", "5"))
        start_response(status, headers)
        return [b""]

    return application


def receive(ledger: Ledger, environ: dict[str, Any]) -> str:
    """Verify and apply one request's notification, and return the HTTP status."""
    if environ.get("REQUEST_METHOD") != "POST":
        return "405 Method Not Allowed"
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if not 0 < length <= LONGEST_BODY:
            return "413 Content Too Large"
        jws = json.loads(environ["wsgi.input"].read(length))["signedPayload"]
        notification = ledger.verifier.verify_notification(jws)
    except (KeyError, TypeError, ValueError):
        return "400 Bad Request"
    except assay.UnsupportedError as refusal:
        # The notification is genuine, but newer than this version: a repetition would change
        # nothing.
        log.warning("notification not understood: %s", refusal)
        return "200 OK"
    except assay.AssayError as refusal:
        log.warning("notification refused: %s", refusal)
        return f"{refusal.http_status} Refused"
    log.info("%s %s", notification.notification_type, notification.notification_uuid)
    if notification.transaction is None:  # TEST, or a notification about many customers
        return "200 OK"
    return apply(ledger, notification)


def apply(ledger: Ledger, notification: assay.Notification) -> str:
    """Apply a notification to the ledger and record it as handled."""
    event = ledger.apply_event(
        notification, grant_mode="transaction", grant=pay_out, take_back=take_back
    )
    for part in event.refused:  # a repetition would be refused too
        log.warning("%s of %s: %s", part.at, part.transaction_id, part.status)
    if event.ok:
        return "200 OK"
    log.error("not applied: %s", event.status)
    return f"{event.http_status} Not Stored"


def opened(config: str, database: str) -> Ledger:
    configuration = json.loads(pathlib.Path(config).read_text())
    return Ledger(f"sqlite:///{pathlib.Path(database).absolute()}", configuration)


def set_up(ledger: Ledger, database: str) -> None:
    """Create the tables once. A server that did so would begin with an empty ledger if its data is
    missing."""
    ledger.create_schema()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(TABLE)


def main(config: str, database: str, port: str) -> None:
    ledger = opened(config, database)
    if port == "setup":
        set_up(ledger, database)
        return
    ledger.check_schema().raise_for_status()
    with make_server("127.0.0.1", int(port), make_application(ledger)) as server:
        print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main(*sys.argv[1:4])
