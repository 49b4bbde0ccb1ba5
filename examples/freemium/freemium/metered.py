"""Calls with a daily quota of the plan (BCK-6 … 11)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import devices
from .events import Answer, BadBody, Refused, Request
from .model import BadInput, Misconfigured, NoAnswer
from .services import EVERYBODY, Caller, Services, tiers

if TYPE_CHECKING:
    from assay.ledger import Ledger
    from assay.ledger.results import ConsumeQuotaResult

log = logging.getLogger("freemium")

# The part of the function's time that is kept for the release of a unit and the response.
MARGIN_SECONDS = 3.0
DEFAULT_SECONDS = 25.0
EXHAUSTED = "Daily limit reached"
# The most bytes that Lambda accepts from a function.
LONGEST_ANSWER = 6_000_000
_RATE_LIMIT = re.compile("ratelimit", re.IGNORECASE)


def analyze(backend: Services, request: Request, caller: Caller, context: object) -> Answer:
    """Serve a metered call. The client only selects a tier; the ledger decides whether the account
    may use it now."""
    body = request.json()
    tier = body.get("tier")
    if not isinstance(tier, str) or tier not in tiers(backend.verifier):
        raise BadBody("tier")
    if backend.settings.attest_calls:
        devices.check_session(backend, request, caller, "metered")
    read = backend.ledger.get_plan(caller.account)
    if read.restriction is not None:
        return Answer.error(403, backend.settings.text("restricted"))
    plan = backend.plan(caller, read)
    with Units(backend) as units:
        taken = units.take(backend.ledger, caller.account, tier, plan)
        if taken.status == "rejected.quota.not-in-plan":
            # If the database is unreachable, the plan is unknown, which is no refusal.
            backend.stored(read)
            return _refused(403, backend.settings.text("plan"), taken, {})
        headers = _headers(backend, taken)
        if not taken.ok:
            return _refused(429, EXHAUSTED, taken, headers)
        # The account is checked again after the unit was counted: a concurrent deletion writes its
        # mark before it deletes the counters, so no call is served without being counted.
        if backend.records.is_closed(caller.account):
            raise Refused(Answer.error(401, "Unauthorized"))
        if tier in backend.settings.ceiling:
            all_taken = units.take(backend.ceiling, EVERYBODY, tier, EVERYBODY)
            if not all_taken.ok:
                log.error("the ceiling of %s is reached", tier)
                return _refused(429, EXHAUSTED, all_taken, _retry(all_taken))
        try:
            result = backend.model(tier, body.get("input"), _seconds(context))
        except BadInput:
            raise BadBody("input") from None
        except Misconfigured as fault:
            log.error("model: %s", fault)
            return Answer.error(500, "Try again later")
        except NoAnswer as fault:
            log.error("model: %s", fault)
            return backend.try_again()
        except BaseException as fault:  # a model that exits must not end the function
            log.error("model: %s", type(fault).__name__)
            return backend.try_again()
        answer = {"tier": tier, "plan": plan, "result": result}
        if not _can_be_sent(answer):
            return Answer.error(500, "Try again later")
        units.delivered()
        return Answer(200, answer, headers)


class Units:
    """The units that one call has consumed, released unless something was delivered (BCK-11)."""

    def __init__(self, backend: Services) -> None:
        self._backend = backend
        self._taken: list[tuple[Ledger, str]] = []

    def take(self, ledger: Ledger, account: str, tier: str, plan: str) -> ConsumeQuotaResult:
        taken = self._backend.stored(ledger.consume_quota(account, tier, plan))
        if taken.ticket is not None:
            self._taken.append((ledger, taken.ticket))
        return taken

    def delivered(self) -> None:
        self._taken.clear()

    def __enter__(self) -> Units:
        return self

    def __exit__(self, *unused: object) -> None:
        for ledger, ticket in self._taken:
            ledger.release_quota(ticket)


def _can_be_sent(answer: Mapping[str, Any]) -> bool:
    """Return whether a response is JSON and short enough for Lambda, which carries it as a JSON
    string."""
    try:
        text = json.dumps(answer, allow_nan=False)
        json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
    except Exception as fault:
        log.error("the model's result is no JSON: %s", type(fault).__name__)
        return False
    is_short = len(json.dumps(text)) <= LONGEST_ANSWER
    if not is_short:
        log.error("the model's result is too long: %d characters", len(text))
    return is_short


def _refused(status: int, text: str, taken: ConsumeQuotaResult,
             headers: Mapping[str, str]) -> Answer:
    """Return a refusal with the tier with which the client may repeat the call once (BCK-35)."""
    body = {"error": text, "fallback": taken.fallback, "resetAtMs": taken.reset_at_ms}
    return Answer(status, body, headers)


def _headers(backend: Services, taken: ConsumeQuotaResult) -> dict[str, str]:
    """Return the headers. Those of the Internet draft RateLimit can be disabled; Retry-After
    stays."""
    shown = backend.settings.rate_limits
    return {
        name: value
        for name, value in taken.headers.items()
        if shown or not _RATE_LIMIT.match(name)
    }


def _retry(taken: ConsumeQuotaResult) -> dict[str, str]:
    """Return the headers without those that would reveal the use by all accounts."""
    return {name: value for name, value in taken.headers.items() if not _RATE_LIMIT.match(name)}


def _seconds(context: Any) -> float:
    """Return how many seconds the model may take."""
    left = getattr(context, "get_remaining_time_in_millis", None)
    return max(left() / 1000 - MARGIN_SECONDS, 0.0) if left else DEFAULT_SECONDS
