"""Verification and exchanges in an asyncio program.

    from concurrent.futures import ThreadPoolExecutor
    from assay.aio import AsyncVerifier

    verifier = AsyncVerifier(assay.Verifier(config), ThreadPoolExecutor(2))

    async for document in verifier.verify_each("transaction", texts):     # a backlog
        ...
    receipt = await verifier.verify_app_receipt(blob)                     # one, in a thread

One warm verification takes about 60 µs, and handing it to a thread and back half as
much again: in a request handler call `assay.Verifier` itself, which blocks the loop no
longer than parsing the request does. An executor is worth it for batches, which go to it
in chunks (a few µs per text), and for what takes a millisecond or more: chains not seen
before, large receipts, attestations. The library lets other threads run while it works,
so chunks run at once on as many cores as the executor has threads.

This module starts no thread: the caller owns the executor and shuts it down.
Loaded only by `import assay.aio`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from functools import partial
from itertools import islice
from typing import TypeVar

from ._run import run_steps
from .documents import Document
from .verifier import Verifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterable,
        AsyncIterator,
        Awaitable,
        Callable,
        Iterable,
        Mapping,
        Sequence,
    )
    from concurrent.futures import Executor
    from os import PathLike
    from typing import Any, Literal, Union
    from uuid import UUID

    from ._calls import Device, Evidence, Kind, Octets, SignedText, Time
    from ._run import StepRunner
    from .attest import Assertion, Attestation, AttestReceipt, DeviceCheck
    from .exchange import Json
    from .facts import (
        AppTransaction,
        Decision,
        Notification,
        RealtimeRequest,
        RenewalInfo,
        Transaction,
    )
    from .http import Send
    from .keyset import Keyset
    from .receipts import AppReceipt, TransactionReceipt, VerifyReceiptResponse
    from .signing import (
        AppleAccountEvent,
        ClientSecret,
        IssuedSession,
        Session,
        SignedInAppRequest,
        SignedOffer,
        SignedOfferV1,
        SignedToken,
    )
    from .tokens import Token

    Batch = Union[Iterable[SignedText], AsyncIterable[SignedText]]
    AsyncSend = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]

__all__ = [
    "AsyncDeviceCheckClient",
    "AsyncRunner",
    "AsyncSessions",
    "AsyncSigner",
    "AsyncVerifier",
]

T = TypeVar("T")


class AsyncVerifier:
    """A `Verifier` whose calls run in an executor. For one event loop.

    verifier  shared with its other users; what needs no thread (`triage`,
              `assess_risk`, `assess_refund`, `check_expiry` …) is called on it directly
    executor  a concurrent.futures.Executor of threads, which this class neither starts nor
              shuts down. Processes do not work: a document is proof in one process only
    limit     how many jobs are in the executor at once, running or queued: of all single
              calls together, and of each batch; further jobs wait in the event loop
    chunk     how many texts of a batch form one job

    Every method has the arguments, results and errors of the verifier's method of that
    name. A cancelled call leaves the executor's queue; a call that a thread has begun
    runs to its end there, and its result is dropped.
    """

    __slots__ = (
        "_executor",
        "_limit",
        "_chunk",
        "_room",
        "_signer",
        "_sessions",
        "_device_check",
        "verifier",
    )

    verifier: Verifier
    """The verifier that this one wraps."""

    def __init__(
        self, verifier: Verifier, executor: Executor, *, limit: int = 32, chunk: int = 64
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise TypeError(f"verifier is a Verifier, not {type(verifier).__name__}")
        _require_executor(executor)
        self.verifier = verifier
        self._executor = executor
        self._limit, self._chunk = _count(limit, "limit"), _count(chunk, "chunk")
        self._room: asyncio.Semaphore | None = None
        self._signer: AsyncSigner | None = None
        self._sessions: AsyncSessions | None = None
        self._device_check: AsyncDeviceCheckClient | None = None

    @classmethod
    async def from_file(
        cls,
        path: str | PathLike[str],
        executor: Executor,
        *,
        limit: int = 32,
        chunk: int = 64,
    ) -> AsyncVerifier:
        """Make a verifier of a JSON configuration file, which the executor reads, and wrap it.

        Errors are those of `Verifier.from_file`.
        """
        _require_executor(executor)
        loop = asyncio.get_running_loop()
        verifier = await loop.run_in_executor(executor, Verifier.from_file, path)
        return cls(verifier, executor, limit=limit, chunk=chunk)

    # ---- batches

    async def verify_each(
        self, kind: Kind, evidence: Batch, now: Time | None = None
    ) -> AsyncIterator[Document]:
        """Verify many texts of one kind, and yield their documents in order.

        kind      as in `Verifier.verify`
        evidence  an iterable or asynchronous iterable of str or bytes; read only as
                  far ahead as `limit` chunks
        now       one time for all of them; None: the system's clock for each

        A refused text gives a document that is not `ok`, not an error. Raises like
        `Verifier.verify` for another kind or a text of the wrong type; the batch ends
        there.
        """
        run = asyncio.get_running_loop().run_in_executor
        jobs: deque[asyncio.Future[list[Document]]] = deque()
        try:
            async for texts in _chunks(evidence, self._chunk):
                if len(jobs) == self._limit:
                    for document in await jobs.popleft():
                        yield document
                jobs.append(run(self._executor, self._verify_all, kind, texts, now))
            while jobs:
                for document in await jobs.popleft():
                    yield document
        finally:
            for job in jobs:
                if not job.cancel() and not job.cancelled():
                    job.exception()  # a batch that ended earlier: no caller reads the result

    async def verify_many(
        self, kind: Kind, evidence: Batch, now: Time | None = None
    ) -> list[Document]:
        """Return all documents of `verify_each` in a list."""
        return [document async for document in self.verify_each(kind, evidence, now)]

    def _verify_all(
        self, kind: Kind, texts: list[SignedText], now: Time | None
    ) -> list[Document]:
        verify = self.verifier.verify
        return [verify(kind, text, now) for text in texts]

    # ---- single calls

    async def verify(
        self,
        kind: Kind,
        evidence: SignedText,
        now: Time | None = None,
        subject: Device | str | None = None,
    ) -> Document:
        """Run `Verifier.verify` in the executor."""
        return await self._run(self.verifier.verify, kind, evidence, now, subject)

    async def verify_transaction(
        self, jws: SignedText, now: Time | None = None
    ) -> Transaction:
        """Run `Verifier.verify_transaction` in the executor."""
        return await self._run(self.verifier.verify_transaction, jws, now)

    async def verify_renewal_info(self, jws: SignedText, now: Time | None = None) -> RenewalInfo:
        """Run `Verifier.verify_renewal_info` in the executor."""
        return await self._run(self.verifier.verify_renewal_info, jws, now)

    async def verify_notification(
        self, jws: SignedText, now: Time | None = None
    ) -> Notification:
        """Run `Verifier.verify_notification` in the executor."""
        return await self._run(self.verifier.verify_notification, jws, now)

    async def verify_app_transaction(
        self, jws: SignedText, now: Time | None = None
    ) -> AppTransaction:
        """Run `Verifier.verify_app_transaction` in the executor."""
        return await self._run(self.verifier.verify_app_transaction, jws, now)

    async def verify_realtime_request(
        self, jws: SignedText, now: Time | None = None
    ) -> RealtimeRequest:
        """Run `Verifier.verify_realtime_request` in the executor."""
        return await self._run(self.verifier.verify_realtime_request, jws, now)

    async def verify_transaction_receipt(
        self, receipt: SignedText, now: Time | None = None
    ) -> TransactionReceipt:
        """Run `Verifier.verify_transaction_receipt` in the executor."""
        return await self._run(self.verifier.verify_transaction_receipt, receipt, now)

    async def verify_app_receipt(
        self, receipt: SignedText, subject: Device | None = None, now: Time | None = None
    ) -> AppReceipt:
        """Run `Verifier.verify_app_receipt` in the executor."""
        return await self._run(self.verifier.verify_app_receipt, receipt, subject, now)

    async def read_verify_receipt_response(
        self, body: SignedText, now: Time | None = None
    ) -> VerifyReceiptResponse:
        """Run `Verifier.read_verify_receipt_response` in the executor."""
        return await self._run(self.verifier.read_verify_receipt_response, body, now)

    async def verify_device(
        self, evidence: Evidence, device_id: str | UUID, now: Time | None = None
    ) -> Document:
        """Run `Verifier.verify_device` in the executor."""
        return await self._run(self.verifier.verify_device, evidence, device_id, now)

    async def build_realtime_response(
        self,
        message_identifier: str | UUID,
        *,
        request: Evidence | None = None,
        alternate_product_id: str | None = None,
        billing_plan_type: str | None = None,
        offer_id: str | None = None,
        product_id: str | None = None,
        transaction_id: str | None = None,
        nonce: str | UUID | None = None,
        bundle_id: str | None = None,
        promotional_offer_signature_v2: str | None = None,
        promotional_offer_signature_v1: Mapping[str, Any] | None = None,
        advanced_commerce_request_data: str | None = None,
        now: Time | None = None,
    ) -> str:
        """Run `Verifier.build_realtime_response` in the executor."""
        return await self._run(
            self.verifier.build_realtime_response,
            message_identifier,
            request=request,
            alternate_product_id=alternate_product_id,
            billing_plan_type=billing_plan_type,
            offer_id=offer_id,
            product_id=product_id,
            transaction_id=transaction_id,
            nonce=nonce,
            bundle_id=bundle_id,
            promotional_offer_signature_v2=promotional_offer_signature_v2,
            promotional_offer_signature_v1=promotional_offer_signature_v1,
            advanced_commerce_request_data=advanced_commerce_request_data,
            now=now,
        )

    async def verify_attestation(
        self,
        attestation: SignedText,
        *,
        key_id: SignedText,
        client_data: SignedText | None = None,
        client_data_hash: Octets | None = None,
        now: Time | None = None,
    ) -> Attestation:
        """Run `Verifier.verify_attestation` in the executor."""
        return await self._run(
            self.verifier.verify_attestation,
            attestation,
            key_id=key_id,
            client_data=client_data,
            client_data_hash=client_data_hash,
            now=now,
        )

    async def verify_assertion(
        self,
        assertion: SignedText,
        *,
        public_key: SignedText,
        counter: int,
        client_data: SignedText | None = None,
        client_data_hash: Octets | None = None,
        now: Time | None = None,
    ) -> Assertion:
        """Run `Verifier.verify_assertion` in the executor."""
        return await self._run(
            self.verifier.verify_assertion,
            assertion,
            public_key=public_key,
            counter=counter,
            client_data=client_data,
            client_data_hash=client_data_hash,
            now=now,
        )

    async def verify_attest_receipt(
        self,
        receipt: SignedText,
        public_key: SignedText | None = None,
        now: Time | None = None,
    ) -> AttestReceipt:
        """Run `Verifier.verify_attest_receipt` in the executor."""
        return await self._run(
            self.verifier.verify_attest_receipt, receipt, public_key, now
        )

    async def verify_token(
        self, token: SignedText, keys: Keyset, now: Time | None = None
    ) -> Token:
        """Run `Verifier.verify_token` in the executor."""
        return await self._run(self.verifier.verify_token, token, keys, now)

    async def verify_apple_identity_token(
        self,
        token: SignedText,
        keys: Keyset,
        nonce: str | None = None,
        now: Time | None = None,
    ) -> Token:
        """Run `Verifier.verify_apple_identity_token` in the executor."""
        return await self._run(self.verifier.verify_apple_identity_token, token, keys, nonce, now)

    async def verify_sign_in_notification(
        self, payload: SignedText, keys: Keyset, now: Time | None = None
    ) -> AppleAccountEvent:
        """Run `Verifier.verify_sign_in_notification` in the executor."""
        return await self._run(self.verifier.verify_sign_in_notification, payload, keys, now)

    async def decide(
        self,
        evidence: Evidence | Iterable[Evidence],
        account: str | UUID | None = None,
        now: Time | None = None,
    ) -> Decision:
        """Run `Verifier.decide` in the executor."""
        return await self._run(self.verifier.decide, evidence, account, now)

    # ---- classes by task

    @property
    def signer(self) -> AsyncSigner:
        """The `Verifier.signer`, in the executor."""
        if self._signer is None:
            self._signer = AsyncSigner(self)
        return self._signer

    @property
    def sessions(self) -> AsyncSessions:
        """The `Verifier.sessions`, in the executor."""
        if self._sessions is None:
            self._sessions = AsyncSessions(self)
        return self._sessions

    @property
    def device_check(self) -> AsyncDeviceCheckClient:
        """The `Verifier.device_check`, in the executor."""
        if self._device_check is None:
            self._device_check = AsyncDeviceCheckClient(self)
        return self._device_check

    # ---- exchanges

    async def exchange(
        self,
        request: Json,
        host: StepRunner,
        evidence: Evidence | Iterable[Evidence] = (),
        clock: Callable[[], Time] | None = None,
    ) -> Document:
        """Start an exchange as `Verifier.exchange` does, run it to its end and close it.

        host   a coroutine function that takes a step (`Exchange.payload`), sends the request,
               runs the statement or waits, and returns the reply as a mapping or JSON
               (docs/exchanges.md), such as an `AsyncRunner`. If it returns None, the
               exchange stops, and the open step is the last document
        clock  returns the time of a step in seconds since 1970 UTC; None: the system's clock

        The steps themselves take microseconds and run where they are awaited, without
        an executor. A refusal is a result, not an error: check the document. What `host`
        raises, cancellation included, passes through, as does MisuseError for a reply of
        the wrong form.
        """
        now = None if clock is None else clock()
        with self.verifier.exchange(request, evidence, now) as exchange:
            return await run_steps(exchange, host, clock)

    async def _run(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        if self._room is None:
            self._room = asyncio.Semaphore(self._limit)
        async with self._room:
            return await asyncio.get_running_loop().run_in_executor(
                self._executor, partial(call, *arguments, **named)
            )


class AsyncSessions:
    """`Sessions` in the executor of an `AsyncVerifier`. Made by `AsyncVerifier.sessions`."""

    __slots__ = ("_sessions", "_verifier")

    def __init__(self, verifier: AsyncVerifier) -> None:
        self._verifier, self._sessions = verifier, verifier.verifier.sessions

    async def issue_session(
        self,
        evidence: Assertion | Attestation | Document,
        account: str,
        verdict: Literal["allow", "limited"] = "allow",
        risk: int | None = None,
        binding: str | None = None,
        ttl_ms: int | None = None,
        now: Time | None = None,
    ) -> IssuedSession:
        """Run `Sessions.issue_session` in the executor."""
        return await self._verifier._run(
            self._sessions.issue_session,
            evidence,
            account,
            verdict,
            risk,
            binding,
            ttl_ms,
            now,
        )

    async def verify_session(
        self,
        session: str,
        purpose: Literal["read", "free", "metered", "restore", "promo", "paid"],
        account: str | None = None,
        binding: str | None = None,
        now: Time | None = None,
    ) -> Session:
        """Run `Sessions.verify_session` in the executor."""
        return await self._verifier._run(
            self._sessions.verify_session, session, purpose, account, binding, now
        )


class AsyncDeviceCheckClient:
    """`DeviceCheckClient` in the executor of an `AsyncVerifier`. Made by
    `AsyncVerifier.device_check`."""

    __slots__ = ("_device_check", "_verifier")

    def __init__(self, verifier: AsyncVerifier) -> None:
        self._verifier, self._device_check = verifier, verifier.verifier.device_check

    async def query_device_bits(
        self,
        token: SignedText,
        transaction_id: str,
        offer: bool = False,
        send: Send | None = None,
    ) -> DeviceCheck:
        """Run `DeviceCheckClient.query_device_bits` in the executor."""
        return await self._verifier._run(
            self._device_check.query_device_bits, token, transaction_id, offer, send
        )

    async def update_device_bits(
        self,
        token: SignedText,
        transaction_id: str,
        bit0: bool | None = None,
        bit1: bool | None = None,
        send: Send | None = None,
    ) -> DeviceCheck:
        """Run `DeviceCheckClient.update_device_bits` in the executor."""
        return await self._verifier._run(
            self._device_check.update_device_bits, token, transaction_id, bit0, bit1, send
        )

    async def validate_device_token(
        self, token: SignedText, transaction_id: str, send: Send | None = None
    ) -> DeviceCheck:
        """Run `DeviceCheckClient.validate_device_token` in the executor."""
        return await self._verifier._run(
            self._device_check.validate_device_token, token, transaction_id, send
        )


class AsyncRunner:
    """Performs network steps: sends requests, and waits without blocking the loop.

        document = await verifier.exchange(request, AsyncRunner())

    send      a coroutine function that takes a request and returns its reply, such as
              `assay.senders.AsyncHttpxSender`; None: `assay.http.Sender` in the loop's
              own executor
    max_wait  how many seconds to wait before a step at most. For a longer wait, the document of
              the wait is the last one: put its `exchange.retry` into your own queue
    clock     returns the time in seconds since 1970 UTC
    """

    __slots__ = ("_clock", "_max_wait", "_send", "_sleep")

    def __init__(
        self,
        send: AsyncSend | None = None,
        *,
        max_wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._send = _in_executor() if send is None else send
        self._max_wait, self._clock, self._sleep = max_wait, clock, sleep

    async def __call__(self, step: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the reply to a step; None for a wait that is too long."""
        name = step.get("step")
        if name == "http":
            return await self._send(step["http"])
        if name != "wait":
            raise NotImplementedError(f"the step {name!r} is not a request")
        left = step["notBeforeMs"] / 1000 - self._clock()
        if left > self._max_wait:
            return None
        await self._sleep(max(left, 0))
        return {}


def _in_executor() -> AsyncSend:
    from .http import Sender

    sender = Sender()

    async def send(request: Mapping[str, Any]) -> Mapping[str, Any]:
        return await asyncio.get_running_loop().run_in_executor(None, sender, request)

    return send


async def _chunks(evidence: Batch, size: int) -> AsyncIterator[list[SignedText]]:
    """Yield the texts in lists of at most `size`; the loop runs other tasks in between."""
    if hasattr(evidence, "__aiter__"):
        texts: list[SignedText] = []
        async for text in evidence:
            texts.append(text)
            if len(texts) == size:
                yield texts
                texts = []
        if texts:
            yield texts
        return
    if isinstance(evidence, (str, bytes, bytearray, memoryview)):
        raise TypeError("evidence is an iterable of texts, not one text")
    remaining = iter(evidence)
    while texts := list(islice(remaining, size)):
        yield texts


def _require_executor(executor: object) -> None:
    if not hasattr(executor, "submit"):
        raise TypeError(
            "executor is a concurrent.futures.Executor, such as ThreadPoolExecutor(2), "
            f"not {type(executor).__name__}"
        )


def _count(value: int, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is an int of 1 or more, not {value!r}")
    return value


class AsyncSigner:
    """`Signer` in the executor of an `AsyncVerifier`. Made by `AsyncVerifier.signer`."""

    __slots__ = ("_signer", "_verifier")

    def __init__(self, verifier: AsyncVerifier) -> None:
        self._verifier, self._signer = verifier, verifier.verifier.signer

    async def sign_api_token(
        self, bundle_id: str | None = None, now: Time | None = None
    ) -> SignedToken:
        """Run `Signer.sign_api_token` in the executor."""
        return await self._verifier._run(self._signer.sign_api_token, bundle_id, now)

    async def sign_device_check_token(self, now: Time | None = None) -> SignedToken:
        """Run `Signer.sign_device_check_token` in the executor."""
        return await self._verifier._run(self._signer.sign_device_check_token, now)

    async def sign_apple_client_secret(
        self,
        client_id: str | None = None,
        ttl_ms: int | None = None,
        now: Time | None = None,
    ) -> ClientSecret:
        """Run `Signer.sign_apple_client_secret` in the executor."""
        return await self._verifier._run(
            self._signer.sign_apple_client_secret, client_id, ttl_ms, now
        )

    async def sign_promotional_offer(
        self,
        product_id: str,
        offer_id: str,
        transaction_id: str | None = None,
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        now: Time | None = None,
    ) -> SignedOffer:
        """Run `Signer.sign_promotional_offer` in the executor."""
        return await self._verifier._run(
            self._signer.sign_promotional_offer,
            product_id,
            offer_id,
            transaction_id,
            bundle_id,
            nonce,
            now,
        )

    async def sign_promotional_offer_v1(
        self,
        product_id: str,
        offer_id: str,
        application_username: str = "",
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        timestamp: int | None = None,
        now: Time | None = None,
    ) -> SignedOfferV1:
        """Run `Signer.sign_promotional_offer_v1` in the executor."""
        return await self._verifier._run(
            self._signer.sign_promotional_offer_v1,
            product_id,
            offer_id,
            application_username,
            bundle_id,
            nonce,
            timestamp,
            now,
        )

    async def sign_introductory_offer_eligibility(
        self,
        product_id: str,
        allowed: bool,
        transaction_id: str,
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        now: Time | None = None,
    ) -> SignedOffer:
        """Run `Signer.sign_introductory_offer_eligibility` in the executor."""
        return await self._verifier._run(
            self._signer.sign_introductory_offer_eligibility,
            product_id,
            allowed,
            transaction_id,
            bundle_id,
            nonce,
            now,
        )

    # Generated by tools/generate.py from kinds.tsv, to the end. Do not edit.

    async def sign_one_time_charge(
        self,
        request_info: Mapping[str, object],
        currency: str,
        item: Mapping[str, object],
        tax_code: str,
        *,
        storefront: str | None = None,
        nonce: str | UUID | None = None,
        bundle_id: str | None = None,
        now: Time | None = None,
    ) -> SignedInAppRequest:
        """Run `Signer.sign_one_time_charge` in the executor."""
        return await self._verifier._run(
            self._signer.sign_one_time_charge,
            request_info,
            currency,
            item,
            tax_code,
            storefront=storefront,
            nonce=nonce,
            bundle_id=bundle_id,
            now=now,
        )

    async def sign_subscription_creation(
        self,
        request_info: Mapping[str, object],
        currency: str,
        descriptors: Mapping[str, object],
        items: Sequence[Mapping[str, object]],
        period: str,
        tax_code: str,
        *,
        previous_transaction_id: str | None = None,
        storefront: str | None = None,
        nonce: str | UUID | None = None,
        bundle_id: str | None = None,
        now: Time | None = None,
    ) -> SignedInAppRequest:
        """Run `Signer.sign_subscription_creation` in the executor."""
        return await self._verifier._run(
            self._signer.sign_subscription_creation,
            request_info,
            currency,
            descriptors,
            items,
            period,
            tax_code,
            previous_transaction_id=previous_transaction_id,
            storefront=storefront,
            nonce=nonce,
            bundle_id=bundle_id,
            now=now,
        )

    async def sign_subscription_modification(
        self,
        request_info: Mapping[str, object],
        transaction_id: str,
        retain_billing_cycle: bool,
        *,
        add_items: Sequence[Mapping[str, object]] | None = None,
        change_items: Sequence[Mapping[str, object]] | None = None,
        remove_items: Sequence[Mapping[str, object]] | None = None,
        period_change: Mapping[str, object] | None = None,
        descriptors: Mapping[str, object] | None = None,
        currency: str | None = None,
        storefront: str | None = None,
        tax_code: str | None = None,
        nonce: str | UUID | None = None,
        bundle_id: str | None = None,
        now: Time | None = None,
    ) -> SignedInAppRequest:
        """Run `Signer.sign_subscription_modification` in the executor."""
        return await self._verifier._run(
            self._signer.sign_subscription_modification,
            request_info,
            transaction_id,
            retain_billing_cycle,
            add_items=add_items,
            change_items=change_items,
            remove_items=remove_items,
            period_change=period_change,
            descriptors=descriptors,
            currency=currency,
            storefront=storefront,
            tax_code=tax_code,
            nonce=nonce,
            bundle_id=bundle_id,
            now=now,
        )

    async def sign_subscription_reactivation(
        self,
        request_info: Mapping[str, object],
        transaction_id: str,
        *,
        items: Sequence[Mapping[str, object]] | None = None,
        storefront: str | None = None,
        nonce: str | UUID | None = None,
        bundle_id: str | None = None,
        now: Time | None = None,
    ) -> SignedInAppRequest:
        """Run `Signer.sign_subscription_reactivation` in the executor."""
        return await self._verifier._run(
            self._signer.sign_subscription_reactivation,
            request_info,
            transaction_id,
            items=items,
            storefront=storefront,
            nonce=nonce,
            bundle_id=bundle_id,
            now=now,
        )
