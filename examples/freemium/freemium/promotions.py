"""What is granted once a device (device-check.md §2.3): query, reserve, grant, update.

Each step may be the last one of a killed function, and the app repeats the request with a fresh
device token until it has a 200. The reservation is an event of the ledger (STO-65), made after
Apple has said that the device is new and before anything is granted: whoever has one skips the
query, since the bit that it finds may be its own. Granting and setting the bit are the same
however often they happen. So nothing is granted twice, and nobody is left with a bit and no grant.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Mapping
from typing import Any

import assay

from . import devices
from .events import Answer, BadBody, Refused, Request
from .families import raise_for_fault
from .services import Caller, Services, promo_bit
from .settings import imported

log = logging.getLogger("freemium")

# One text for every reason, so that nobody learns whether bit, account or key refused (DVC-12).
REFUSED = Answer.error(409, "Not available")
LONGEST_TOKEN = 12 * 1024
USED = "rejected.promo.device-used"
# What refuses the app's token; any other refusal of Apple's is about our request.
TOKEN = ("rejected.device-check.token", "malformed.device-check.token",
         "too-large.device-check.token")
# Of one question with its repetitions, and of one request: two questions end well before the
# function does.
QUESTION_MS = 8_000
REQUEST_MS = 4_000
WAIT_SECONDS = 1.0


def promote(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Serve POST /v1/promotion: {"offer": …, "grant": …}, the same at each repetition."""
    wanted = backend.settings.promotions
    if not wanted:
        return Answer.error(404, "Not found")
    body = request.json()
    offer, token = body.text("offer"), body.text("deviceToken")
    if offer not in wanted or len(token) > LONGEST_TOKEN:
        raise BadBody("offer or deviceToken")
    key_id = None
    if backend.settings.attest_calls:
        key_id = devices.check_session(backend, request, caller, "free").key_id
    reservation = f"PROMO#{offer}#{_digest(caller.account)}"
    if not backend.records.has_event(reservation):
        if _is_new(backend, token):
            _reserve(backend, offer, caller.account, {"token": token, "key": key_id})
            backend.stored(backend.ledger.record_event(reservation))
        elif not backend.records.has_event(reservation):
            # Otherwise the same account asked twice at once, and the other request set the bit.
            raise Refused(REFUSED)
    granted = _granted(backend, offer, caller.account)
    _set_bit(backend, token)
    return Answer(200, {"offer": offer, "grant": granted})


def _is_new(backend: Services, token: str) -> bool:
    """Return whether a device has had no offer. What Apple does not answer clearly raises."""
    found = _ask(backend, {"operation": "query-device-bits", "deviceToken": token, "offer": True})
    return found != USED


def _reserve(
    backend: Services, offer: str, account: str, devices_of: Mapping[str, str | None]
) -> None:
    """Reserve what identifies the device for this account, because of two accounts at once on one
    device Apple's bits stop neither. The same account passes again."""
    attempt = _digest(f"{offer} {account}")[:32]
    for kind, value in devices_of.items():
        if value is None:
            continue
        event = f"PROMO#{offer}#{kind}#{_digest(value)}"
        if not backend.stored(backend.ledger.record_event(event, attempt_id=attempt)).ok:
            log.warning("promotion %s: the %s is another account's", offer, kind)
            raise Refused(REFUSED)


def _granted(backend: Services, offer: str, account: str) -> Any:
    """Grant, by an id that is the same at each repetition; return JSON for the app."""
    found = backend.settings.promotions[offer]
    grant_id = _digest(f"grant {offer} {account}")
    grant = imported(found.get("grant", "freemium.promotions:signed"))
    try:
        return grant(backend, account, offer, grant_id)
    except assay.AssayError:
        raise
    except Exception as fault:
        log.error("grant of %s: %s", offer, type(fault).__name__)
        raise Refused(backend.try_again()) from None


def signed(backend: Services, account: str, offer: str, grant_id: str) -> dict[str, Any]:
    """Grant a promotional offer of the App Store, signed for the account's newest purchase if it
    has one. The nonce comes from the id, so that all repetitions are one offer for the Store."""
    found = backend.settings.promotions[offer]
    owned = backend.stored(backend.ledger.get_plan(account)).subscriptions
    newest = max(owned, key=lambda each: each.purchased_at_ms, default=None)
    made = backend.verifier.signer.sign_promotional_offer(
        found["product"],
        found["offer"],
        newest.transaction_id if newest else None,
        nonce=uuid.UUID(grant_id[:32], version=4),
        now=backend.now,
    )
    return {"jws": made.jws, "nonce": made.nonce}


def _set_bit(backend: Services, token: str) -> None:
    """Set the bit, or raise for a repetition: the grant is made, and the app comes again for it."""
    bit = promo_bit(backend.verifier)
    _ask(backend, {"operation": "update-device-bits", "deviceToken": token, bit: True})


def _ask(backend: Services, request: dict[str, Any]) -> str:
    """Ask Apple about the device; return "ok", or the status of a device that is used. Raises
    Refused, or the error of an answer that is none."""
    request["transactionId"] = str(uuid.uuid4())
    request["deadlineMs"] = backend.now + QUESTION_MS
    with backend.verifier.exchange(request, now=backend.now) as exchange:
        document = exchange.run(
            backend.send_within(REQUEST_MS), max_wait=WAIT_SECONDS, clock=backend.clock)
    raise_for_fault(document)
    if document.ok:
        return document.status
    log.warning("promotion: %s", document.status)
    if document.status == USED:
        return USED
    if document.status in TOKEN:
        raise BadBody("deviceToken")
    raise Refused(Answer.error(500, "Try again later"))


def _digest(text: str) -> str:
    """Return a digest, because events of the ledger are not searched for accounts (STO-65)."""
    return hashlib.sha256(text.encode()).hexdigest()
