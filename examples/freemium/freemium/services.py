"""What the routes use: settings, ledger, verifier, provider and keys, and their common
operations."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

import assay
from assay.ledger import Ledger
from assay.ledger.results import GetPlanResult, Result

from .events import Answer
from .families import raise_for_fault
from .model import Model
from .providers import Provider, provider_of
from .push import Publish, publisher_of
from .records import Records, records_of
from .settings import HIGHEST_CEILING, Settings, imported

log = logging.getLogger("freemium")
R = TypeVar("R", bound=Result)
Send = Callable[[Mapping[str, Any]], Mapping[str, Any]]

AGAIN_SECONDS = 5
PAID_FOR = "Production"
# How long a request of the ledger to Apple may take.
REQUEST_MS = 10_000
# The time of a run that nobody bounds.
DEFAULT_SECONDS = 3600.0
# The plan of the ceilings, and the account for which they are counted.
EVERYBODY = "all-accounts"


@dataclass(frozen=True)
class Caller:
    """The sender of a request, from the claims of a verified access token.

    account   `sub`
    username  the name at the provider
    sign_in   `origin_jti`, the sign-in to which the token belongs
    """

    account: str
    username: str | None
    sign_in: str | None


class Left:
    """Returns how many seconds are left of a run: those of the function, or of an hour."""

    def __init__(self, context: Any) -> None:
        left = getattr(context, "get_remaining_time_in_millis", None)
        self._ends = time.monotonic() + (left() / 1000 if left else DEFAULT_SECONDS)

    def __call__(self) -> float:
        return self._ends - time.monotonic()


class Services:
    """What the routes use: one object for the process, safe for any number of threads.

    provider  None: that of the settings
    send      sends requests to Apple and to the token issuer; None: over the network
    clock     returns the time in seconds since 1970 UTC
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
        self.ledger = Ledger(
            settings.engine, settings.assay, max_wait=5.0, clock=clock,
            sender=lambda request: self.send_within(REQUEST_MS)(request))
        self.verifier = self.ledger.verifier
        self.model = model_of(settings.model, tiers(self.verifier))
        for tier in sorted(set(settings.ceiling) - tiers(self.verifier)):
            raise ValueError(f"ceiling.{tier} is no tier of assay.limits")
        if settings.promotions:
            promo_bit(self.verifier)
        self._provider = provider
        tokens = self.verifier.configuration.get("tokens") or ()
        mine = [each for each in tokens if each["profile"] == "cognito-access"]
        self._clients = {client for each in mine for client in each["clients"]}
        self._issuer = mine[0]["issuers"][0] if mine else None

    def check(self) -> None:
        """Check at the start that the table exists, in the version that this library writes
        (STM-8). If the database is unreachable, requests get 503 until it is back.

        Raises ConfigError if a table is missing, or is of another version.
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
        """The provider, made at the first use, because most routes do not need it."""
        return self._provider or provider_of(self.settings.provider)

    @cached_property
    def ceiling(self) -> Ledger:
        """A ledger that counts for all accounts together, in the ledger's own database."""
        store, verifier = self.ledger.executor, assay.Verifier(self._policy_of_ceiling())
        return Ledger(store, verifier, create=False, max_wait=5.0, clock=self.clock)

    def _policy_of_ceiling(self) -> dict[str, Any]:
        """Return a policy with one plan for all accounts together. A tier without a ceiling has a
        limit that is never reached, so that the library names it as the fallback."""
        mine = self.verifier.configuration["ledger"]
        names = ("engine", "table", "prefix", "placeholders", "shared", "dayOffsetMinutes")
        ceiling = self.settings.ceiling
        limits = {tier: ceiling.get(tier, HIGHEST_CEILING) for tier in tiers(self.verifier)}
        return {
            "apps": self.settings.assay["apps"],
            "plans": [EVERYBODY],
            "quotas": {EVERYBODY: limits},
            "ledger": {name: mine[name] for name in names if mine[name] is not None},
        }

    @cached_property
    def publish(self) -> Publish:
        """What publishes a message of `push`, which must be set."""
        return publisher_of(self.settings.push or "")

    @cached_property
    def records(self) -> Records:
        return records_of(self.ledger)

    @cached_property
    def keys(self) -> Any:
        """The key sets of Apple and of the token issuer, fetched when needed."""
        from assay.keysets import KeysetCache

        return KeysetCache(self.verifier, self.send, clock=self.clock)

    def send_within(self, most: int) -> Send:
        """Return what sends a request to Apple and waits no longer than these milliseconds."""
        from assay.http import Sender

        send = self.send or Sender()
        return lambda request: send({**request, "timeoutMs": min(request["timeoutMs"], most)})

    @property
    def now(self) -> int:
        return int(self.clock() * 1000)

    def stored(self, result: R) -> R:
        """Return a result of the ledger. If the database did not reply, raise, for a 503 without a
        grant."""
        raise_for_fault(result)
        return result

    def plan(self, caller: Caller, read: GetPlanResult | None = None) -> str:
        """Return the plan that an account has now. Purchases of Sandbox were not paid for: they
        count for the testers of the configuration only (FLW-6).

        read  the ledger's result for the account; None: it is read
        """
        found = read or self.stored(self.ledger.get_plan(caller.account))
        if not found.ok or caller.account in self.settings.testers:
            return found.plan or ""
        plans: Sequence[str] = self.verifier.configuration["plans"]
        paid = (line for line in found.subscriptions if line.environment == PAID_FOR)
        held = {line.plan for line in paid if line.is_active}
        return next((plan for plan in reversed(plans) if plan in held), plans[0])

    def try_again(self, document: assay.Document | None = None) -> Answer:
        """Return 503 with the retry time that the library names (BCK-20)."""
        found: Mapping[str, Any] = document.json if document else {}
        retry = (found.get("exchange") or {}).get("retry") or {}
        seconds = AGAIN_SECONDS
        if retry.get("notBeforeMs"):
            seconds = max(1, math.ceil((retry["notBeforeMs"] - self.now) / 1000))
        return Answer.error(503, "Try again later", {"Retry-After": str(seconds)})


def tiers(verifier: assay.Verifier) -> set[str]:
    """Return the tiers for which a plan has a limit."""
    limits: Mapping[str, Mapping[str, int]] = verifier.configuration["quotas"]
    return {tier for plan in limits.values() for tier in plan}


def model_of(found: str | Mapping[str, Any], tiers: Collection[str]) -> Model:
    """Return the model that the settings name: a function, or {"kind": "bedrock", …}, whose members
    are those of `bedrock.Bedrock`.

    tiers  of the limits: each needs a model. Raises ValueError or TypeError for other settings
    """
    if isinstance(found, str):
        function: Model = imported(found)
        return function
    if found.get("kind") != "bedrock":
        raise ValueError("model is package.module:function, or model.kind is bedrock")
    made: Model = import_module(".bedrock", __package__).bedrock_of(found, tiers)
    return made


def promo_bit(verifier: assay.Verifier) -> str:
    """Return "bit0" or "bit1", whichever is configured for offers. Raises ValueError."""
    bits: Mapping[str, Any] = (verifier.configuration.get("deviceCheck") or {}).get("bits") or {}
    for bit, found in bits.items():
        if found and found["name"].startswith("promo"):
            return bit
    raise ValueError("promotions need a bit of assay.deviceCheck.bits that is named promo…")
