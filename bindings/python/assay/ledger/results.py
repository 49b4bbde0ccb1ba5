"""The results of a `Ledger`.

A refusal is a result and no exception: check `ok` or `outcome`. Times are int milliseconds
since 1970 UTC. A member that an outcome does not have is None (docs/spec/ledger.md §5).
"""

from __future__ import annotations

from dataclasses import replace

from . import _plain_results
from ._parts import Part, Result, many, one, part, plain
from ._plain_results import *  # noqa: F403
from ._plain_results import (
    CompleteResult,
    RefusedPart,
    RestrictedAccount,
    Restriction,
    SubscriptionUpdate,
)
from .grants import Grant, TakeBack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    R = TypeVar("R", bound=Result)

# The families of a database that did not reply, or too late.
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


@part(frozen=True, eq=False, repr=False)
class Claim(Part):
    """One purchase, and the outcome of its claim.

    outcome        "new", "resume": grant it now, under `grant_id`; "already-granted",
                   "in-progress", "other-account", "revoked", "held", "unknown-product" …
    units          to grant: quantity × `products.<id>.units`; after a reversal, what was taken back
    repeat         whether this grant_id was handed out before
    reason         of "held": "lease" if it was handed out under a lease, so that no transaction
                   may grant it (STO-37)
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
        """Whether to grant it now, or whether the transaction of this claim granted it."""
        return self.outcome in ("new", "resume")

    def grant(self) -> Grant:
        """Return the grant to perform, if `needs_grant`."""
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


@part(frozen=True, eq=False, repr=False)
class ClaimResult(Result):
    """The result of `Ledger.claim`.

    client_result   for the client (`Claim.client_result`)
    claims          one for each purchase, in purchase order
    remaining       how many older purchases of the evidence were left for the next call
    restriction     the restriction of the account; None without one
    retry_after_ms  milliseconds from now after which to retry a deferred claim
    """

    client_result: str | None = plain()
    claims: tuple[Claim, ...] = many(Claim)
    remaining: int = plain(0)
    restriction: Restriction | None = one(Restriction)

    @property
    def claim(self) -> Claim | None:
        """The claim that `outcome` is about: the first one to grant, else that of the newest
        purchase."""
        ours = [each for each in self.claims if each.needs_grant]
        return ours[0] if ours else self.claims[-1] if self.claims else None

    @property
    def retry_after_ms(self) -> int | None:
        found: int | None = self.raw.get("retryAfterMs")
        return found if found is not None or not self.claim else self.claim.retry_after_ms

    def completed(self, results: Mapping[str, CompleteResult]) -> ClaimResult:
        """Return this result with those of the completions, by grant id."""
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


@part(frozen=True, eq=False, repr=False)
class ResumeResult(ClaimResult):
    """The result of `Ledger.resume`: the outcome of the claim."""


@part(frozen=True, eq=False, repr=False)
class ResumeExpiredResult(Result):
    """The result of `Ledger.resume_expired`.

    claims    claims that were taken over: grant and complete each
    held      claims that may or may not have been granted; an operator resolves each
    has_more  whether to call again at once
    """

    claims: tuple[Claim, ...] = many(Claim)
    held: tuple[Claim, ...] = many(Claim)
    has_more: bool = plain(False)

    def completed(self, results: Mapping[str, CompleteResult]) -> ResumeExpiredResult:
        """Return this result with those of the completions, by grant id."""
        return replace(self, claims=_completed(self.claims, results))


def _completed(claims: Sequence[Claim], results: Mapping[str, CompleteResult]) -> tuple[Claim, ...]:
    found = []
    for claim in claims:
        result = results.get(claim.grant_id or "")
        if result is not None:
            # It was granted, but that could not be stored; the next attempt finds it (STO-20).
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


@part(frozen=True, eq=False, repr=False)
class Take(Part):
    """Units of a refunded purchase that the host takes back, under `take_id` (STO-35).

    units                to take back
    percentage           of the price that was refunded, in thousandths of a percent; None: all of
                         it
    lease_expires_at_ms  None if no completion by `Ledger.complete_revocation` is expected
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
        """Return the take-back to perform."""
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


@part(frozen=True, eq=False, repr=False)
class PurchaseRevocation(Part):
    """A refunded purchase. Act on `take` only.

    outcome     "was-granted", "was-claimed", "unclaimed", "already", "stale" …
    percentage  of the price that was refunded, in thousandths of a percent
    take        what to take back; None if nothing
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


@part(frozen=True, eq=False, repr=False)
class RevokeResult(Result):
    """The result of `Ledger.revoke`."""

    revocations: tuple[PurchaseRevocation, ...] = many(PurchaseRevocation)

    @property
    def take(self) -> tuple[Take, ...]:
        """The take-backs to perform."""
        return tuple(each.take for each in self.revocations if each.take is not None)

    def completed(self, results: Iterable[Result]) -> RevokeResult:
        """Return this result with those of the completions of its take-backs."""
        return _stopped(self, results)


@part(frozen=True, eq=False, repr=False)
class ResumeExpiredRevocationsResult(Result):
    """The result of `Ledger.resume_expired_revocations`.

    takes     unconfirmed take-backs: take back and complete each
    has_more  whether to call again at once
    """

    takes: tuple[Take, ...] = many(Take)
    has_more: bool = plain(False)

    @property
    def take(self) -> tuple[Take, ...]:
        """The take-backs to perform, as `takes`."""
        return self.takes

    def completed(self, results: Iterable[Result]) -> ResumeExpiredRevocationsResult:
        """Return this result with those of the completions of its take-backs."""
        return _stopped(self, results)


def _stopped(found: R, results: Iterable[Result]) -> R:
    """Return the result, not ok if a completion failed: the unit is handed out again later."""
    away = next((each for each in results if each.status.startswith(_AWAY)), None)
    if away is None:
        return found
    return replace(found, document=away.document, ok=False, status=away.status)


@part(frozen=True, eq=False, repr=False)
class ApplyEventResult(Result):
    """The result of `Ledger.apply_event`.

    take           take-backs to perform
    give           claims of reversed refunds: grant those whose `client_result` is None
    subscriptions  the changes of subscriptions and unlocks
    refused        the parts that were finally refused: log them, and respond with 200
    restricted     the accounts at the download of a RESCIND_CONSENT, at most 50; delete what the
        law demands of them
    has_more       whether more accounts are at the download
    """

    take: tuple[Take, ...] = many(Take)
    give: tuple[Claim, ...] = many(Claim)
    subscriptions: tuple[SubscriptionUpdate, ...] = many(SubscriptionUpdate)
    refused: tuple[RefusedPart, ...] = many(RefusedPart)
    restricted: tuple[RestrictedAccount, ...] = many(RestrictedAccount)
    has_more: bool = plain(False)

    @property
    def http_status(self) -> int:
        """The HTTP status for Apple: 200, or 503, after which Apple sends the notification
        again."""
        return 200 if self.ok else 503

    def completed(
        self, results: Iterable[Result], granted: Mapping[str, CompleteResult]
    ) -> ApplyEventResult:
        """Return this result with those of the completions of its take-backs and grants."""
        found = replace(self, give=_completed(self.give, granted))
        return _stopped(found, [*results, *granted.values()])


@part(frozen=True, eq=False, repr=False)
class FinishSignupResult(Result):
    """The result of `Ledger.finish_signup`: `outcome` is the result that the host passed."""

    released: bool = plain(False)

    @property
    def http_status(self) -> int:
        return 409 if self.outcome == "exists" else super().http_status


@part(frozen=True, eq=False, repr=False)
class IssueChallengeResult(Result):
    """The result of `Ledger.issue_challenge`.

    challenge  for the client; only its digest is stored
    """

    challenge: str = plain("")
    expires_at_ms: int | None = plain()
    sha256: str | None = plain()
