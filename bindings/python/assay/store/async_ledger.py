"""`Ledger` for asyncio.

    from assay.store import AsyncLedger

    ledger = AsyncLedger("postgresql:///shop", config)
    claim = await ledger.claim(transaction, account, grant=pay_out)
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress

from ..errors import UnavailableError
from . import results as _r
from ._opened import CREATION, Opened, attempt_of, new_lineage, saw, taking_mode
from ._schema import calls_of, define_async
from .carry import Grant, TakeBack, carry_out_async

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from .._calls import Evidence, Time
    from ..verifier import Verifier
    from ._opened import Configuration
    from .carry import AsyncStore

    R = TypeVar("R", bound=_r.Result)
    Granting = Callable[[Grant], Awaitable[object]]
    Taking = Callable[[TakeBack], Awaitable[object]]
    Several = Evidence | Iterable[Evidence]

__all__ = ["AsyncLedger"]


class AsyncLedger(Opened):
    """`Ledger` for the tasks of one event loop, where the client has both: psycopg and
    redis-py. The same calls; a grant is a coroutine function.

    where  postgresql://…, redis://…; or a store that you made, `AsyncPostgres(connect)`
    """

    verifier: Verifier
    """Verifies the evidence."""

    def __init__(
        self,
        where: str | AsyncStore,
        configuration: Verifier | Configuration,
        *,
        create: bool = False,
        patience: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(where, configuration, create, patience, clock, is_async=True)

    async def close(self) -> None:
        """`Ledger.close`."""
        await self.store.close()

    # ---- purchases

    async def claim(
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
        """`Ledger.claim`."""
        if mode == "transaction" and grant is None:
            raise TypeError('mode "transaction" needs a grant')
        found = await self._ask(
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
        return found.completed(await self._pay(found.claims, grant, note, now))

    async def complete(
        self,
        purchase_key: str,
        account: str,
        grant_id: str,
        *,
        fence: int | None = None,
        note: str | None = None,
        now: Time | None = None,
    ) -> _r.CompleteResult:
        """`Ledger.complete`."""
        return await self._ask(
            _r.CompleteResult,
            "complete",
            purchaseKey=purchase_key,
            account=account,
            grantId=grant_id,
            fence=fence,
            note=note,
            now=now,
        )

    async def resume(
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
        """`Ledger.resume`."""
        found = await self._ask(
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
        return found.completed(await self._pay(found.claims, grant, note, now))

    async def due(
        self,
        *,
        grant: Granting | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        older_ms: int | None = None,
        on_unclear: str | None = None,
        now: Time | None = None,
    ) -> _r.DueResult:
        """`Ledger.due`."""
        found = await self._ask(
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
        return found.completed(await self._pay(found.claims, grant, None, now))

    async def revoke(
        self,
        evidence: Several,
        *,
        take_back: Taking | None = None,
        mode: str | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        now: Time | None = None,
    ) -> _r.RevokeResult:
        """`Ledger.revoke`."""
        mode, attempt = taking_mode(mode, take_back, attempt)
        found = await self._ask(
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
        return found.completed(await self._take(found.take, take_back, mode, now))

    async def complete_revoke(
        self,
        purchase_key: str,
        take_id: str,
        fence: int,
        *,
        taken: int | None = None,
        now: Time | None = None,
    ) -> _r.CompleteRevokeResult:
        """`Ledger.complete_revoke`."""
        return await self._ask(
            _r.CompleteRevokeResult,
            "revoke.complete",
            purchaseKey=purchase_key,
            takeId=take_id,
            fence=fence,
            taken=taken,
            now=now,
        )

    async def due_takes(
        self,
        *,
        take_back: Taking | None = None,
        attempt: str | None = None,
        lease_ms: int | None = None,
        older_ms: int | None = None,
        now: Time | None = None,
    ) -> _r.DueTakesResult:
        """`Ledger.due_takes`."""
        found = await self._ask(
            _r.DueTakesResult,
            "revoke.due",
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            olderMs=older_ms,
            now=now,
        )
        if take_back is None:
            return found
        return found.completed(await self._take(found.take, take_back, "lease", now))

    async def apply_event(
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
        """`Ledger.apply_event`."""
        mode, attempt = taking_mode(mode, take_back, attempt)
        if mode == "transaction" and (grant is None or take_back is None):
            raise TypeError('mode "transaction" needs a grant and a take_back')
        in_transaction = mode == "transaction"
        found = await self._ask(
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
        taken = await self._take(found.take, take_back, mode, now) if take_back else []
        given = await self._pay(found.give, grant, None, now) if grant else {}
        return found.completed(taken, given)

    async def lookup(
        self,
        account: str | None = None,
        *,
        evidence: Several = (),
        environment: str | None = None,
        transaction_id: str | None = None,
        operator: bool | None = None,
        now: Time | None = None,
    ) -> _r.LookupResult:
        """`Ledger.lookup`."""
        return await self._ask(
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

    async def apply(
        self,
        evidence: Several,
        account: str | None = None,
        *,
        account_token: str | None = None,
        confirm: bool | None = None,
        now: Time | None = None,
    ) -> _r.ApplyResult:
        """`Ledger.apply`."""
        return await self._ask(
            _r.ApplyResult,
            "subscription.apply",
            evidence,
            account=account,
            accountToken=account_token,
            confirm=confirm,
            now=now,
        )

    async def read(
        self, account: str, *, last: _r.ReadResult | None = None, now: Time | None = None
    ) -> _r.ReadResult:
        """`Ledger.read`."""
        kept = None
        if last is not None:
            kept = {"plan": last.plan, "until": last.until, "atMs": last.at_ms}
        return await self._ask(
            _r.ReadResult, "subscription.read", account=account, last=kept, now=now
        )

    async def clear(self, account: str, *, now: Time | None = None) -> _r.ClearResult:
        """`Ledger.clear`."""
        return await self._ask(_r.ClearResult, "subscription.clear", account=account, now=now)

    async def due_lines(
        self, *, attempt: str | None = None, lease_ms: int | None = None, now: Time | None = None
    ) -> _r.DueLinesResult:
        """`Ledger.due_lines`."""
        return await self._ask(
            _r.DueLinesResult,
            "subscription.due",
            attempt=attempt_of(attempt),
            leaseMs=lease_ms,
            now=now,
        )

    # ---- counters

    async def take(
        self,
        account: str,
        meter: str,
        plan: str,
        units: int | None = None,
        *,
        now: Time | None = None,
    ) -> _r.TakeResult:
        """`Ledger.take`."""
        return await self._ask(
            _r.TakeResult,
            "quota.take",
            account=account,
            meter=meter,
            plan=plan,
            units=units,
            now=now,
        )

    async def refund(self, ticket: str, *, now: Time | None = None) -> _r.RefundResult:
        """`Ledger.refund`."""
        return await self._ask(_r.RefundResult, "quota.refund", ticket=ticket, now=now)

    async def pace(
        self,
        purpose: str,
        environment: str,
        *,
        bundle_id: str | None = None,
        attempt: int | None = None,
        now: Time | None = None,
    ) -> _r.PaceResult:
        """`Ledger.pace`."""
        members: dict[str, Any] = {
            "for": purpose,
            "environment": environment,
            "bundleId": bundle_id,
            "attempt": attempt,
        }
        return await self._ask(_r.PaceResult, "pace.take", **members, now=now)

    async def admit(
        self, address: str | None, username: str, password_bytes: int, *, now: Time | None = None
    ) -> _r.AdmitResult:
        """`Ledger.admit`."""
        return await self._ask(
            _r.AdmitResult,
            "signup.admit",
            address=address,
            username=username,
            passwordBytes=password_bytes,
            now=now,
        )

    async def settle(self, ticket: str, result: str, *, now: Time | None = None) -> _r.SettleResult:
        """`Ledger.settle`."""
        return await self._ask(
            _r.SettleResult, "signup.settle", ticket=ticket, result=result, now=now
        )

    # ---- challenges and keys

    async def challenge(
        self, purpose: str, subject: str, *, challenge: str | None = None, now: Time | None = None
    ) -> _r.ChallengeResult:
        """`Ledger.challenge`."""
        made = secrets.token_urlsafe(32) if challenge is None else challenge
        known = {"challenge": made}
        return await self._ask(
            _r.ChallengeResult,
            "challenge.issue",
            known=known,
            challenge=made,
            purpose=purpose,
            subject=subject,
            now=now,
        )

    async def consume(
        self,
        purpose: str,
        subject: str,
        *,
        evidence: Several = (),
        challenge: str | None = None,
        by: str | None = None,
        now: Time | None = None,
    ) -> _r.Result:
        """`Ledger.consume`."""
        return await self._ask(
            _r.Result,
            "challenge.consume",
            evidence,
            purpose=purpose,
            subject=subject,
            challenge=challenge,
            by=by,
            now=now,
        )

    async def bind(
        self, attestation: Evidence, account: str, *, now: Time | None = None
    ) -> _r.BindResult:
        """`Ledger.bind`."""
        return await self._ask(_r.BindResult, "key.bind", attestation, account=account, now=now)

    async def advance(
        self, assertion: Evidence, account: str, *, now: Time | None = None
    ) -> _r.AdvanceResult:
        """`Ledger.advance`."""
        return await self._ask(_r.AdvanceResult, "key.advance", assertion, account=account, now=now)

    async def key(
        self, key_id: str, account: str | None = None, *, now: Time | None = None
    ) -> _r.KeyResult:
        """`Ledger.key`."""
        return await self._ask(_r.KeyResult, "key.read", keyId=key_id, account=account, now=now)

    async def keep_receipt(self, receipt: Evidence, *, now: Time | None = None) -> _r.ReceiptResult:
        """`Ledger.keep_receipt`."""
        return await self._ask(_r.ReceiptResult, "key.receipt", receipt, now=now)

    async def retire(self, key_id: str, account: str, *, now: Time | None = None) -> _r.Result:
        """`Ledger.retire`."""
        return await self._ask(_r.Result, "key.retire", keyId=key_id, account=account, now=now)

    # ---- accounts, and what happens once

    async def once(
        self, id: str, *, attempt: str | None = None, now: Time | None = None
    ) -> _r.OnceResult:
        """`Ledger.once`."""
        return await self._ask(_r.OnceResult, "once", id=id, attempt=attempt_of(attempt), now=now)

    async def link(
        self,
        account: str,
        into: str,
        *,
        attempt: str | None = None,
        reason: str | None = None,
        now: Time | None = None,
    ) -> _r.LinkResult:
        """`Ledger.link`."""
        members: dict[str, Any] = {"from": account, "to": into}
        return await self._ask(
            _r.LinkResult,
            "account.link",
            attempt=attempt_of(attempt),
            reason=reason,
            **members,
            now=now,
        )

    async def forget(
        self,
        account: str,
        *,
        attempt: str | None = None,
        reason: str | None = None,
        now: Time | None = None,
    ) -> _r.ForgetResult:
        """`Ledger.forget`."""
        return await self._ask(
            _r.ForgetResult,
            "account.forget",
            account=account,
            attempt=attempt_of(attempt),
            reason=reason,
            now=now,
        )

    async def evidence(
        self,
        sha256: Sequence[str] | None = None,
        *,
        purchase_key: str | None = None,
        environment: str | None = None,
        original_transaction_id: str | None = None,
        now: Time | None = None,
    ) -> _r.EvidenceResult:
        """`Ledger.evidence`."""
        return await self._ask(
            _r.EvidenceResult,
            "evidence.read",
            sha256=sha256,
            purchaseKey=purchase_key,
            environment=environment,
            originalTransactionId=original_transaction_id,
            now=now,
        )

    # ---- the store itself

    async def create_schema(self) -> _r.CreateResult:
        """`Ledger.create_schema`."""
        found = await self._converse(
            _r.CreateResult, "schema.create", lineage=new_lineage(), patience=CREATION
        )
        found.raise_for_refusal()
        self._must_create = False
        return found

    async def check_schema(self, *, now: Time | None = None) -> _r.SchemaResult:
        """`Ledger.check_schema`."""
        found = await self._ask(_r.SchemaResult, "schema.check", lineage=self._lineage, now=now)
        self._lineage = saw(self._lineage, found)
        return found

    async def delete_expired(self) -> None:
        """`Ledger.delete_expired`."""
        await self._define("garbage")

    async def _define(self, *names: str) -> None:
        request = {"kind": "schema", **self._named}
        with self.verifier.exchange(request, now=self._now()) as exchange:
            await define_async(self.store, calls_of(exchange.document, *names))

    async def _pay(
        self, claims: Iterable[_r.Claim], grant: Granting, note: str | None, now: Time | None
    ) -> dict[str, _r.CompleteResult]:
        """Grant and complete, one after the other."""
        done: dict[str, _r.CompleteResult] = {}
        for claim in claims:
            if claim.is_ours and claim.answer is None:
                given = claim.grant()
                if await grant(given) is not False:
                    done[given.grant_id] = await self.complete(
                        given.purchase_key,
                        given.account,
                        given.grant_id,
                        fence=given.fence,
                        note=note,
                        now=now,
                    )
        return done

    async def _take(
        self, takes: Iterable[_r.Take], take_back: Taking, mode: str, now: Time | None
    ) -> list[_r.Result]:
        """Take back and complete, one after the other."""
        done: list[_r.Result] = []
        for take in takes:
            said = await take_back(take.take_back())
            if said is not False and mode == "lease":
                taken = said if isinstance(said, int) and not isinstance(said, bool) else None
                done.append(
                    await self.complete_revoke(
                        take.purchase_key, take.take_id, take.fence, taken=taken, now=now
                    )
                )
        return done

    async def _ask(self, answer: type[R], kind: str, /, *given: Any, **members: Any) -> R:
        """A whole conversation, with a store that has its tables."""
        if self._must_create:
            with suppress(UnavailableError):
                await self.create_schema()
        return await self._converse(answer, kind, *given, **members)

    async def _converse(
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
            document = await carry_out_async(
                exchange,
                self.store,
                grant,
                take_back=take_back,
                patience=self._patience if patience is None else patience,
                clock=clock,
            )
        return answer.of(document, **(known or {}))
