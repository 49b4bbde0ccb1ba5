"""What a `Ledger` answers.

A refusal is an answer and no exception: look at `ok`, or at `outcome`. Times are int
milliseconds since 1970 UTC. A member is None where an outcome has none
(docs/spec/stores.md §5).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from .carry import Grant, TakeBack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from ..documents import Document

    R = TypeVar("R", bound="Result")
    P = TypeVar("P", bound="Part")

# Of a store that gave no answer, or too late.
_AWAY = ("unavailable.", "pending.")


class Part:
    """A dataclass that is read from the JSON of a document.

    It compares, hashes and shows all of them: methods that `dataclass` would make for each
    of thirty classes are a third of the time of this import.
    """

    @classmethod
    def read(cls: type[P], found: Mapping[str, Any], **known: Any) -> P:
        for each in fields(cls):  # type: ignore[arg-type]
            if each.name in known:
                continue
            value = found.get(_camel(each.name))
            kind = each.metadata.get("kind")
            if kind and value is not None:
                value = kind(value)
            known[each.name] = each.metadata["none"] if value is None else value
        return cls(**known)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__name__}({members})"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _plain(none: Any = None, kind: Any = None) -> Any:
    return field(metadata={"none": none, "kind": kind})


def _one(part: type[Part]) -> Any:
    return _plain(None, part.read)


def _many(part: type[Part]) -> Any:
    return _plain((), lambda found: tuple(part.read(each) for each in found))


@dataclass(frozen=True, eq=False, repr=False)
class Result(Part):
    """What every answer has.

    ok        go ahead; False: refused, or the store gave no answer
    status    "ok", "rejected.ledger.other-account", "unavailable.store.contention" …
    outcome   what became of it, in the words of docs/spec/stores.md; None: it is unknown
    changed   whether this call changed what the account has; repetitions do not
    document  the whole answer
    """

    document: Document = field(repr=False)
    ok: bool
    status: str
    outcome: str | None = _plain()
    changed: bool = _plain(False)

    @classmethod
    def of(cls: type[R], document: Document, **known: Any) -> R:
        """From the last document of a conversation."""
        found = document.json.get("exchange") or {}
        return cls.read(found, document=document, ok=document.ok, status=document.status, **known)

    @property
    def raw(self) -> Mapping[str, Any]:
        """The members of the answer, read-only JSON."""
        found: Mapping[str, Any] = self.document.json.get("exchange") or {}
        return found

    @property
    def http_status(self) -> int:
        """What a back end would answer its own client: 200, 202, 409, 429, 503 …"""
        from ..errors import refusal

        if self.status.startswith("pending."):
            return 503  # the wait was longer than the patience
        return 200 if self.ok else refusal(self.document).http_status

    def raise_for_refusal(self) -> None:
        """Raise the AssayError of its family unless it is ok."""
        self.document.raise_for_refusal()


# ---- purchases


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Part):
    """One purchase, and what became of its claim.

    outcome  "new", "resume": yours to grant, under `grant_id`; "already-granted",
             "in-progress", "other-account", "revoked", "held", "unknown-product", "upgraded",
             "family-shared", "unclaimed", "refused"
    units    to give: quantity × `products.<id>.units`; after a reversal, what was taken back
    repeat   its grant_id was handed out before
    why      of "held": "lease": it was handed out under one, so no transaction may pay it (STO-37)
    answer   for the client: "granted", "already-granted", "refused-final", "refused-keep",
             "deferred"; None: grant first
    """

    outcome: str = _plain()
    answer: str | None = _plain()
    status: str | None = _plain()
    product: str = _plain()
    quantity: int = _plain()
    transaction_id: str = _plain()
    purchase_key: str | None = _plain()
    account: str | None = _plain()
    grant_id: str | None = _plain()
    fence: int | None = _plain()
    units: int | None = _plain()
    repeat: bool = _plain(False)
    why: str | None = _plain()
    lease_until_ms: int | None = _plain()
    claimed_ms: int | None = _plain()
    granted_ms: int | None = _plain()
    revoked_ms: int | None = _plain()
    retry_after_ms: int | None = _plain()
    changed: bool = _plain(False)

    @property
    def is_ours(self) -> bool:
        """Whether it is to be granted now, or was, in the transaction of this claim."""
        return self.outcome in ("new", "resume")

    def grant(self) -> Grant:
        """What to grant, of one that is ours."""
        if not (self.grant_id and self.fence and self.account and self.purchase_key):
            raise ValueError(f"there is nothing to grant: {self.outcome}")
        return Grant(
            self.grant_id,
            self.fence,
            self.account,
            self.product,
            self.quantity,
            self.purchase_key,
            None,
            self.quantity if self.units is None else self.units,
            self.repeat,
        )


@dataclass(frozen=True, eq=False, repr=False)
class CompleteResult(Result):
    """What `Ledger.complete` answers: `outcome` "granted", "revoked", "superseded"."""

    answer: str | None = _plain()
    granted_ms: int | None = _plain()
    revoked_ms: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class ClaimResult(Result):
    """What `Ledger.claim` and `Ledger.resume` answer: `outcome` of the first claim that is ours,
    else of the newest purchase; "none": there is no purchase.

    answer          for the client (`Claim.answer`)
    claims          of each purchase one, in purchase order
    more            how many older purchases of the evidence were left for the next call
    retry_after_ms  when to try a deferred one again, from now
    """

    answer: str | None = _plain()
    claims: tuple[Claim, ...] = _many(Claim)
    more: int = _plain(0)

    @property
    def claim(self) -> Claim | None:
        """The one that `outcome` is about: the first of ours, else the newest purchase."""
        ours = [each for each in self.claims if each.is_ours]
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
        return replace(found, answer=found.claim.answer if found.claim else None)


@dataclass(frozen=True, eq=False, repr=False)
class DueResult(Result):
    """What `Ledger.due` answers.

    claims  taken over: grant and complete each
    held    nobody knows whether they were granted; a person decides
    more    whether to call again at once
    """

    claims: tuple[Claim, ...] = _many(Claim)
    held: tuple[Claim, ...] = _many(Claim)
    more: bool = _plain(False)

    def completed(self, results: Mapping[str, CompleteResult]) -> DueResult:
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
                answer="deferred" if is_away else result.answer,
                granted_ms=result.granted_ms,
                revoked_ms=result.revoked_ms,
                changed=result.changed,
                status=None if result.ok else result.status,
            )
        found.append(claim)
    return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class Take(Part):
    """Units of a refunded purchase that the host takes back, under `take_id` (STO-35).

    units           to take
    percentage      of the price that was refunded, in thousandths of a percent; None: all of it
    lease_until_ms  None: nobody waits for `Ledger.complete_revoke`
    """

    purchase_key: str = _plain()
    take_id: str = _plain()
    fence: int = _plain()
    account: str = _plain()
    product: str = _plain()
    quantity: int = _plain()
    units: int = _plain()
    percentage: int | None = _plain()
    lease_until_ms: int | None = _plain()

    def take_back(self) -> TakeBack:
        """What to take back."""
        return TakeBack(
            self.take_id,
            self.fence,
            self.account,
            self.product,
            self.quantity,
            self.units,
            self.percentage,
            self.purchase_key,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Revoked(Part):
    """A refunded purchase. Act on `take`, and on nothing else.

    outcome     what it was: "wasGranted", "wasClaimed", "unclaimed"; or "already", "stale",
                "not-revoked", "refused", "in-progress" (another is taken back first)
    percentage  of the price that was refunded, in thousandths of a percent
    take        what to take back; None: nothing
    """

    outcome: str = _plain()
    product: str = _plain()
    quantity: int = _plain()
    transaction_id: str = _plain()
    purchase_key: str | None = _plain()
    account: str | None = _plain()
    grant_id: str | None = _plain()
    percentage: int | None = _plain()
    revoked_ms: int | None = _plain()
    take: Take | None = _one(Take)
    changed: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class CompleteRevokeResult(Result):
    """What `Ledger.complete_revoke` answers: `outcome` "taken", "already", "superseded".

    debt  units that could not be taken: they are noted for a person
    """

    revoked_ms: int | None = _plain()
    debt: int = _plain(0)


@dataclass(frozen=True, eq=False, repr=False)
class RevokeResult(Result):
    """What `Ledger.revoke` answers."""

    revocations: tuple[Revoked, ...] = _many(Revoked)

    @property
    def take(self) -> tuple[Take, ...]:
        """What to take back."""
        return tuple(each.take for each in self.revocations if each.take is not None)

    def completed(self, results: Iterable[Result]) -> RevokeResult:
        """With what completing each take-back brought."""
        return _stopped(self, results)


@dataclass(frozen=True, eq=False, repr=False)
class DueTakesResult(Result):
    """What `Ledger.due_takes` answers.

    takes  that nobody has confirmed: take back and complete each
    more   whether to call again at once
    """

    takes: tuple[Take, ...] = _many(Take)
    more: bool = _plain(False)

    @property
    def take(self) -> tuple[Take, ...]:
        """`takes`."""
        return self.takes

    def completed(self, results: Iterable[Result]) -> DueTakesResult:
        """With what completing each take-back brought."""
        return _stopped(self, results)


def _stopped(found: R, results: Iterable[Result]) -> R:
    """Not ok where a completion did not come through: it is handed out again, later."""
    away = next((each for each in results if each.status.startswith(_AWAY)), None)
    if away is None:
        return found
    return replace(found, document=away.document, ok=False, status=away.status)


@dataclass(frozen=True, eq=False, repr=False)
class Entry(Part):
    """A row of the ledger, as support may see it.

    outcome      "already-delivered", "resume" (claimed, not delivered), "refunded",
                 "used-by-other", "unused"
    is_accounts  whether it belongs to the account that was asked about
    operator     owner, note, evidence and the like; None unless asked for
    """

    outcome: str = _plain()
    state: str = _plain()
    product: str = _plain()
    quantity: int = _plain()
    environment: str = _plain()
    transaction_id: str = _plain()
    purchase_key: str = _plain()
    purchased_ms: int = _plain()
    claimed_ms: int | None = _plain()
    granted_ms: int | None = _plain()
    revoked_ms: int | None = _plain()
    is_accounts: bool | None = _plain()
    grant_id: str | None = _plain()
    operator: Mapping[str, Any] | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class LookupResult(Result):
    """What `Ledger.lookup` answers: `outcome` of the first row, or "unused": genuine, and
    nobody's; "unproven": no row and no evidence.

    eventual  the newest row may be missing for a second (DynamoDB)
    """

    rows: tuple[Entry, ...] = _many(Entry)
    eventual: bool = _plain(False)


# ---- subscriptions


@dataclass(frozen=True, eq=False, repr=False)
class Line(Part):
    """A subscription or unlock: one original transaction id.

    counts  whether it entitles now
    """

    product_id: str = _plain()
    plan: str | None = _plain()
    environment: str = _plain()
    original_transaction_id: str = _plain()
    transaction_id: str = _plain()
    purchased_ms: int | None = _plain()
    expires_ms: int | None = _plain()
    grace_ms: int | None = _plain()
    revoked_ms: int | None = _plain()
    cleared_ms: int | None = _plain()
    next_check_ms: int | None = _plain()
    as_of: int = _plain()
    counts: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class Applied(Part):
    """One transaction of the evidence, and what became of its line.

    outcome   "applied", "stale" (newer evidence stands), "moved", "other-account",
              "move-too-soon", "left-out", "unknown-product", "refused"
    can_move  the owner of another account may be changed with `confirm=True`
    """

    outcome: str = _plain()
    status: str | None = _plain()
    transaction_id: str = _plain()
    can_move: bool = _plain(False)
    line: Line | None = _one(Line)
    changed: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class ApplyResult(Result):
    """What `Ledger.apply` answers: the plan that the account has now.

    plan   None: no account was given
    until  when it ends; None: the default plan, or for ever
    """

    plan: str | None = _plain()
    until: int | None = _plain()
    lines: tuple[Applied, ...] = _many(Applied)


@dataclass(frozen=True, eq=False, repr=False)
class RefusedPart(Part):
    """What an event did not do; the rest of it was done.

    at      "ledger" or "line"
    status  "rejected.identity.product" …
    """

    at: str = _plain()
    transaction_id: str | None = _plain()
    status: str = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class EventResult(Result):
    """What `Ledger.apply_event` answers.

    take     what to take back
    give     grants of reversed refunds: those whose `answer` is None are yours to grant
    lines    what became of subscriptions and unlocks
    refused  the parts that were refused for good: log them, and answer 200
    """

    take: tuple[Take, ...] = _many(Take)
    give: tuple[Claim, ...] = _many(Claim)
    lines: tuple[Applied, ...] = _many(Applied)
    refused: tuple[RefusedPart, ...] = _many(RefusedPart)

    @property
    def http_status(self) -> int:
        """What Apple is answered: 200, or 503, and then it sends the notification again."""
        return 200 if self.ok else 503

    def completed(
        self, results: Iterable[Result], granted: Mapping[str, CompleteResult]
    ) -> EventResult:
        """With what completing each take-back and each grant brought."""
        found = replace(self, give=_completed(self.give, granted))
        return _stopped(found, [*results, *granted.values()])


@dataclass(frozen=True, eq=False, repr=False)
class ReadResult(Result):
    """What `Ledger.read` answers. Without an answer of the store `plan` is the default one,
    or the last one known where `stores.failOpen` allows it (`from_last`)."""

    plan: str | None = _plain()
    until: int | None = _plain()
    lines: tuple[Line, ...] = _many(Line)
    at_ms: int | None = _plain()
    from_last: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class ClearResult(Result):
    """What `Ledger.clear` answers: the plan that is left.

    cleared  how many lines
    """

    plan: str | None = _plain()
    until: int | None = _plain()
    lines: tuple[Line, ...] = _many(Line)
    cleared: int = _plain(0)


@dataclass(frozen=True, eq=False, repr=False)
class DueLine(Part):
    """A line about which newer evidence should be asked for."""

    product_id: str = _plain()
    environment: str = _plain()
    original_transaction_id: str = _plain()
    transaction_id: str = _plain()
    account: str | None = _plain()
    expires_ms: int | None = _plain()
    grace_ms: int | None = _plain()
    as_of: int = _plain()
    evidence: str = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class DueLinesResult(Result):
    """What `Ledger.due_lines` answers.

    more  whether to call again at once
    """

    lines: tuple[DueLine, ...] = _many(DueLine)
    more: bool = _plain(False)


# ---- counters


@dataclass(frozen=True, eq=False, repr=False)
class TakeResult(Result):
    """What `Ledger.take` answers: `outcome` "taken", "exhausted" or "not-in-plan".

    ticket    for `Ledger.refund`
    fallback  the meter to try instead
    headers   ready for the answer to the client
    """

    used: int | None = _plain()
    limit: int | None = _plain()
    left: int | None = _plain()
    reset_ms: int | None = _plain()
    ticket: str | None = _plain()
    fallback: str | None = _plain()
    headers: Mapping[str, str] = _plain({})
    unmetered: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class RefundResult(Result):
    """What `Ledger.refund` answers: `outcome` "refunded", or "none": there was nothing."""

    used: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class PaceResult(Result):
    """What `Ledger.pace` answers: `outcome` "taken", or "paced": there was no room in time.

    unpaced  the store gave no answer; the request may go out all the same
    """

    used: int | None = _plain()
    limit: int | None = _plain()
    unpaced: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class AdmitResult(Result):
    """What `Ledger.admit` answers: `outcome` "admitted", "exhausted" or "malformed".

    ticket  for `Ledger.settle`
    """

    ticket: str | None = _plain()
    left: int | None = _plain()
    reset_ms: int | None = _plain()
    headers: Mapping[str, str] = _plain({})


@dataclass(frozen=True, eq=False, repr=False)
class SettleResult(Result):
    """What `Ledger.settle` answers: `outcome` is the result that was handed in."""

    refunded: bool = _plain(False)

    @property
    def http_status(self) -> int:
        return 409 if self.outcome == "exists" else super().http_status


# ---- challenges and keys


@dataclass(frozen=True, eq=False, repr=False)
class ChallengeResult(Result):
    """What `Ledger.challenge` answers.

    challenge  for the client; only its digest is stored
    """

    challenge: str = _plain("")
    expires_ms: int | None = _plain()
    sha256: str | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class BindResult(Result):
    """What `Ledger.bind` answers: `outcome` "bound", "already", "foreign", "retired".

    key_id  standard base64, as the app has it
    """

    key_id: str | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class AdvanceResult(Result):
    """What `Ledger.advance` answers: `outcome` "advanced", "replayed", "foreign", "retired" or
    "unknown"."""

    key_id: str | None = _plain()
    counter: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class ReceiptResult(Result):
    """What `Ledger.keep_receipt` answers: `outcome` "kept", "older", "retired" or "unknown".

    next_ms  when to ask Apple for a newer one
    """

    next_ms: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class StoredKey(Part):
    """An attest key: what the verification of an assertion needs."""

    key_id: str = _plain()
    public_key: str = _plain()
    counter: int = _plain()
    app_id: str | None = _plain()
    environment: str | None = _plain()
    created_ms: int | None = _plain()
    used_ms: int | None = _plain()
    receipt: str | None = _plain()
    next_ms: int | None = _plain()
    risk: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class KeyResult(Result):
    """What `Ledger.key` answers: `outcome` "found", "foreign", "retired" or "unknown"."""

    key: StoredKey | None = _one(StoredKey)


# ---- the rest


@dataclass(frozen=True, eq=False, repr=False)
class OnceResult(Result):
    """What `Ledger.once` answers: `outcome` "first": do it; "seen": it was done."""

    at_ms: int | None = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class Moved(Part):
    """How many rows."""

    lines: int = _plain(0)
    purchases: int = _plain(0)
    keys: int = _plain(0)
    meters: int = _plain(0)


@dataclass(frozen=True, eq=False, repr=False)
class LinkResult(Result):
    """What `Ledger.link` answers: `outcome` "linked", "already"; "other-account": one of the two
    was joined elsewhere before.

    more  whether to call again with the same accounts
    """

    moved: Moved | None = _one(Moved)
    more: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class ForgetResult(Result):
    """What `Ledger.forget` answers: `outcome` "forgotten" or "already"."""

    forgotten: Moved | None = _one(Moved)
    more: bool = _plain(False)


@dataclass(frozen=True, eq=False, repr=False)
class KeptText(Part):
    """A text of evidence, to be verified again before anything is believed of it."""

    sha256: str = _plain()
    text: str = _plain()
    at_ms: int = _plain()


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceResult(Result):
    """What `Ledger.evidence` answers.

    missing  the digests of texts that are not kept
    """

    evidence: tuple[KeptText, ...] = _many(KeptText)
    missing: tuple[str, ...] = _plain((), tuple)


@dataclass(frozen=True, eq=False, repr=False)
class SchemaResult(Result):
    """What `Ledger.check_schema` answers: every column is there, and this is a primary.

    version   of the tables; None on Redis, which has none
    lineage   of this store alone: another one later is another database under its name
    warnings  what is not refused, but should be looked at: "not-persistent", "unknown" (Redis),
              "no-lineage" (DynamoDB: `create_schema` gives a table one that a template made)
    """

    tables: tuple[str, ...] = _plain((), tuple)
    primary: bool = _plain(False)
    version: int | None = _plain()
    lineage: str | None = _plain()
    warnings: tuple[str, ...] = _plain((), tuple)


@dataclass(frozen=True, eq=False, repr=False)
class CreateResult(Result):
    """What `Ledger.create_schema` answers: `outcome` "created", "exists" or "migrated".

    version  of the tables; None on Redis, which has none
    """

    version: int | None = _plain()
    lineage: str | None = _plain()
