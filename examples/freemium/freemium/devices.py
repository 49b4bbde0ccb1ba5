"""App Attest and session tokens: options, off by default (BCK-29, docs/spec/session.md)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import assay

from .events import Answer, BadBody, Body, Refused, Request
from .families import REFUSALS

if TYPE_CHECKING:
    from .services import Caller, Services

log = logging.getLogger("freemium")

REQUIRED = Answer.error(401, "Attestation required")


def challenge(backend: Services, purpose: str, subject: str) -> Answer:
    """Issue 32 random bytes, for one use by one account."""
    made = backend.stored(backend.ledger.issue_challenge(purpose, subject))
    return Answer(200, {"challenge": made.challenge, "expiresAtMs": made.expires_at_ms})


def attested(backend: Services, body: Body, username: str) -> assay.Attestation | None:
    """Return the key of a device that requests an account, and consume its challenge; None for a
    device that cannot attest, which continues under the rules for risk."""
    claim = body.get("unsupported")
    if "attestation" not in body and claim is not None:
        _unsupported(backend, claim)
        return None
    found = _verified_key(backend, body)
    _consume(backend, "attest", username, found)
    return found


def session(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Issue a session token to a device that proves its key: by an attestation the first time, by
    an assertion later. Challenge and counter are stored before it is issued."""
    if not backend.settings.attest_calls:
        return Answer.error(404, "Not found")
    body = request.json()
    proof: assay.Attestation | assay.Assertion
    if "attestation" in body:
        proof = _verified_key(backend, body)
        _consume(backend, "attest", caller.account, proof)
        _must(backend.stored(backend.ledger.register_device_key(proof, caller.account)).ok, "bind")
    else:
        proof = _asserted(backend, body, caller)
        _consume(backend, "assert", caller.account, proof)
        _must(backend.stored(backend.ledger.advance_device_key_counter(proof, caller.account)).ok,
              "advance")
    issued = backend.verifier.sessions.issue_session(
        proof, caller.account, binding=caller.sign_in, now=backend.now
    )
    return Answer(200, {"session": issued.text, "expiresAtMs": issued.expires_at_ms})


def check_session(
    backend: Services, request: Request, caller: Caller, purpose: Literal["free", "metered"]
) -> assay.Session:
    """Return the session of a request. Refuse one without a session token of this account and this
    sign-in."""
    text = request.headers.get("x-session", "")
    try:
        return backend.verifier.sessions.verify_session(
            text, purpose, caller.account, caller.sign_in, backend.now)
    except REFUSALS as refusal:
        log.warning("session of %s: %s", caller.account, refusal.status)
        raise Refused(REQUIRED)


@contextmanager
def _proving() -> Iterator[None]:
    """Refuse whatever is no proof of a device, with the same text in all cases."""
    try:
        yield
    except REFUSALS as refusal:
        log.warning("device refused: %s", refusal.status)
        raise Refused(REQUIRED)
    except BadBody:
        raise Refused(REQUIRED)


def _verified_key(backend: Services, body: Body) -> assay.Attestation:
    with _proving():
        return backend.verifier.verify_attestation(
            body.octets("attestation"),
            key_id=body.text("keyId"),
            client_data=body.text("clientData"),
            now=backend.now,
        )


def _asserted(backend: Services, body: Body, caller: Caller) -> assay.Assertion:
    with _proving():
        key_id = backend.verifier.normalize_key_id(body.text("keyId"))
        kept = backend.stored(backend.ledger.get_device_key(key_id, caller.account)).key
        if kept is None:
            raise Refused(REQUIRED)
        return backend.verifier.verify_assertion(
            body.octets("assertion"),
            public_key=kept.public_key,
            counter=kept.counter,
            client_data=body.text("clientData"),
            now=backend.now,
        )


def _consume(
    backend: Services, purpose: str, subject: str, proof: assay.Attestation | assay.Assertion
) -> None:
    used = backend.stored(backend.ledger.consume_challenge(purpose, subject, evidence=proof))
    _must(used.ok, used.status)


def _must(ok: bool, what: str) -> None:
    if not ok:
        log.warning("device refused: %s", what)
        raise Refused(REQUIRED)


def _unsupported(backend: Services, code: object) -> None:
    """Assess a device that cannot attest. What the client claims never lowers the risk."""
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    try:
        risk = backend.verifier.assess_risk(
            {"request": "free", "attestation": "unsupported", "errorCode": known}, backend.now
        )
    except REFUSALS:
        raise Refused(REQUIRED)
    _must(risk.verdict in ("allow", "limited"), f"unsupported: {risk.verdict}")
