"""An AWS Lambda function that accepts whatever an app sends for a purchase.

The app posts {"receipt": "<text>"}: a transaction receipt, an app receipt or a signed
transaction. Nine requests in ten are foreign, forged or repeated and end after a
triage without cryptography and at most one read of the ledger; the others are
verified offline, claimed and granted once. No call to Apple is made.

The response is one word, by which the client decides about its copy of the receipt:

    granted, already-granted    finish the transaction, delete the copy
    refused-final               finish, delete the copy, and inform the user
    refused-keep                keep the copy, do not finish, try again daily
    resend                      send the stored copy again; the third time: support
    deferred                    keep the copy, try again with back-off; with 401 sign in first

ASSAY_CONFIG names the configuration (docs/config.md); let it accept Sandbox, since App
Review buys there with your production build. The ledger is an SQLite file here, named
by LEDGER; with several instances put a shared database behind the same three methods.

Apple reports a refund by a notification, which needs more than this table: a shop that takes
goods back uses the ledger of `assay.ledger` instead, `claim` here and `apply_event` there, as in
notification_endpoint.py. What a customer sends takes nothing back, whatever date it contains.

To try it here, with a receipt in a file:

    ASSAY_CONFIG=config.json LEDGER=ledger.db python3 receipt_endpoint.py receipt.b64 u-17
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import pathlib
import sqlite3
import sys
import time
from contextlib import closing
from typing import Any, NamedTuple

import assay

log = logging.getLogger("receipts")

FINISH = {"granted": 200, "already-granted": 200}
# The grant of a Sandbox purchase, which was not paid for, ends after a day.
SANDBOX_GRANT_MS = 24 * 3600 * 1000
# The most keys to look up at once; a receipt with more is verified without a look-up.
MOST_KEYS = 400


class Purchase(NamedTuple):
    """What a grant needs, all of it from a verified document.

    The keys are made from signed ids and do not change with the unsigned parts of a
    receipt's text, so that it is granted once.
    """

    transaction: str
    key: str
    line: str
    product: str
    quantity: int
    environment: str
    revoked: bool


class Ledger:
    """The grants and their accounts, unique by transaction key and by purchase key."""

    TABLES = """
    create table if not exists claim (
      key text primary key, transaction_key text not null unique, account text not null,
      product text not null, quantity integer not null, environment text not null,
      sha256 text not null, granted_ms integer not null, until_ms integer,
      revoked integer not null default 0);
    create table if not exists line (line text primary key, account text not null);
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with closing(self.connect()) as connection:
            connection.executescript(self.TABLES)

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=10, isolation_level=None)

    def known(self, keys: tuple[str, ...], account: str) -> int:
        """Return how many of the keys are granted to the account. Only reads."""
        marks = ",".join("?" * len(keys))
        with closing(self.connect()) as connection:
            found = connection.execute(
                f"select key, transaction_key from claim where account = ? and not revoked"
                f" and (key in ({marks}) or transaction_key in ({marks}))",
                (account, *keys, *keys),
            ).fetchall()
        return len(set(keys) & {key for row in found for key in row})

    def claim(self, purchase: Purchase, account: str, sha256: str) -> str:
        """Grant one purchase once: claim and grant in one transaction.

        The earlier read proves nothing, because two requests may have read at once.
        """
        now = time.time_ns() // 1_000_000
        until = now + SANDBOX_GRANT_MS if purchase.environment != "Production" else None
        with closing(self.connect()) as connection, connection:
            connection.execute("begin immediate")
            connection.execute(
                "insert or ignore into line values (?, ?)", (purchase.line, account)
            )
            (owner,) = connection.execute(
                "select account from line where line = ?", (purchase.line,)
            ).fetchone()
            if owner != account:
                return "other-account"
            row = connection.execute(
                "select account, revoked from claim where key = ? or transaction_key = ?",
                (purchase.key, purchase.transaction),
            ).fetchone()
            if row:
                if row[0] != account:
                    return "other-account"
                return "revoked" if row[1] else "already-granted"
            connection.execute(
                "insert into claim values (?,?,?,?,?,?,?,?,?,0)",
                (purchase.key, purchase.transaction, account, purchase.product,
                 purchase.quantity, purchase.environment, sha256, now, until),
            )
            return "granted"


# Made once per execution environment: later invocations find proven chains.
verifier = assay.Verifier(pathlib.Path(os.environ["ASSAY_CONFIG"]).read_text())
ledger = Ledger(os.environ["LEDGER"])


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Handle one request of the API Gateway."""
    account = account_of(event)
    if account is None:
        return answer("deferred", 401)
    try:
        body = event["body"]
        if event.get("isBase64Encoded"):
            body = base64.b64decode(body)
        receipt = json.loads(body)["receipt"]
        if not isinstance(receipt, str):
            raise TypeError
    except (KeyError, TypeError, ValueError):
        return answer("resend", 400)
    try:
        return receive(receipt, account)
    except assay.AssayError as refusal:
        # The log has rule, location and hint; the response contains nothing to learn from.
        log.warning("receipt refused: %s", refusal)
        return refused(refusal)
    except sqlite3.Error:
        log.exception("ledger")
        return answer("deferred", 503)


def account_of(event: dict[str, Any]) -> str | None:
    """Return the `sub` of the claims that the gateway has verified; None if there are none.

    HTTP APIs have the claims at authorizer.jwt.claims, REST APIs at authorizer.claims.
    """
    authorizer = (event.get("requestContext") or {}).get("authorizer") or {}
    claims = (authorizer.get("jwt") or authorizer).get("claims") or {}
    return claims.get("sub") or None


def receive(receipt: str, account: str) -> dict[str, Any]:
    """Triage, look up, verify and claim: the cheapest step first."""
    finding = verifier.triage(receipt)
    if not finding.worth_verifying:
        log.info("triage: %s %s %s", finding.category, finding.format, finding.status)
        word = {"drop": "refused-final", "keep": "refused-keep"}.get(
            finding.disposition or "", "resend"
        )
        return answer(word, finding.http_status or 400)
    if is_repeated(finding, account):
        return answer("already-granted", 200)
    return claim_all(verified(receipt, finding.format), account, receipt)


def is_repeated(finding: assay.Triage, account: str) -> bool:
    """Return whether this account was granted everything that the blob claims.

    Claims prove nothing, and nothing is granted by them, so "already granted" is a safe
    response. About another account's purchase nothing is revealed before it is verified.
    """
    claimed = finding.unverified
    if not 0 < len(claimed.keys) <= MOST_KEYS:
        return False
    hits = ledger.known(claimed.keys, account)
    if finding.format == "app-receipt":
        return claimed.complete is True and hits == len(claimed.keys)
    return hits > 0


def verified(receipt: str, form: str | None) -> list[Purchase]:
    """Return the purchases that the receipt proves. Raises AssayError."""
    if form == "jws":
        return [purchase(verifier.verify_transaction(receipt.strip()))]
    if form == "transaction-receipt":
        return [purchase(verifier.verify_transaction_receipt(receipt))]
    if form == "app-receipt":
        # Pass subject=uuid.UUID(vendor_id) if the app sends identifierForVendor.
        app = verifier.verify_app_receipt(receipt)
        return [purchase(entry, app.environment) for entry in app.purchases if entry.known]
    return []


def purchase(found: Any, environment: str | None = None) -> Purchase:
    """Return what is granted, from the facts only, never from the request."""
    keys = found.keys
    revoked = getattr(found, "cancellation_date", None) or getattr(
        found, "revocation_date", None
    )
    return Purchase(
        keys.transaction, keys.purchase, keys.subscription, found.product_id,
        # No signed member has the environment: grant as for Sandbox, which it may be.
        found.quantity or 1, environment or found.environment or "unknown",
        revoked is not None,
    )


def claim_all(purchases: list[Purchase], account: str, receipt: str) -> dict[str, Any]:
    """Claim each purchase, and return one response for all of them."""
    sha256 = hashlib.sha256(receipt.encode()).hexdigest()
    outcomes = {
        ledger.claim(entry, account, sha256)
        for entry in purchases
        if entry.key and entry.transaction and entry.line and not entry.revoked
    }
    for word in ("granted", "already-granted"):
        if word in outcomes:
            return answer(word, FINISH[word])
    if outcomes:  # another account's, or refunded
        log.warning("receipt refused: %s", ", ".join(sorted(outcomes)))
        return answer("refused-final", 409)
    # Genuine, but nothing in it can be granted now: a product that is not in the catalogue, or a
    # purchase that only a fresh receipt would contain.
    return answer("refused-keep", 409)


def refused(refusal: assay.AssayError) -> dict[str, Any]:
    """Return the response for a receipt that was verified and refused."""
    if isinstance(refusal, (assay.MisuseError, assay.InternalError)):
        return answer("deferred", 503)
    if refusal.retry_class == "later":
        return answer("deferred", 503)
    keeps = refusal.retry_class == "after-config" or isinstance(refusal, assay.UnsupportedError)
    if keeps or refusal.status == "rejected.freshness.stale":
        return answer("refused-keep", refusal.http_status)
    if isinstance(refusal, (assay.MalformedError, assay.TooLargeError)):
        return answer("resend", refusal.http_status)
    return answer("refused-final", refusal.http_status)


def answer(word: str, status: int) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"answer": word}),
    }


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    event = {
        "requestContext": {"authorizer": {"claims": {"sub": sys.argv[2]}}},
        "body": json.dumps({"receipt": pathlib.Path(sys.argv[1]).read_text()}),
    }
    print(json.dumps(handler(event, None)))
