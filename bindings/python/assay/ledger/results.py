"""What a `Ledger` answers.

A refusal is an answer and no exception: look at `ok`, or at `outcome`. Times are int
milliseconds since 1970 UTC. A member is None where an outcome has none
(docs/spec/ledger.md §5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import _plain_results
from ._parts import Part, Result, many, one, plain
from ._plain_results import *  # noqa: F403
from ._plain_results import CompleteResult, RefusedPart, SubscriptionUpdate
from .grants import Grant, TakeBack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    R = TypeVar("R", bound=Result)

# Of a store that gave no answer, or too late.
_AWAY = ("unavailable.", "pending.")

__all__ = [
    "ApplyEventResult",
    "Claim",
    "ClaimResult",
    "FinishSignupResult",
    "IssueChallengeResult",
    "Part",
    "PurchaseRevocation",
    "Result",
    "ResumeExpiredResult",
    "ResumeExpiredRevocationsResult",
    "ResumeResult",
    "RevokeResult",
    "Take",
]
__all__ += _plain_results.__all__


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Part):
    """One purchase, and what became of its claim.

    outcome        "new", "resume": yours to grant, under `grant_id`; "already-granted",
                   "in-progress", "other-account", "revoked", "held", "unknown-product" …
    units          to give: quantity × `products.<id>.units`; after a reversal, what was taken back
    repeat         its grant_id was handed out before
    reason         of "held": "lease": it was handed out under one, so no transaction may pay it
                   (STO-37)
    client_result  for the client: "granted", "already-granted", "refused-final", "refused-keep",
                   "deferred"; None: grant first
    """

    outcome: str = plain()
    client_result: str | None = plain()
    status: str | None = plain()
    product: str = plain()
    quantity: int = plain()
    transaction_id: str = plain()
    purchase_key: str | None = plain()
    account: str | None = plain()
    grant_id: str | None = plain()
    fencing_token: int | None = plain()
    units: int | None = plain()
    repeat: bool = plain(False)
    reason: str | None = plain()
    lease_expires_at_ms: int | None = plain()
    claimed_at_ms: int | None = plain()
    granted_at_ms: int | None = plain()
    revoked_at_ms: int | None = plain()
    retry_after_ms: int | None = plain()
    changed: bool = plain(False)

    @property
    def needs_grant(self) -> bool:
        """Whether it is to be granted now, or was, in the transaction of this claim."""
        return self.outcome in ("new", "resume")

    def grant(self) -> Grant:
        """What to grant, of one that is ours."""
        if not (self.grant_id and self.fencing_token and self.account and self.purchase_key):
            raise ValueError(f"there is nothing to grant: {self.outcome}")
        return Grant(
            self.grant_id,
            self.fencing_token,
            self.account,
            self.product,
            self.quantity,
            self.purchase_key,
            None,
            self.quantity if self.units is None else self.units,
            self.repeat,
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClaimResult(Result):
    """What `Ledger.claim` answers.

    client_result   for the client (`Claim.client_result`)
    claims          of each purchase one, in purchase order
    remaining       how many older purchases of the evidence were left for the next call
    retry_after_ms  when to try a deferred one again, from now
    """

    client_result: str | None = plain()
    claims: tuple[Claim, ...] = many(Claim)
    remaining: int = plain(0)

    @property
    def claim(self) -> Claim | None:
        """The one that `outcome` is about: the first of ours, else the newest purchase."""
        ours = [each for each in self.claims if each.needs_grant]
        return ours[0] if ours else self.claims[-1] if self.claims else None

    @property
    def retry_after_ms(self) -> int | None:
        found: int | None = self.raw.get("retryAfterMs")
        return found if found is not None or not self.claim else self.claim.retry_after_ms

    def completed(self, results: Mapping[str, CompleteResult]) -> ClaimResult:
        """With what completing each grant brought, by its id."""
        if not results:
            return self
        claims = _completed(self.claims, results)
        refused = next((each for each in results.values() if not each.ok), None)
        found = replace(self, claims=claims, changed=any(each.changed for each in claims))
        if refused is not None:
            found = replace(
                found,
                document=refused.document,
                ok=False,
                status=refused.status,
                outcome=refused.outcome,
            )
        return replace(found, client_result=found.claim.client_result if found.claim else None)


@dataclass(frozen=True, eq=False, repr=False)
class ResumeResult(ClaimResult):
    """What `Ledger.resume` answers: the outcome of the claim."""


@dataclass(frozen=True, eq=False, repr=False)
class ResumeExpiredResult(Result):
    """What `Ledger.resume_expired` answers.

    claims    taken over: grant and complete each
    held      nobody knows whether they were granted; a person decides
    has_more  whether to call again at once
    """

    claims: tuple[Claim, ...] = many(Claim)
    held: tuple[Claim, ...] = many(Claim)
    has_more: bool = plain(False)

    def completed(self, results: Mapping[str, CompleteResult]) -> ResumeExpiredResult:
        """With what completing each grant brought, by its id."""
        return replace(self, claims=_completed(self.claims, results))


def _completed(claims: Sequence[Claim], results: Mapping[str, CompleteResult]) -> tuple[Claim, ...]:
    found = []
    for claim in claims:
        result = results.get(claim.grant_id or "")
        if result is not None:
            # STO-20: it was granted, and nobody could write that down: the next attempt finds it.
            is_away = result.status.startswith(_AWAY)
            claim = replace(
                claim,
                client_result="deferred" if is_away else result.client_result,
                granted_at_ms=result.granted_at_ms,
                revoked_at_ms=result.revoked_at_ms,
                changed=result.changed,
                status=None if result.ok else result.status,
            )
        found.append(claim)
    return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class Take(Part):
    """Units of a refunded purchase that the host takes back, under `take_id` (STO-35).

    units                to take
    percentage           of the price that was refunded, in thousandths of a percent; None: all of
                         it
    lease_expires_at_ms  None: nobody waits for `Ledger.complete_revocation`
    """

    purchase_key: str = plain()
    take_id: str = plain()
    fencing_token: int = plain()
    account: str = plain()
    product: str = plain()
    quantity: int = plain()
    units: int = plain()
    percentage: int | None = plain()
    lease_expires_at_ms: int | None = plain()

    def take_back(self) -> TakeBack:
        """What to take back."""
        return TakeBack(
            self.take_id,
            self.fencing_token,
            self.account,
            self.product,
            self.quantity,
            self.units,
            self.percentage,
            self.purchase_key,
        )


@dataclass(frozen=True, eq=False, repr=False)
class PurchaseRevocation(Part):
    """A refunded purchase. Act on `take`, and on nothing else.

    outcome     "was-granted", "was-claimed", "unclaimed", "already", "stale" …
    percentage  of the price that was refunded, in thousandths of a percent
    take        what to take back; None: nothing
    """

    outcome: str = plain()
    product: str = plain()
    quantity: int = plain()
    transaction_id: str = plain()
    purchase_key: str | None = plain()
    account: str | None = plain()
    grant_id: str | None = plain()
    percentage: int | None = plain()
    revoked_at_ms: int | None = plain()
    take: Take | None = one(Take)
    changed: bool = plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class RevokeResult(Result):
    """What `Ledger.revoke` answers."""

    revocations: tuple[PurchaseRevocation, ...] = many(PurchaseRevocation)

    @property
    def take(self) -> tuple[Take, ...]:
        """What to take back."""
        return tuple(each.take for each in self.revocations if each.take is not None)

    def completed(self, results: Iterable[Result]) -> RevokeResult:
        """With what completing each take-back brought."""
        return _stopped(self, results)


@dataclass(frozen=True, eq=False, repr=False)
class ResumeExpiredRevocationsResult(Result):
    """What `Ledger.resume_expired_revocations` answers.

    takes     that nobody has confirmed: take back and complete each
    has_more  whether to call again at once
    """

    takes: tuple[Take, ...] = many(Take)
    has_more: bool = plain(False)

    @property
    def take(self) -> tuple[Take, ...]:
        """`takes`."""
        return self.takes

    def completed(self, results: Iterable[Result]) -> ResumeExpiredRevocationsResult:
        """With what completing each take-back brought."""
        return _stopped(self, results)


def _stopped(found: R, results: Iterable[Result]) -> R:
    """Not ok where a completion did not come through: it is handed out again, later."""
    away = next((each for each in results if each.status.startswith(_AWAY)), None)
    if away is None:
        return found
    return replace(found, document=away.document, ok=False, status=away.status)


@dataclass(frozen=True, eq=False, repr=False)
class ApplyEventResult(Result):
    """What `Ledger.apply_event` answers.

    take           what to take back
    give           grants of reversed refunds: those whose `client_result` is None are yours to
                   grant
    subscriptions  what became of subscriptions and unlocks
    refused        the parts that were refused for good: log them, and answer 200
    """

    take: tuple[Take, ...] = many(Take)
    give: tuple[Claim, ...] = many(Claim)
    subscriptions: tuple[SubscriptionUpdate, ...] = many(SubscriptionUpdate)
    refused: tuple[RefusedPart, ...] = many(RefusedPart)

    @property
    def http_status(self) -> int:
        """What Apple is answered: 200, or 503, and then it sends the notification again."""
        return 200 if self.ok else 503

    def completed(
        self, results: Iterable[Result], granted: Mapping[str, CompleteResult]
    ) -> ApplyEventResult:
        """With what completing each take-back and each grant brought."""
        found = replace(self, give=_completed(self.give, granted))
        return _stopped(found, [*results, *granted.values()])


@dataclass(frozen=True, eq=False, repr=False)
class FinishSignupResult(Result):
    """What `Ledger.finish_signup` answers: `outcome` is the result that was handed in."""

    refunded: bool = plain(False)

    @property
    def http_status(self) -> int:
        return 409 if self.outcome == "exists" else super().http_status


@dataclass(frozen=True, eq=False, repr=False)
class IssueChallengeResult(Result):
    """What `Ledger.issue_challenge` answers.

    challenge  for the client; only its digest is stored
    """

    challenge: str = plain("")
    expires_at_ms: int | None = plain()
    sha256: str | None = plain()
