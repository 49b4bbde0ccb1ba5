"""Calls that a plan allows so many of a day (BCK-6 … 11)."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import devices
from .events import Answer, BadBody, Request

if TYPE_CHECKING:
    from assay.store.results import TakeResult

    from .backend import Backend, Caller

log = logging.getLogger("freemium")

# Left of the function's time to give a unit back and to answer.
MARGIN_SECONDS = 3.0
DEFAULT_SECONDS = 25.0
_RATE_LIMIT = re.compile("ratelimit", re.IGNORECASE)


def analyze(backend: Backend, request: Request, caller: Caller, context: object) -> Answer:
    """The client's tier only selects. What it may have, the record says, at this moment."""
    body = request.json()
    tier = body.get("tier")
    if not isinstance(tier, str) or tier not in _tiers(backend):
        raise BadBody("tier")
    if backend.settings.attest_calls:
        devices.check_session(backend, request, caller, "metered")
    read = backend.ledger.read(caller.account)
    taken = backend.stored(backend.ledger.take(caller.account, tier, read.plan or ""))
    if taken.status == "rejected.plan.required":
        # With the store away nobody knows the plan: that is no "no".
        backend.stored(read)
        return _refused(403, backend.settings.text("plan"), taken, {})
    headers = _headers(backend, taken)
    if not taken.ok:
        return _refused(429, "Daily limit reached", taken, headers)
    try:
        result = backend.model(tier, body.get("input"), _seconds(context))
    except Exception as fault:
        log.error("model: %s", type(fault).__name__)
        if taken.ticket is not None:
            backend.ledger.refund(taken.ticket)
        return backend.try_again()
    return Answer(200, {"tier": tier, "plan": read.plan, "result": result}, headers)


def _tiers(backend: Backend) -> set[str]:
    limits: Mapping[str, Mapping[str, int]] = backend.verifier.effective_configuration["limits"]
    return {tier for plan in limits.values() for tier in plan}


def _refused(status: int, text: str, taken: TakeResult, headers: Mapping[str, str]) -> Answer:
    """With the tier that the client may repeat the call with, once (BCK-35)."""
    body = {"error": text, "fallback": taken.fallback, "resetMs": taken.reset_ms}
    return Answer(status, body, headers)


def _headers(backend: Backend, taken: TakeResult) -> dict[str, str]:
    """RateLimit headers are an Internet draft, and can be switched off; Retry-After stays."""
    shown = backend.settings.rate_limits
    return {
        name: value
        for name, value in taken.headers.items()
        if shown or not _RATE_LIMIT.match(name)
    }


def _seconds(context: Any) -> float:
    """How long the model may take."""
    left = getattr(context, "get_remaining_time_in_millis", None)
    return max(left() / 1000 - MARGIN_SECONDS, 0.0) if left else DEFAULT_SECONDS
