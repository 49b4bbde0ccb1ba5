"""A ledger in one line: purchases granted once, subscriptions, quotas, challenges, accounts.

    from assay.store import Ledger

    ledger = Ledger("sqlite:////var/lib/shop.db", config)      # one for the process

    transaction = ledger.verifier.verify_transaction(jws)
    claim = ledger.claim(transaction, account, grant=pay_out)
    return {"answer": claim.answer}, claim.http_status
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress

from ..errors import UnavailableError
from . import results as _r
from ._opened import CREATION, Opened, attempt_of, new_lineage, saw, taking_mode
from ._schema import calls_of, define
from .carry import Grant, TakeBack, carry_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from .._calls import Evidence, Time
    from ..verifier import Verifier
    from ._opened import Configuration
    from .carry import Store

    R = TypeVar("R", bound=_r.Result)
    Granting = Callable[[Grant], object]
    Taking = Callable[[TakeBack], object]
    Several = Evidence | Iterable[Evidence]

__all__ = ["Ledger"]


class Ledger(Opened):
    """Every conversation with a store (docs/spec/stores.md §5), carried out.

    where          the store's URL: sqlite:////var/lib/shop.db, postgresql://…, mysql://…,
                   dynamodb://TABLE?region=…&endpoint=…, redis://…; or a store that you made,
                   `Postgres(connect, size=20)`
    configuration  of the verifier; `stores.dialect` and `.table` are added from the URL. Or a
                   Verifier that has the block `stores`, which serves other stores as well
    create         call `create_schema` at the first use: for tests and first steps. A server
                   that did so would begin anew where its data is missing
    patience       how many seconds a conversation may wait before one step
    clock          the time in seconds since 1970 UTC

    For as many threads as you like, and in children of a fork. A refusal is an answer: look
    at `ok` or `outcome`. Wrong use raises MisuseError, TypeError or ValueError, and a
    configuration that lacks something ConfigError.

    An `attempt` stands for one request of a client. Made here; give it to repeat a request
    after your own process lost the answer. `now` is the time of one call, as in the calls of
    a Verifier; None: by the clock.
    """

    verifier: Verifier
    """Verifies the evidence."""

    def __init__(
        self,
        where: str | Store,
        configuration: Verifier | Configuration,
        *,
        create: bool = False,
        patience: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(where, configuration, create, patience, clock, is_async=False)

    def close(self) -> None:
        """Close the connections that are not in use; the ledger can still be used."""
        self.store.close()

    # ---- purchases

    def claim(
        self,
        evidence: Several,
        account: str | None = None,
        *,
        grant: Granting | None = None,
        mode: str = "lease",
        attempt: str | None = None,
        account_token: str | None = None,
        lease_ms: int | None = None,
        only: Sequence[str] | None = None,
        limit: int | None = None,
        note: str | None = None,
        on_unclear: str | None = None,
        resolve: str | None = None,
        allow_repeat: bool | None = None,
        now: Time | None = None,
    ) -> _r.ClaimResult:
        """Claim the purchases of verified evidence, so that each is granted once.

        account        None for an event of Apple's: the row's own is taken
        grant          takes a `Grant` and writes what the purchase gives, under its
                       `grant_id`. What it raises passes through; the claim is taken over by
                       `due` or by the next attempt when its lease has ended
        mode           "lease": claim, grant, complete. "transaction": the grant is in this
                       very database, and is committed with the claim
        account_token  the appAccountToken that the evidence must have
        lease_ms       how long the grant may take
        only, limit    transaction ids; how many purchases at most
        note           of an operator, for a grant by hand
        on_unclear     "hold": a lease that has ended is left to a person
        resolve        "again": that person found that it was not granted
        allow_repeat   True: in mode "transaction" take over also what was handed out under a
                       lease, because the grant is keyed by grant_id; else it is "held" (STO-37)

        Without a grant: grant each of `claims` that `is_ours`, and `complete` it.
        """
        if mode == "transaction" and grant is None:
            raise TypeError('mode "transaction" needs a grant')
        found = self._ask(
            _r.ClaimResult,
            "claim",
            evidence,
            grant=grant if mode == "transaction" else None,
            account=account,
            attempt=attempt_of(attempt),
            mode=mode,
            accountToken=account_token,
            leaseMs=lease_ms,
            only=only,
            limit=limit,
            note=note,
            onUnclear=on_unclear,
            resolve=resolve,
            allowRepeat=allow_repeat,
            now=now,
        )
        if grant is None or mode == "transaction":
            return found
        return found.completed(self._pay(found.claims, grant, note, now))

    def complete(
        self,
        purchase_key: str,
        account: str,
        grant_id: str,
        *,
        fence: int | None = None,
        note: str | None = None,
        now: Time | None = None,
    ) -> _r.CompleteResult:
        """Say that a claim was granted. Twice does no harm."""
        return self._ask(
            _r.CompleteResult,
            "complete",
            purchaseKey=purchase_key,
            account=account,
            grantId=grant_id,
            fence=fence,
            note=note,
            now=now,
        )

    def resume(
        self,
        purchase_key: str,
        account: str,
        *,
        grant: Granting | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        note: str | None = None,
        on_unclear: str | None = None,
        resolve: str | None = None,
        now: Time | None = None,
    ) -> _r.ClaimResult:
        """Take one known claim over whose lease has ended; without evidence, for support."""
        found = self._ask(
            _r.ClaimResult,
            "claim.resume",
            purchaseKey=purchase_key,
            account=account,
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            note=note,
            onUnclear=on_unclear,
            resolve=resolve,
            now=now,
        )
        if grant is None:
            return found
        return found.completed(self._pay(found.claims, grant, note, now))

    def due(
        self,
        *,
        grant: Granting | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        older_ms: int | None = None,
        on_unclear: str | None = None,
        now: Time | None = None,
    ) -> _r.DueResult:
        """Take over up to 25 claims that nobody completed. Run it every minute: without it,
        a purchase whose client never comes back is paid for and not delivered."""
        found = self._ask(
            _r.DueResult,
            "claim.due",
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            olderMs=older_ms,
            onUnclear=on_unclear,
            now=now,
        )
        if grant is None:
            return found
        return found.completed(self._pay(found.claims, grant, None, now))

    def revoke(
        self,
        evidence: Several,
        *,
        take_back: Taking | None = None,
        mode: str | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        now: Time | None = None,
    ) -> _r.RevokeResult:
        """Note refunds, so that no older evidence pays out again. Of all deliveries of one
        refund one is told to take back.

        take_back  takes a `TakeBack` and takes the units back, under its `take_id`; returns how
                   many there were, None for all of them, or False for another time
        mode       "lease": note, take back, complete: what nobody completed comes again, by
                   `due_takes`. "transaction": the take-back is in this very database, and is
                   committed with the refund. "none": each is told once; what becomes of it is
                   yours. None: "lease" with a take_back, "none" without
        """
        mode, attempt = taking_mode(mode, take_back, attempt)
        found = self._ask(
            _r.RevokeResult,
            "revoke",
            evidence,
            take_back=take_back if mode == "transaction" else None,
            mode=mode,
            attempt=attempt,
            leaseMs=lease_ms,
            now=now,
        )
        if take_back is None or mode == "transaction":
            return found
        return found.completed(self._take(found.take, take_back, mode, now))

    def complete_revoke(
        self,
        purchase_key: str,
        take_id: str,
        fence: int,
        *,
        taken: int | None = None,
        now: Time | None = None,
    ) -> _r.CompleteRevokeResult:
        """Say that a refunded purchase was taken back. Twice does no harm.

        taken  how many units there were; None: all of them
        """
        return self._ask(
            _r.CompleteRevokeResult,
            "revoke.complete",
            purchaseKey=purchase_key,
            takeId=take_id,
            fence=fence,
            taken=taken,
            now=now,
        )

    def due_takes(
        self,
        *,
        take_back: Taking | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        older_ms: int | None = None,
        now: Time | None = None,
    ) -> _r.DueTakesResult:
        """Take up to 25 take-backs over that nobody completed. Run it every minute, beside
        `due`."""
        found = self._ask(
            _r.DueTakesResult,
            "revoke.due",
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            olderMs=older_ms,
            now=now,
        )
        if take_back is None:
            return found
        return found.completed(self._take(found.take, take_back, "lease", now))

    def apply_event(
        self,
        evidence: Several,
        *,
        grant: Granting | None = None,
        take_back: Taking | None = None,
        mode: str | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        now: Time | None = None,
    ) -> _r.EventResult:
        """What a notification of Apple's changes, in ledger and subscriptions: refunds are taken
        back, reversed ones are given again to the owner of the purchase. In whatever order and
        however often they come, the newest signed state stands (STO-33, STO-34).

        grant      as of `claim`, for reversed refunds
        take_back  as of `revoke`
        mode       as of `revoke`. Under "none" and "lease" grants are made under a lease

        Answer Apple with its `http_status`.
        """
        mode, attempt = taking_mode(mode, take_back, attempt)
        if mode == "transaction" and (grant is None or take_back is None):
            raise TypeError('mode "transaction" needs a grant and a take_back')
        in_transaction = mode == "transaction"
        found = self._ask(
            _r.EventResult,
            "event.apply",
            evidence,
            grant=grant if in_transaction else None,
            take_back=take_back if in_transaction else None,
            mode=mode,
            attempt=attempt,
            leaseMs=lease_ms,
            now=now,
        )
        if in_transaction:
            return found
        taken = self._take(found.take, take_back, mode, now) if take_back else []
        given = self._pay(found.give, grant, None, now) if grant else {}
        return found.completed(taken, given)

    def lookup(
        self,
        account: str | None = None,
        *,
        evidence: Several = (),
        environment: str | None = None,
        transaction_id: str | None = None,
        operator: bool | None = None,
        now: Time | None = None,
    ) -> _r.LookupResult:
        """What the ledger knows of an account, of a transaction, or of evidence.

        operator  True for your own staff: owner and note are shown
        """
        return self._ask(
            _r.LookupResult,
            "lookup",
            evidence,
            account=account,
            environment=environment,
            transactionId=transaction_id,
            operator=operator,
            now=now,
        )

    # ---- subscriptions

    def apply(
        self,
        evidence: Several,
        account: str | None = None,
        *,
        account_token: str | None = None,
        confirm: bool | None = None,
        now: Time | None = None,
    ) -> _r.ApplyResult:
        """Keep what evidence says of subscriptions and unlocks; the newest word stays.

        account  None for an event of Apple's
        confirm  True: the customer wants the line of another account moved here
        """
        return self._ask(
            _r.ApplyResult,
            "subscription.apply",
            evidence,
            account=account,
            accountToken=account_token,
            confirm=confirm,
            now=now,
        )

    def read(
        self, account: str, *, last: _r.ReadResult | None = None, now: Time | None = None
    ) -> _r.ReadResult:
        """The plan that an account has now.

        last  an earlier answer, which goes on for `stores.failOpen.readMs` when the store
              gives none
        """
        kept = None
        if last is not None:
            kept = {"plan": last.plan, "until": last.until, "atMs": last.at_ms}
        return self._ask(_r.ReadResult, "subscription.read", account=account, last=kept, now=now)

    def clear(self, account: str, *, now: Time | None = None) -> _r.ClearResult:
        """The client says that it owns nothing; any evidence undoes that."""
        return self._ask(_r.ClearResult, "subscription.clear", account=account, now=now)

    def due_lines(
        self, *, attempt: str | None = None, lease_ms: int | None = None, now: Time | None = None
    ) -> _r.DueLinesResult:
        """Up to 25 lines about which to ask Apple for newer evidence, and `apply` it."""
        return self._ask(
            _r.DueLinesResult,
            "subscription.due",
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            now=now,
        )

    # ---- counters

    def take(
        self,
        account: str,
        meter: str,
        plan: str,
        units: int | None = None,
        *,
        now: Time | None = None,
    ) -> _r.TakeResult:
        """Take units of today's allowance, `limits` of the configuration.

        plan  of `read`, never the client's
        """
        return self._ask(
            _r.TakeResult,
            "quota.take",
            account=account,
            meter=meter,
            plan=plan,
            units=units,
            now=now,
        )

    def refund(self, ticket: str, *, now: Time | None = None) -> _r.RefundResult:
        """Give units back, once: nothing was delivered for them."""
        return self._ask(_r.RefundResult, "quota.refund", ticket=ticket, now=now)

    def pace(
        self,
        purpose: str,
        environment: str,
        *,
        bundle_id: str | None = None,
        attempt: int | None = None,
        now: Time | None = None,
    ) -> _r.PaceResult:
        """Wait for room below Apple's own limits.

        purpose  the kind of request: "appstore.transaction-info" …
        attempt  of a queue: 1 … 64
        """
        members: dict[str, Any] = {
            "for": purpose,
            "environment": environment,
            "bundleId": bundle_id,
            "attempt": attempt,
        }
        return self._ask(_r.PaceResult, "pace.take", **members, now=now)

    def admit(
        self, address: str | None, username: str, password_bytes: int, *, now: Time | None = None
    ) -> _r.AdmitResult:
        """Whether an address may make another account today.

        address         as the gateway gives it; None: unknown
        password_bytes  its length: the password itself stays with you
        """
        return self._ask(
            _r.AdmitResult,
            "signup.admit",
            address=address,
            username=username,
            passwordBytes=password_bytes,
            now=now,
        )

    def settle(self, ticket: str, result: str, *, now: Time | None = None) -> _r.SettleResult:
        """What became of a sign-up: "created", "exists", "provider-busy" or
        "provider-error"."""
        return self._ask(_r.SettleResult, "signup.settle", ticket=ticket, result=result, now=now)

    # ---- challenges and keys

    def challenge(
        self, purpose: str, subject: str, *, challenge: str | None = None, now: Time | None = None
    ) -> _r.ChallengeResult:
        """Make a challenge for a client; only its digest is stored.

        purpose    "attest", "assert" …
        subject    the account, or the sign-in that it belongs to
        challenge  None: 32 random bytes
        """
        made = secrets.token_urlsafe(32) if challenge is None else challenge
        known = {"challenge": made}
        return self._ask(
            _r.ChallengeResult,
            "challenge.issue",
            known=known,
            challenge=made,
            purpose=purpose,
            subject=subject,
            now=now,
        )

    def consume(
        self,
        purpose: str,
        subject: str,
        *,
        evidence: Several = (),
        challenge: str | None = None,
        by: str | None = None,
        now: Time | None = None,
    ) -> _r.Result:
        """Use a challenge, once.

        evidence   the attestation or assertion that signed it
        challenge  the text itself, where there is no such evidence
        by         then, what uses it: a repetition by the same is no second use
        """
        return self._ask(
            _r.Result,
            "challenge.consume",
            evidence,
            purpose=purpose,
            subject=subject,
            challenge=challenge,
            by=by,
            now=now,
        )

    def bind(
        self, attestation: Evidence, account: str, *, now: Time | None = None
    ) -> _r.BindResult:
        """Keep the key of a device, for one account."""
        return self._ask(_r.BindResult, "key.bind", attestation, account=account, now=now)

    def advance(
        self, assertion: Evidence, account: str, *, now: Time | None = None
    ) -> _r.AdvanceResult:
        """Move the counter of a key on; an assertion that was seen is refused."""
        return self._ask(_r.AdvanceResult, "key.advance", assertion, account=account, now=now)

    def key(
        self, key_id: str, account: str | None = None, *, now: Time | None = None
    ) -> _r.KeyResult:
        """A key that was bound: public key and counter for the next verification."""
        return self._ask(_r.KeyResult, "key.read", keyId=key_id, account=account, now=now)

    def keep_receipt(self, receipt: Evidence, *, now: Time | None = None) -> _r.ReceiptResult:
        """Keep the newer App Attest receipt of a key."""
        return self._ask(_r.ReceiptResult, "key.receipt", receipt, now=now)

    def retire(self, key_id: str, account: str, *, now: Time | None = None) -> _r.Result:
        """Use a key no longer."""
        return self._ask(_r.Result, "key.retire", keyId=key_id, account=account, now=now)

    # ---- accounts, and what happens once

    def once(
        self, id: str, *, attempt: str | None = None, now: Time | None = None
    ) -> _r.OnceResult:
        """Whether this is the first time: "NOTE#" and a notification's UUID, say."""
        return self._ask(_r.OnceResult, "once", id=id, attempt=attempt_of(attempt), now=now)

    def link(
        self,
        account: str,
        into: str,
        *,
        attempt: str | None = None,
        reason: str | None = None,
        now: Time | None = None,
    ) -> _r.LinkResult:
        """Join an anonymous account into another: purchases, lines, keys, today's counts.
        Both must have been proven in the same request."""
        members: dict[str, Any] = {"from": account, "to": into}
        return self._ask(
            _r.LinkResult,
            "account.link",
            attempt=attempt_of(attempt),
            reason=reason,
            **members,
            now=now,
        )

    def forget(
        self,
        account: str,
        *,
        attempt: str | None = None,
        reason: str | None = None,
        now: Time | None = None,
    ) -> _r.ForgetResult:
        """Delete what names an account. What was paid out stays paid out."""
        found = self._ask(
            _r.ForgetResult,
            "account.forget",
            account=account,
            attempt=attempt_of(attempt),
            reason=reason,
            now=now,
        )
        forgotten = getattr(self.store, "forgotten", None)
        if forgotten is not None and found.ok:
            forgotten()
        return found

    def evidence(
        self,
        sha256: Sequence[str] | None = None,
        *,
        purchase_key: str | None = None,
        environment: str | None = None,
        original_transaction_id: str | None = None,
        now: Time | None = None,
    ) -> _r.EvidenceResult:
        """Texts that were kept (`stores.keepEvidence`): by digest, purchase or line."""
        return self._ask(
            _r.EvidenceResult,
            "evidence.read",
            sha256=sha256,
            purchaseKey=purchase_key,
            environment=environment,
            originalTransactionId=original_transaction_id,
            now=now,
        )

    # ---- the store itself

    def create_schema(self) -> _r.CreateResult:
        """Make tables and indexes where none is there, and on SQLite the file: for `setup`, and
        for nothing else (STO-78). Of a store that has some of them nothing is made.

        Raises ConfigError, `at` the missing table, for a store that has only a part: restore a
        backup, or move the rest away; UnavailableError when the store is away.
        """
        make = getattr(self.store, "make", None)
        if make is not None:
            make()
        found = self._converse(
            _r.CreateResult, "schema.create", lineage=new_lineage(), patience=CREATION
        )
        found.raise_for_refusal()
        self._must_create = False
        return found

    def check_schema(self, *, now: Time | None = None) -> _r.SchemaResult:
        """Whether every column is there, on a primary that forgets nothing, and whether it is
        the store that this ledger saw first: for the start of a server."""
        found = self._ask(_r.SchemaResult, "schema.check", lineage=self._lineage, now=now)
        self._lineage = saw(self._lineage, found)
        return found

    def delete_expired(self) -> None:
        """Delete what has ended, and kept texts that no row names; once a day."""
        self._define("garbage")

    def _create(self) -> None:
        """One thread makes the tables; in a child that was forked meanwhile, too. A store that
        is away says so when it is asked; then the next call tries again."""
        held = self._creating.acquire(timeout=self._patience)
        try:
            if self._must_create:
                with suppress(UnavailableError):
                    self.create_schema()
        finally:
            if held:
                self._creating.release()

    def _define(self, *names: str) -> None:
        request = {"kind": "schema", **self._named}
        with self.verifier.exchange(request, now=self._now()) as exchange:
            define(self.store, calls_of(exchange.document, *names))

    def _pay(
        self, claims: Iterable[_r.Claim], grant: Granting, note: str | None, now: Time | None
    ) -> dict[str, _r.CompleteResult]:
        """Grant and complete, one after the other."""
        done: dict[str, _r.CompleteResult] = {}
        for claim in claims:
            if claim.is_ours and claim.answer is None:
                given = claim.grant()
                if grant(given) is not False:
                    done[given.grant_id] = self.complete(
                        given.purchase_key,
                        given.account,
                        given.grant_id,
                        fence=given.fence,
                        note=note,
                        now=now,
                    )
        return done

    def _take(
        self, takes: Iterable[_r.Take], take_back: Taking, mode: str, now: Time | None
    ) -> list[_r.Result]:
        """Take back and complete, one after the other."""
        done: list[_r.Result] = []
        for take in takes:
            said = take_back(take.take_back())
            if said is not False and mode == "lease":
                taken = said if isinstance(said, int) and not isinstance(said, bool) else None
                done.append(
                    self.complete_revoke(
                        take.purchase_key, take.take_id, take.fence, taken=taken, now=now
                    )
                )
        return done

    def _ask(self, answer: type[R], kind: str, /, *given: Any, **members: Any) -> R:
        """A whole conversation, with a store that has its tables."""
        if self._must_create:
            self._create()
        return self._converse(answer, kind, *given, **members)

    def _converse(
        self,
        answer: type[R],
        kind: str,
        evidence: Several = (),
        /,
        *,
        grant: Granting | None = None,
        take_back: Taking | None = None,
        known: dict[str, Any] | None = None,
        patience: float | None = None,
        now: Time | None = None,
        **members: Any,
    ) -> R:
        """A whole conversation."""
        request, clock = self._request(kind, members), self._clock_from(now)
        with self.verifier.exchange(request, evidence, int(clock() * 1000)) as exchange:
            document = carry_out(
                exchange,
                self.store,
                grant,
                take_back=take_back,
                patience=self._patience if patience is None else patience,
                clock=clock,
            )
        return answer.of(document, **(known or {}))
