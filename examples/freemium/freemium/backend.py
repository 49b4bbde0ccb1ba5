"""The routes, and the checks before every one of them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import assay

from . import accounts, devices, metered, promotions, purchases, signup
from .events import Answer, BadBody, Refused, Request
from .families import REFUSALS, status_of
from .reconcile import reconcile
from .records import Unreachable
from .refunds import Answers
from .services import Caller, Services
from .sweep import Sweep

log = logging.getLogger("freemium")

UNAUTHORIZED = Answer.error(401, "Unauthorized")
INVALID = Answer.error(400, "Invalid request")
FAULT = Answer.error(500, "Try again later")


class Backend(Services):
    """The whole back end, which turns events into responses."""

    def answer(self, event: Mapping[str, Any], context: object = None) -> dict[str, Any]:
        """Return the response to one event. No exception leaves this method."""
        path, multi_value = "", False
        try:
            request = Request.of(event, self.settings.base_path)
            path, multi_value = request.path, request.multi_value
            return self._answered(request, context).response(multi_value)
        except Exception as fault:
            # The text of the error may quote a body, so only its type is logged.
            log.error("%s: %s", path, type(fault).__name__)
            return FAULT.response(multi_value)

    def due(self, context: object = None) -> dict[str, int]:
        """Ask Apple about the subscriptions that are due, and return the numbers of `Sweep.run`. It
        is no route: a schedule calls it."""
        return Sweep(self, context).run()

    def reconcile(self, context: object = None) -> dict[str, int]:
        """Compare the ledger with Apple, and return how many requests that took, and how many
        differences were found and closed. It is no route: a schedule calls it."""
        counts: Counter[str] = Counter(requests=0, found=0, closed=0)
        for each in reconcile(self, context):
            counts["requests"] += each.requests or 0
            counts["found"] += sum(one.count for one in each.found)
            counts["closed"] += sum(one.count for one in each.closed)
        log.info("reconcile: %s", dict(counts))
        return dict(counts)

    def refunds(self, context: object = None) -> dict[str, int]:
        """Answer what Apple asks about refunds, and return how many cases are settled, come again,
        or need a person. It is no route: a schedule calls it."""
        answers = Answers(self, context)
        for each in answers.run():
            log.info("refund: %s", each)
        return dict(answers.counts)

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
        """Return the caller before the body is read; never a default account (BCK-18)."""
        claims: Mapping[str, Any] = request.claims or {}
        if self.settings.caller == "token":
            claims = self._verified(request)
        account = claims.get("sub")
        known = claims.get("token_use") == "access" and claims.get("client_id") in self._clients
        if not known or not isinstance(account, str) or not account:
            raise Refused(UNAUTHORIZED)
        return Caller(account, claims.get("username"), claims.get("origin_jti"))

    def _verified(self, request: Request) -> Mapping[str, Any]:
        """Return the claims of the bearer token, verified by a key of its issuer, without a
        gateway."""
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


# Routes without a caller: their bodies prove themselves, or are counted.
OPEN: dict[str, Callable[[Backend, Request], Answer]] = {
    "/v1/signup": signup.sign_up,
    "/v1/signup/challenge": signup.challenge,
    "/v1/notifications": purchases.notification,
    "/v1/apple-id/notifications": accounts.notification,
}
# Routes that need a caller.
ROUTES: dict[str, Callable[[Backend, Request, Caller, object], Answer]] = {
    "/v1/update-subscription": purchases.update_subscription,
    "/v1/analyze": metered.analyze,
    "/v1/challenge": accounts.challenge,
    "/v1/session": devices.session,
    "/v1/account/link": accounts.link,
    "/v1/account/delete": accounts.delete,
    "/v1/promotion": promotions.promote,
}
# Routes that serve a deleted account too, so that a deletion can be repeated.
CLOSED_TOO = {"/v1/account/delete"}
