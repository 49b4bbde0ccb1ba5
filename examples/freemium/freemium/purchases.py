"""Plans, from the purchases that the app sends (BCK-1 … 5) and from Apple's notifications
(BCK-16)."""

from __future__ import annotations

import hashlib
import logging

import assay

from . import refunds
from .changes import Change
from .events import Answer, BadBody, Request
from .families import REFUSALS
from .services import PAID_FOR, Caller, Services
from .settings import imported

log = logging.getLogger("freemium")

INVALID = "Invalid subscription data"
MOVED = "Moved a short time ago"
LONGEST_NOTIFICATION = 256 * 1024
TOO_SOON = "rejected.subscription.transfer-too-soon"
TOO_SOON_SECONDS = 3600
# The status of a genuine notification of a kind that this library does not know: it is logged, and
# Apple need not repeat it.
NEWER = "unsupported.notification.body"


def update_subscription(
    backend: Services, request: Request, caller: Caller, context: object
) -> Answer:
    """Serve the request in which the app sends its strongest purchase, or states that it has
    none."""
    body = request.json()
    jws, confirm = body.get("signedTransactionData"), body.get("confirm")
    if jws is None or jws == "":
        change = Change(backend, f"none {caller.account}")
        ended = backend.stored(backend.ledger.deactivate_subscriptions(caller.account))
        change.made(ended.changed, accounts=[caller.account])
        return Answer(200, {"plan": backend.plan(caller)})
    if not isinstance(jws, str):
        raise BadBody("signedTransactionData")
    try:
        transaction = backend.verifier.verify_transaction(jws, backend.now)
    except REFUSALS as refusal:
        # All refusals have one text, so that a forger learns nothing.
        _warn(caller, refusal.status)
        return Answer.error(400, INVALID)
    if _is_anothers(backend, transaction, caller):
        _warn(caller, "rejected.account.token-mismatch")
        return Answer(403, {"error": INVALID, "canTransfer": False})
    if transaction.environment != PAID_FOR and caller.account not in backend.settings.testers:
        log.info("a purchase of %s, by no tester: %s", transaction.environment, caller.account)
        return Answer(200, {"plan": backend.plan(caller)})
    change = Change(backend, f"app {caller.account} {hashlib.sha256(jws.encode()).hexdigest()}")
    before = _owner(backend, transaction)
    applied = backend.stored(
        backend.ledger.update_subscriptions(
            transaction, caller.account, confirm_transfer=True if confirm is True else None)
    )
    change.made(applied.changed, accounts=[caller.account, before])
    if applied.ok:
        return Answer(200, {"plan": backend.plan(caller)})
    _warn(caller, applied.status)
    if applied.status == "rejected.product.unknown":
        return Answer.error(400, INVALID)
    if applied.status == TOO_SOON:
        # Not final: the app keeps the purchase and sends it again.
        later = {"Retry-After": str(TOO_SOON_SECONDS)}
        return Answer(429, {"error": MOVED, "canTransfer": False}, later)
    can_move = any(line.can_transfer for line in applied.subscriptions)
    return Answer(applied.http_status, {"error": INVALID, "canTransfer": can_move})


def _is_anothers(backend: Services, transaction: assay.Transaction, caller: Caller) -> bool:
    """Return whether a purchase names another account of the pool, and so belongs to that account
    only (STO-43). An unknown name does not count: it is of an account that was deleted, or merged
    and then closed."""
    named = (transaction.app_account_token or "").lower()
    return bool(named) and named != caller.account.lower() and backend.provider.can_sign_in(named)


def _owner(backend: Services, of: assay.Transaction) -> str | None:
    """Return the account that has this subscription now, for a message; None without `push`."""
    if backend.settings.push is None or not of.environment or not of.original_transaction_id:
        return None
    return backend.records.owner(of.environment, of.original_transaction_id)


def _warn(caller: Caller, status: str) -> None:
    log.warning("[WARN] JWS verification failed for user %s: %s", caller.account, status)


def notification(backend: Services, request: Request) -> Answer:
    """Serve App Store Server Notifications V2. The response is 200 only after everything is stored,
    because Apple repeats a notification after any other response."""
    try:
        signed = request.json(LONGEST_NOTIFICATION).text("signedPayload")
        note = backend.verifier.verify_notification(signed, backend.now)
    except BadBody:
        return Answer.error(400, "Invalid notification")
    except REFUSALS as refusal:
        log.warning("notification refused: %s", refusal.status)
        if refusal.status == NEWER:
            return Answer(200)
        return Answer.error(400, "Invalid notification")
    if note.notification_type == "CONSUMPTION_REQUEST":
        refunds.keep(backend, note)
    if note.transaction is not None or _restricts(backend, note):
        _apply(backend, note)
    _once(backend, note)
    return Answer(200)


def _restricts(backend: Services, note: assay.Notification) -> bool:
    """Return whether a parent withdraws the consent to a child's use of the app (CUS-20), and whose
    it is can be found: `ledger.customerKey` is set."""
    has_index = backend.verifier.configuration["ledger"]["customerKey"] is True
    return has_index and note.notification_type == "RESCIND_CONSENT"


def _apply(backend: Services, note: assay.Notification) -> None:
    """Apply a notification to ledger and plans (BCK-16, BCK-42): the newest signed state wins, in
    any order. No part stops another; refusals are final and are logged.
    """
    # With plans there is nothing to grant or to take back. The ledger contains only purchases that
    # support claimed by hand; the reversal of a refund of one is completed here.
    change = Change(backend, f"note {note.notification_uuid}")
    event = backend.stored(
        backend.ledger.apply_event(note, grant_mode="none", grant=lambda given: True))
    restricted = [each.account for each in event.restricted]
    if restricted:
        log.warning("consent is withdrawn: %d accounts are restricted", len(restricted))
    change.made(event.changed or bool(restricted), accounts=restricted,
                updates=event.subscriptions)
    refused = [f"{part.status} ({part.at} of {part.transaction_id})" for part in event.refused]
    for status in refused if event.ok else [event.status]:
        log.warning("notification %s: %s", note.notification_uuid, status)


def _once(backend: Services, note: assay.Notification) -> None:
    """Run side effects once, and only after the state is stored: mail, consumption information,
    credits."""
    log.info("notification %s %s", note.notification_type, note.notification_uuid)
    first = backend.stored(backend.ledger.record_event(f"NOTE#{note.notification_uuid}"))
    if first.ok and backend.settings.effects:
        try:
            imported(backend.settings.effects)(note)
        except Exception as fault:
            # At most once: Apple's repetition of the notification would not repeat the effects.
            log.error("effects of %s: %s", note.notification_uuid, type(fault).__name__)


