"""The shop itself, for FastAPI and for Django: an answer is a body, a status and headers, in the
order in which both take them."""
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
    """Once, before the first request: the tables of the ledger, and the shop's own."""
    ledger.create_schema()
    with closing(sqlite3.connect("shop.db")) as database:
        database.execute("CREATE TABLE booking (id TEXT PRIMARY KEY, account TEXT NOT NULL,"
                         " units INTEGER NOT NULL)")


def pay_out(grant: Grant) -> None:
    """In the transaction of the claim: both stand, or neither."""
    book(grant.connection, grant.grant_id, grant.account, grant.units)


def take_back(take: TakeBack) -> None:
    """In that of the refund."""
    book(take.connection, take.take_id, take.account, -take.units)


def book(connection: Any, id: str, account: str, units: int) -> None:
    """A customer has the sum of the bookings, and needs no row before the first."""
    connection.execute("INSERT INTO booking VALUES (?, ?, ?)", (id, account, units))


def refused(refusal: assay.AssayError) -> Answer:
    log.warning("%s", refusal)
    status = refusal.http_status
    return {"error": "refused"}, status, {"Retry-After": "5"} if status == 503 else {}


def purchase(authorization: str, jws: str) -> Answer:
    """What an app bought."""
    try:
        token = ledger.verifier.verify_token(authorization.removeprefix("Bearer "), keys)
        bought = ledger.verifier.verify_transaction(jws)
    except assay.AssayError as refusal:
        return refused(refusal)
    claim = ledger.claim(bought, token.subject, grant_mode="transaction", grant=pay_out)
    later = {"Retry-After": "5"} if claim.client_result == "deferred" else {}
    return {"answer": claim.client_result}, claim.http_status, later


def notify(signed_payload: str) -> Answer:
    """What happened at Apple. 200 only when it is stored: Apple repeats everything else."""
    try:
        note = ledger.verifier.verify_notification(signed_payload)
    except assay.UnsupportedError as newer:
        log.warning("%s", newer)
        return {}, 200, {}
    except assay.AssayError as refusal:
        return refused(refusal)
    if note.transaction is None:
        return {}, 200, {}
    event = ledger.apply_event(note, grant_mode="transaction", grant=pay_out, take_back=take_back)
    for part in event.refused:
        log.warning("%s of %s: %s", part.at, part.transaction_id, part.status)
    return {}, event.http_status, {} if event.ok else {"Retry-After": "5"}


if __name__ == "__main__":
    setup()
