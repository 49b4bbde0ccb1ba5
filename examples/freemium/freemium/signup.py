"""Anonymous accounts (BCK-12 … 15, 22, 29). This is the only way to create one: the pool's own is
closed."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from . import devices
from .events import Answer, BadBody, Request
from .providers import Made

if TYPE_CHECKING:
    import assay

    from .services import Services

log = logging.getLogger("freemium")

REQUIRED = "username and password required"
INVALID = "Invalid credentials"
LONGEST_PASSWORD = 100
# A password: `Rp`, 20 random characters of base64, `1!`.
_PASSWORD = re.compile(r"Rp([A-Za-z0-9+/]{20})1!")
FEWEST_DIFFERENT = 5


def sign_up(backend: Services, request: Request) -> Answer:
    """Sign up an account: check the forms first, then the device, the counters and the provider."""
    try:
        body = request.json()
        username, password = body.text("username"), body.text("password")
    except BadBody:
        return Answer.error(400, REQUIRED)
    if not is_name(backend, username) or not _is_random(password):
        return Answer.error(400, INVALID)
    device = None
    if backend.settings.attest_signup:
        device = devices.attested(backend, body, username)
    admitted = backend.stored(
        backend.ledger.begin_signup(request.address, username, len(password.encode()))
    )
    if admitted.status.startswith("malformed."):
        return Answer.error(400, INVALID)
    if not admitted.ok or admitted.ticket is None:
        return Answer.error(
            429, "Too many signup attempts. Try again tomorrow.", dict(admitted.headers)
        )
    made = backend.provider.create(username, password)
    settled = backend.ledger.finish_signup(admitted.ticket, made.outcome)
    if made.outcome == "exists":
        return Answer(409, {"status": "already_exists"})
    if made.outcome != "created" or made.account is None:
        log.error("provider: %s, %s", made.outcome, settled.status)
        return backend.try_again(settled.document)
    if device is not None:
        _bind(backend, device, made)
    return Answer(200, {"status": "created"})


def challenge(backend: Services, request: Request) -> Answer:
    """Issue the challenge that a device signs before it has an account, if the option is set."""
    if not backend.settings.attest_signup:
        return Answer.error(404, "Not found")
    username = request.json().text("username")
    if not is_name(backend, username):
        return Answer.error(400, INVALID)
    return devices.challenge(backend, "attest", username)


def is_name(backend: Services, username: str) -> bool:
    """Return whether a user name has the form that clients make."""
    shape = backend.verifier.configuration["ledger"]["signup"]["username"]
    prefix, digits = shape["prefix"], username[len(shape["prefix"]) :]
    return (
        username.startswith(prefix)
        and re.fullmatch(f"[0-9a-f]{{{shape['digits']}}}", digits) is not None
        and len(set(digits)) >= FEWEST_DIFFERENT
    )


def _is_random(password: str) -> bool:
    """Return whether a password has the form that clients make. The library never receives a
    password (STO-59), so this check is here."""
    found = _PASSWORD.fullmatch(password)
    return (
        found is not None
        and len(password.encode()) <= LONGEST_PASSWORD
        and len(set(found.group(1))) >= FEWEST_DIFFERENT
    )


def _bind(backend: Services, device: assay.Attestation, made: Made) -> None:
    bound = backend.ledger.register_device_key(device, made.account or "")
    if not bound.ok:
        log.error("key of a new account: %s", bound.status)
