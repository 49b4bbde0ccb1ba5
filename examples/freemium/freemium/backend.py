"""The routes, and what every request goes through on its way to one."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import assay
from assay.store import Ledger
from assay.store.results import ReadResult, Result

from . import accounts, devices, metered, purchases, signup
from .events import Answer, BadBody, Refused, Request
from .families import REFUSALS, raise_for_fault, status_of
from .providers import Provider, provider_of
from .records import Records, Unreachable, records_of
from .settings import Settings, imported

log = logging.getLogger("freemium")
R = TypeVar("R", bound=Result)
Send = Callable[[Mapping[str, Any]], Mapping[str, Any]]

UNAUTHORIZED = Answer.error(401, "Unauthorized")
INVALID = Answer.error(400, "Invalid request")
FAULT = Answer.error(500, "Try again later")
AGAIN_SECONDS = 5


@dataclass(frozen=True)
class Caller:
    """Who sends a request: claims of a verified access token.

    account   `sub`
    username  at the provider
    sign_in   `origin_jti`: the sign-in that the token is of
    """

    account: str
    username: str | None
    sign_in: str | None


class Backend:
    """All of it; one for the process, for as many threads as you like.

    provider  None: of the settings
    send      carries requests to Apple and to the token issuer; None: over the network
    clock     the time in seconds since 1970 UTC
    """

    def __init__(
        self,
        settings: Settings,
        *,
        provider: Provider | None = None,
        send: Send | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings, self.send, self.clock = settings, send, clock
        self.ledger = Ledger(settings.engine, settings.assay, patience=5.0, clock=clock)
        self.verifier = self.ledger.verifier
        self.model = imported(settings.model)
        for tier in sorted(set(settings.ceiling) - metered.tiers(self.verifier)):
            raise ValueError(f"ceiling.{tier} is no tier of assay.limits")
        self._provider = provider
        tokens = self.verifier.effective_configuration.get("tokens") or ()
        mine = [each for each in tokens if each["profile"] == "cognito-access"]
        self._clients = {client for each in mine for client in each["clients"]}
        self._issuer = mine[0]["issuers"][0] if mine else None

    def check(self) -> None:
        """At the start (STM-8): whether the table is there, and of the version that this library
        writes. A store that is away stops nothing: requests hear 503 until it is back.

        Raises ConfigError where a table is missing, or is of another version.
        """
        found = self.ledger.check_schema()
        try:
            raise_for_fault(found)
        except assay.UnavailableError as away:
            log.error("the store at the start: %s", away.status)
        for warning in found.warnings:
            log.warning("the store at the start: %s", warning)

    # ---- what the routes use

    @cached_property
    def provider(self) -> Provider:
        """Made at the first use: most routes never ask it."""
        return self._provider or provider_of(self.settings.provider)

    @cached_property
    def ceiling(self) -> Ledger:
        """Counts for all accounts together, in the ledger's own store."""
        policy = metered.policy_of_ceiling(self)
        store, verifier = self.ledger.store, assay.Verifier(policy)
        return Ledger(store, verifier, create=False, patience=5.0, clock=self.clock)

    @cached_property
    def records(self) -> Records:
        return records_of(self.ledger)

    @cached_property
    def keys(self) -> Any:
        """The key sets of Apple and of the token issuer, fetched when they are needed."""
        from assay.keysets import KeySets

        return KeySets(self.verifier, self.send, clock=self.clock)

    @property
    def now(self) -> int:
        return int(self.clock() * 1000)

    def stored(self, result: R) -> R:
        """What the store answered, unless it gave no answer: then 503, nothing is granted."""
        raise_for_fault(result)
        return result

    def plan(self, caller: Caller, read: ReadResult | None = None) -> str:
        """The plan that an account has now. Purchases of Sandbox were not paid for: they
        count for the testers of the configuration alone (FLW-6).

        read  what the store said of the account; None: it is asked
        """
        found = read or self.stored(self.ledger.read(caller.account))
        if not found.ok or caller.account in self.settings.testers:
            return found.plan or ""
        plans: Sequence[str] = self.verifier.effective_configuration["plans"]
        paid = (line for line in found.lines if line.environment == purchases.PAID_FOR)
        held = {line.plan for line in paid if line.counts}
        return next((plan for plan in reversed(plans) if plan in held), plans[0])

    def try_again(self, document: assay.Document | None = None) -> Answer:
        """503, with the time that the library names (BCK-20)."""
        found: Mapping[str, Any] = document.json if document else {}
        retry = (found.get("exchange") or {}).get("retry") or {}
        seconds = AGAIN_SECONDS
        if retry.get("notBeforeMs"):
            seconds = max(1, math.ceil((retry["notBeforeMs"] - self.now) / 1000))
        return Answer.error(503, "Try again later", {"Retry-After": str(seconds)})

    # ---- the way of a request

    def answer(self, event: Mapping[str, Any], context: object = None) -> dict[str, Any]:
        """One event; its response. Nothing that goes wrong gets out as an exception."""
        path, multi_value = "", False
        try:
            request = Request.of(event, self.settings.base_path)
            path, multi_value = request.path, request.multi_value
            return self._answered(request, context).response(multi_value)
        except Exception as fault:
            # Its text may quote a body: the type alone is logged.
            log.error("%s: %s", path, type(fault).__name__)
            return FAULT.response(multi_value)

    def _answered(self, request: Request, context: object) -> Answer:
        try:
            return self._routed(request, context)
        except Refused as refused:
            return refused.answer
        except BadBody as bad:
            log.info("%s: bad body (%s)", request.path, bad)
            return INVALID
        except Unreachable as away:
            log.error("%s: %s", request.path, type(away.__cause__).__name__)
            return self.try_again()
        except assay.AssayError as error:
            log.error("%s: %s", request.path, error.status)
            status = status_of(error)
            return {400: INVALID, 500: FAULT}.get(status) or self.try_again(error.document)

    def _routed(self, request: Request, context: object) -> Answer:
        if request.path in OPEN:
            take: Callable[..., Answer] = OPEN[request.path]
            _posted(request)
            return take(self, request)
        if request.path not in ROUTES:
            return Answer.error(404, "Not found")
        _posted(request)
        caller = self._caller(request)
        if request.path not in CLOSED_TOO and self.records.is_closed(caller.account):
            raise Refused(UNAUTHORIZED)
        return ROUTES[request.path](self, request, caller, context)

    def _caller(self, request: Request) -> Caller:
        """BCK-18: before the body is looked at. Never an exception, never a default account."""
        claims: Mapping[str, Any] = request.claims or {}
        if self.settings.caller == "token":
            claims = self._verified(request)
        account = claims.get("sub")
        known = claims.get("token_use") == "access" and claims.get("client_id") in self._clients
        if not known or not isinstance(account, str) or not account:
            raise Refused(UNAUTHORIZED)
        return Caller(account, claims.get("username"), claims.get("origin_jti"))

    def _verified(self, request: Request) -> Mapping[str, Any]:
        """Without a gateway: the claims of the bearer token, by a key of its issuer."""
        scheme, _, text = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or self._issuer is None:
            raise Refused(UNAUTHORIZED)
        try:
            token = self.keys.verify_token(text.strip(), self._issuer, self.now)
        except REFUSALS as refusal:
            log.warning("token refused: %s", refusal.status)
            raise Refused(UNAUTHORIZED)
        claims: Mapping[str, Any] = token.payload
        return claims


def _posted(request: Request) -> None:
    if request.method != "POST":
        raise Refused(Answer.error(405, "Method not allowed", {"Allow": "POST"}))


# Everybody's: their bodies prove themselves, or are counted.
OPEN: dict[str, Callable[[Backend, Request], Answer]] = {
    "/v1/signup": signup.sign_up,
    "/v1/signup/challenge": signup.challenge,
    "/v1/notifications": purchases.notification,
    "/v1/apple-id/notifications": accounts.notification,
}
# Those of a caller.
ROUTES: dict[str, Callable[[Backend, Request, Caller, object], Answer]] = {
    "/v1/update-subscription": purchases.update_subscription,
    "/v1/analyze": metered.analyze,
    "/v1/challenge": accounts.challenge,
    "/v1/session": devices.session,
    "/v1/account/link": accounts.link,
    "/v1/account/delete": accounts.delete,
}
# Also for an account that was deleted: a deletion is repeated the same.
CLOSED_TOO = {"/v1/account/delete"}
