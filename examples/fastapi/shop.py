"""The shop itself, behind the routes of FastAPI, Django and Flask: an answer is a body, a status
and headers."""
import json
import logging
import pathlib
import sqlite3
from contextlib import closing
from typing import Any

import assay
from assay.ledger import Grant, Ledger, TakeBack

log = logging.getLogger("shop")
config = json.loads(pathlib.Path("config.json").read_text())
ledger = Ledger("sqlite:///./shop.db", config)
keys = assay.Keyset(pathlib.Path("keys.json").read_text())
Answer = tuple[dict[str, Any], int, dict[str, str]]


def setup() -> None:
    """Create the tables of the ledger and the shop's own: once, before the first request."""
    ledger.create_schema()
    with closing(sqlite3.connect("shop.db")) as database:
        database.execute("CREATE TABLE booking (id TEXT PRIMARY KEY, account TEXT NOT NULL,"
                         " units INTEGER NOT NULL)")


def pay_out(grant: Grant) -> None:
    """Book in the transaction of the claim: both are stored, or neither is."""
    book(grant.connection, grant.grant_id, grant.account, grant.units)


def take_back(take: TakeBack) -> None:
    """Book in the transaction of the refund."""
    book(take.connection, take.take_id, take.account, -take.units)


def book(connection: Any, id: str, account: str, units: int) -> None:
    """Insert a booking. A customer has the sum of these and needs no row before the first; the
    same id enters once."""
    connection.execute("INSERT INTO booking VALUES (?, ?, ?)", (id, account, units))


def answered(body: dict[str, str], status: int) -> Answer:
    """Return the answer; after "deferred" the app keeps its purchase and comes again."""
    return body, status, {"Retry-After": "5"} if body.get("answer") == "deferred" else {}


def refused(refusal: assay.AssayError) -> Answer:
    """Log status, place and hint, none of them secret; the client gets one text for all."""
    log.warning("%s", refusal)
    status = refusal.http_status
    return answered({"answer": "deferred"} if status == 503 else {"error": "refused"}, status)


def purchase(authorization: str, jws: str) -> Answer:
    """Pay out what an app bought, once."""
    try:
        token = ledger.verifier.verify_token(authorization.removeprefix("Bearer "), keys)
        bought = ledger.verifier.verify_transaction(jws)
    except assay.AssayError as refusal:
        return refused(refusal)
    claim = ledger.claim(bought, token.subject, grant_mode="transaction", grant=pay_out)
    if claim.http_status != 200:
        log.warning("%s", claim.status)
    return answered({"answer": claim.client_result or "deferred"}, claim.http_status)


def notify(signed_payload: str) -> Answer:
    """Store what happened at Apple, then answer 200: Apple repeats everything else."""
    try:
        note = ledger.verifier.verify_notification(signed_payload)
    except assay.UnsupportedError as newer:  # genuine, and newer than this version
        log.warning("%s", newer)
        return answered({}, 200)
    except assay.AssayError as refusal:
        return refused(refusal)
    if note.transaction is None:
        return answered({}, 200)
    event = ledger.apply_event(note, grant_mode="transaction", grant=pay_out, take_back=take_back)
    for part in event.refused:  # for good: it would be refused again
        log.warning("%s of %s: %s", part.at, part.transaction_id, part.status)
    return answered({} if event.ok else {"answer": "deferred"}, event.http_status)


if __name__ == "__main__":
    setup()
