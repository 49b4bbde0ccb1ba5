"""From anonymous to Sign in with Apple, and deletion (BCK-17, 36 … 38, apple-id.md §5)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import assay

from . import devices
from .changes import Change
from .events import Answer, BadBody, Refused, Request
from .families import REFUSALS, raise_for_fault

if TYPE_CHECKING:
    from assay.ledger.results import ForgetAccountResult, MergeAccountsResult

    from .services import Caller, Services

log = logging.getLogger("freemium")
T = TypeVar("T")

APPLE = "https://appleid.apple.com"
NEWER_KEYS = ("rejected.token.unknown-key", "unavailable.token.keyset-too-old")
PREFIX = "a_"
PURPOSES = ("apple-id", "attest", "assert")
ROUNDS = 20
MEMBERS = ("identityToken", "authorizationCode", "nonce")
_CODE = re.compile("[!-~]{1,2048}")
_NONCE = re.compile("[A-Za-z0-9_-]{43}")


def challenge(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Serve POST /v1/challenge, which issues the challenge of the next proof."""
    purpose = request.json().text("purpose")
    if purpose not in PURPOSES:
        raise BadBody("purpose")
    return devices.challenge(backend, purpose, caller.account)


# ---- link


def link(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Merge the anonymous account into that of an Apple account. Both are proven in this one
    request: the anonymous one by its access token, Apple's by identity token and nonce.

    The response has the user name and the password of the merged account: its own sign-in,
    the same on every device. A repetition gets the same response.
    """
    if backend.settings.account_key is None:
        return Answer.error(404, "Not found")
    body = request.json()
    token, code, nonce = (body.text(name) for name in MEMBERS)
    if not _CODE.fullmatch(code):
        raise BadBody("authorizationCode")
    if not _NONCE.fullmatch(nonce):
        raise _unauthorized("a nonce that was never issued")
    apple = _identity(backend, caller, token, nonce)
    username, password = credentials(backend, apple.subject)
    into = _made(backend, username, password)
    change = Change(backend, f"link {caller.account} {into}")
    joined = into != caller.account and _join(backend, caller, into)
    change.made(joined, accounts=[into])
    _keep_token(backend, into, code)
    if into != caller.account and caller.username:
        backend.provider.disable(caller.username)
    return Answer(200, {"status": "linked", "username": username, "password": password})


def credentials(backend: Services, subject: str) -> tuple[str, str]:
    """Derive user name and password of an Apple account at the provider from its `sub` and keys
    that only the back end has, so that they are the same on each device of the customer. The key
    of names is for good, because the provider cannot rename a user; that of passwords can be
    replaced."""
    settings = backend.settings

    def derived(key: bytes, what: str) -> bytes:
        return hmac.new(key, f"{what} {APPLE} {subject}".encode(), hashlib.sha256).digest()

    name = derived(settings.account_name_key_bytes, "name").hex()
    secret = base64.b64encode(derived(settings.account_key_bytes, "password")).decode()
    return PREFIX + name[:32], f"Rp{secret[:32]}1!"


def _identity(backend: Services, caller: Caller, token: str, nonce: str) -> Any:
    """Verify the identity token of this sign-in, and consume its nonce (AID-4)."""
    try:
        found = _with_keys(
            backend,
            token,
            lambda keys: backend.verifier.verify_apple_identity_token(
                token, keys, nonce, backend.now),
        )
    except REFUSALS as refusal:
        raise _unauthorized(refusal.status)
    by = hashlib.sha256(token.encode()).hexdigest()
    used = backend.stored(
        backend.ledger.consume_challenge("apple-id", caller.account, challenge=nonce, used_by=by)
    )
    if not used.ok:
        raise _unauthorized(used.status)
    return found


def _unauthorized(status: str) -> Refused:
    log.warning("Sign in with Apple refused: %s", status)
    return Refused(Answer.error(401, "Unauthorized"))


def _with_keys(backend: Services, text: str, verify: Callable[[assay.Keyset], T]) -> T:
    """Verify with Apple's keys, refreshed once if they lack the token's key."""
    from assay.keysets import kid_of

    keys = backend.keys.keyset(APPLE)
    try:
        return verify(keys)
    except assay.AssayError as refusal:
        if refusal.status not in NEWER_KEYS:
            raise
        fresh = backend.keys.refresh(APPLE, keys, kid_of(text))
        if fresh is keys:
            raise
        return verify(fresh)


def _made(backend: Services, username: str, password: str) -> str:
    """Return the merged account at the provider, created if it does not exist."""
    made = backend.provider.create(username, password)
    account = made.account or (backend.provider.account(username) if made.exists else None)
    if account is not None and backend.records.is_closed(account):
        # An earlier deletion ended before it reached the provider.
        backend.provider.delete(username)
        made = backend.provider.create(username, password)
        account = made.account
    if account is None:
        log.error("provider: %s", made.outcome)
        raise Refused(backend.try_again())
    if made.exists and backend.settings.account_name_key is not None:
        # The password may be of a replaced key, which was valid until now and no longer is.
        backend.provider.set_password(username, password)
    return account


def _join(backend: Services, caller: Caller, into: str) -> bool:
    """Merge the caller's account; return whether that changed anything."""
    if (caller.username or "").startswith(PREFIX):
        # The caller is merged already, and two customers' accounts must never be merged.
        raise Refused(Answer(409, {"status": "conflict"}))
    return _all(backend, lambda: backend.ledger.merge_accounts(caller.account, into,
                                                               reason="sign in with apple"))


def _all(backend: Services, step: Callable[[], MergeAccountsResult | ForgetAccountResult]) -> bool:
    """Repeat an exchange until nothing is left: a large account needs more than one. Return whether
    one of them changed anything."""
    changed = False
    for _ in range(ROUNDS):
        found = backend.stored(step())
        changed = changed or found.changed
        if not found.ok:
            log.warning("accounts: %s", found.status)
            raise Refused(Answer(409, {"status": "conflict"}))
        if not found.has_more:
            return changed
    raise Refused(backend.try_again())


def _keep_token(backend: Services, account: str, code: str) -> None:
    """Exchange the code for the refresh token, which is revoked at deletion. A code works once; if
    it gives no token, the accounts are merged all the same."""
    if backend.records.token(account) is not None:
        return
    document = _asked(backend, {"operation": "exchange-authorization-code", "code": code})
    if document.ok:
        tokens = assay.AppleTokens(document.json["exchange"]["tokens"])
        backend.records.keep_token(account, tokens.refresh_token)
    else:
        log.warning("code of Sign in with Apple: %s", document.status)


def _asked(backend: Services, request: dict[str, Any]) -> assay.Document:
    with backend.verifier.exchange(request, now=backend.now) as exchange:
        return exchange.run(backend.send, max_wait=5.0, clock=backend.clock)


# ---- deletion


def delete(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Delete Apple's token, the account's data and the provider's user, in this order, so that a
    repetition finds what a crash left."""
    token = backend.records.token(caller.account)
    if token is not None:
        document = _asked(
            backend, {"operation": "revoke-apple-token", "token": token, "hint": "refresh_token"}
        )
        raise_for_fault(document)
        if not document.ok:
            log.warning("revocation: %s", document.status)
    _forget(backend, caller.account)
    # The name may be another account's already, of a customer who signed in with Apple again.
    if caller.username and backend.provider.account(caller.username) == caller.account:
        backend.provider.delete(caller.username)
    return Answer(200, {"status": "deleted"})


def _forget(backend: Services, account: str) -> None:
    """Forget an account, marking it as closed first: the access token is still valid, and without
    the mark it would start every quota anew. If the deletion fails, the mark is removed."""
    was_closed = backend.records.is_closed(account)
    backend.records.close(account, backend.now)
    try:
        _all(backend,
             lambda: backend.ledger.forget_account(account, reason="asked by the customer"))
    except BaseException:
        if not was_closed:
            backend.records.reopen(account)
        raise
    backend.records.drop_token(account)


# ---- what Apple reports about an account


def notification(backend: Services, request: Request) -> Answer:
    """Serve POST /v1/apple-id/notifications."""
    if backend.settings.account_key is None:
        return Answer.error(404, "Not found")
    invalid = Answer.error(400, "Invalid notification")
    try:
        payload = request.json().text("payload")
        event = _with_keys(
            backend,
            payload,
            lambda keys: backend.verifier.verify_sign_in_notification(payload, keys, backend.now),
        )
    except BadBody:
        return invalid
    except REFUSALS as refusal:
        log.warning("notification of Apple's refused: %s", refusal.status)
        return invalid
    _tell(backend, event.type, event.subject)
    seen = backend.stored(backend.ledger.record_event(f"APPLEID#{event.token_id}"))
    log.info("account at Apple: %s%s", event.type, "" if seen.ok else ", again")
    return Answer(200)


def _tell(backend: Services, kind: str, subject: str) -> None:
    """Apply the event. It may happen twice without harm, so it precedes the record of the event."""
    if kind not in ("consent-revoked", "account-deleted"):
        return
    username, _ = credentials(backend, subject)
    account = backend.provider.account(username)
    if account is None:
        return
    if kind == "account-deleted":
        # Apple was the account's only way in.
        _forget(backend, account)
        backend.provider.delete(username)
    else:
        backend.records.drop_token(account)
