"""Plans: what the app shows (BCK-1 … 5), and what Apple tells (BCK-16)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import assay

from .events import Answer, BadBody, Request
from .settings import imported

if TYPE_CHECKING:
    from assay.store.results import Result

    from .backend import Backend, Caller

log = logging.getLogger("freemium")

INVALID = "Invalid subscription data"
LONGEST_NOTIFICATION = 256 * 1024
# Genuine, and of a kind that this library does not know: logged, and not repeated.
NEWER = "unsupported.notification.body"


def update_subscription(
    backend: Backend, request: Request, caller: Caller, context: object
) -> Answer:
    """The app shows its strongest purchase, or says that it has none."""
    body = request.json()
    jws, confirm = body.get("signedTransactionData"), body.get("confirm")
    if jws is None or jws == "":
        cleared = backend.stored(backend.ledger.clear(caller.account))
        return Answer(200, {"plan": cleared.plan})
    if not isinstance(jws, str):
        raise BadBody("signedTransactionData")
    try:
        transaction = backend.verifier.verify_transaction(jws, backend.now)
    except (assay.MisuseError, assay.ConfigError, assay.InternalError):
        raise
    except assay.AssayError as refusal:
        # One text for all refusals: a forger learns nothing from it.
        _warn(caller, refusal.status)
        return Answer.error(400, INVALID)
    applied = backend.stored(
        backend.ledger.apply(transaction, caller.account, confirm=True if confirm is True else None)
    )
    if applied.ok:
        return Answer(200, {"plan": applied.plan})
    _warn(caller, applied.status)
    if applied.status == "rejected.identity.product":
        return Answer.error(400, INVALID)
    can_move = any(line.can_move for line in applied.lines)
    return Answer(applied.http_status, {"error": INVALID, "canMove": can_move})


def _warn(caller: Caller, status: str) -> None:
    log.warning("[WARN] JWS verification failed for user %s: %s", caller.account, status)


def notification(backend: Backend, request: Request) -> Answer:
    """App Store Server Notifications V2. 200 only after everything is stored: Apple
    repeats what it hears nothing else about."""
    try:
        signed = request.json(LONGEST_NOTIFICATION).text("signedPayload")
        note = backend.verifier.verify_notification(signed, backend.now)
    except BadBody:
        return Answer.error(400, "Invalid notification")
    except (assay.UnavailableError, assay.MisuseError, assay.ConfigError, assay.InternalError):
        raise
    except assay.AssayError as refusal:
        log.warning("notification refused: %s", refusal.status)
        if refusal.status == NEWER:
            return Answer(200)
        return Answer.error(400, "Invalid notification")
    if note.transaction is not None:
        _apply(backend, note)
    _once(backend, note)
    return Answer(200)


def _apply(backend: Backend, note: assay.Notification) -> None:
    """Changes of state. They only ever move forward, so a repetition does no harm."""
    ledger = backend.ledger
    results: list[Result] = [ledger.apply(note)]
    if note.transaction is not None and note.transaction.revocation_date is not None:
        results.append(ledger.revoke(note))
    elif note.notification_type == "REFUND_REVERSED":
        # To the account that had it. A claim without a grant would wait for ever, so it
        # is completed: the plan is what the line says.
        claimed = backend.stored(ledger.claim(note, grant=lambda grant: True))
        log.info("refund reversed: %s", claimed.status)
    for result in results:
        backend.stored(result)
        if not result.ok:
            log.warning("notification %s: %s", note.notification_uuid, result.status)


def _once(backend: Backend, note: assay.Notification) -> None:
    """Side effects: mail, consumption answers, credits. Once, and only after the state."""
    log.info("notification %s %s", note.notification_type, note.notification_uuid)
    first = backend.stored(backend.ledger.once(f"NOTE#{note.notification_uuid}"))
    if first.ok and backend.settings.effects:
        try:
            imported(backend.settings.effects)(note)
        except Exception as fault:
            # At most once: Apple's repetition would not bring it back.
            log.error("effects of %s: %s", note.notification_uuid, type(fault).__name__)


