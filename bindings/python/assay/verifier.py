"""The verifier, where every verification starts."""

from __future__ import annotations

from os import fspath
from time import time_ns

from . import _prototypes as _c
from ._calls import (
    OwnedVerifier,
    answered,
    documents_of,
    handles_of,
    json_octets,
    milliseconds,
)
from ._calls import accepted as _accepted
from ._calls import base64_text as _base64_text
from ._calls import given as _given
from ._calls import octets_of as _octets
from ._library import functions as _functions
from .documents import Document, OwnedDocument, status_name
from .errors import refusal, refusal_of_status
from .facts import (
    AppTransaction,
    Decision,
    Notification,
    RealtimeRequest,
    RenewalInfo,
    Revocation,
    Transaction,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from types import TracebackType
    from typing import Any, Literal, NoReturn
    from uuid import UUID

    from ._calls import Device, Evidence, Kind, Octets, SignedText, Time
    from .app_store import AppStore
    from .attest import (
        Assertion,
        Attestation,
        AttestReceipt,
        DeviceCheck,
        RefreshedReceipt,
        Risk,
    )
    from .device_check import DeviceCheckClient
    from .exchange import Exchange
    from .http import Send
    from .keyset import Keyset
    from .receipts import (
        AppReceipt,
        TransactionReceipt,
        Triage,
        VerifyReceiptAnswer,
        VerifyReceiptResponse,
    )
    from .refunds import RefundAnswer, RefundUnits
    from .sessions import Sessions
    from .signer import Signer
    from .signing import AppleAccountEvent
    from .tokens import Token


_verify_jws = _functions.assay_verify_jws
_verify_receipt = _functions.assay_verify_receipt
_triage = _functions.assay_triage
_read_verify_receipt_response = _functions.assay_read_verify_receipt_response
_verify_attestation = _functions.assay_verify_attestation
_verify_assertion = _functions.assay_verify_assertion
_verify_token = _functions.assay_verify_token
_token_types: Any = None  # loaded at the first token: an import costs a microsecond each time
_decide = _functions.assay_decide
_call = _functions.assay_call

KINDS = {
    "transaction": _c.ASSAY_JWS_TRANSACTION,
    "renewal-info": _c.ASSAY_JWS_RENEWAL_INFO,
    "notification": _c.ASSAY_JWS_NOTIFICATION,
    "app-transaction": _c.ASSAY_JWS_APP_TRANSACTION,
    "realtime-request": _c.ASSAY_JWS_REALTIME_REQUEST,
}

RECEIPT_KINDS = {
    "transaction-receipt": _c.ASSAY_RECEIPT_TRANSACTION,
    "app-receipt": _c.ASSAY_RECEIPT_APP,
    "attest-receipt": _c.ASSAY_RECEIPT_ATTEST,
}

ANSWER_KIND = "verify-receipt-response"

FOREVER = 2**63 - 1
"""An end that never comes, for `check_expiry`: store it for purchases without an end."""


class Verifier:
    """Pinned roots, apps, products and policy; remembers proven chains.

    Make one when the process starts and share it: every method may be called by
    many threads at once, and in a child after fork. A verifier is immutable; a different
    policy needs a different one. It is a context manager, which closes it at the end.

    config: the configuration (docs/config.md) as a mapping, or as JSON in a str
    or bytes. Only `apps` is required:

        Verifier({"apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890}]})

    Raises ConfigError for an unusable configuration, with the member's path in `at`; TypeError
    or ValueError for a mapping that is not JSON.
    """

    __slots__ = (
        "_handle",
        "_document",
        "_signer",
        "_sessions",
        "_device_check",
        "__weakref__",
    )

    def __init__(self, config: Mapping[str, Any] | str | bytes) -> None:
        self._handle: OwnedVerifier | None = None
        self._signer: Signer | None = None
        self._sessions: Sessions | None = None
        self._device_check: DeviceCheckClient | None = None
        text = json_octets(config, "config")
        handle, answer = OwnedVerifier(), OwnedDocument()
        code = _functions.assay_verifier_new(text, len(text), handle, answer)
        self._document = answered(answer, code)
        if code:
            raise refusal(self._document)
        self._handle = handle

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Verifier:
        """Make a verifier of a JSON configuration file.

        Raises OSError for a file that cannot be read; ConfigError for a configuration that
        is not usable, as `Verifier` does.
        """
        with open(fspath(path), "rb") as file:
            return cls(file.read())

    # ---- evidence

    def verify_transaction(self, jws: SignedText, now: Time | None = None) -> Transaction:
        """Verify a signed transaction: a purchase, restore or renewal.

        jws  str or bytes: the compact JWS only, no JSON around it, no line end
        now  int ms since 1970 UTC, or an aware datetime; None: the system's clock

        Raises RejectedError if it is not genuine, or not for this verifier's
        apps and environments; MalformedError, UnsupportedError or TooLargeError
        if it is not a JWS of this kind; MisuseError for a `now` outside 2008 … 2100;
        TypeError and ValueError for arguments of the wrong type, or a closed verifier.
        """
        document = self._verified(_c.ASSAY_JWS_TRANSACTION, jws, now)
        return Transaction(document, "transaction")

    def verify_renewal_info(self, jws: SignedText, now: Time | None = None) -> RenewalInfo:
        """Verify a signed renewal info. Arguments and errors: `verify_transaction`."""
        return RenewalInfo(self._verified(_c.ASSAY_JWS_RENEWAL_INFO, jws, now), "renewalInfo")

    def verify_notification(self, jws: SignedText, now: Time | None = None) -> Notification:
        """Verify a server notification and every JWS inside it, in one call.

        jws is the value of `signedPayload` of the request's body. Arguments and
        errors: `verify_transaction`.
        """
        document = self._verified(_c.ASSAY_JWS_NOTIFICATION, jws, now)
        return Notification(document, "notification")

    def verify_app_transaction(
        self, jws: SignedText, now: Time | None = None
    ) -> AppTransaction:
        """Verify a signed app transaction. Arguments and errors: `verify_transaction`."""
        document = self._verified(_c.ASSAY_JWS_APP_TRANSACTION, jws, now)
        return AppTransaction(document, "appTransaction")

    def verify_realtime_request(
        self, jws: SignedText, now: Time | None = None
    ) -> RealtimeRequest:
        """Verify a realtime request of Retention Messaging.

        jws is the value of `signedPayload` of the request's body. Arguments and
        errors: `verify_transaction`.
        """
        document = self._verified(_c.ASSAY_JWS_REALTIME_REQUEST, jws, now)
        return RealtimeRequest(document, "realtimeRequest")

    def verify_transaction_receipt(
        self, receipt: SignedText, now: Time | None = None
    ) -> TransactionReceipt:
        """Verify a transaction receipt: the property list of iOS 3 to 6, one purchase.

        receipt  str or bytes, as the app sent it: base64 (once or twice, wrapped,
                 URL-safe) or raw

        Raises RejectedError if it is not genuine, or not for this verifier's
        apps, products and environments. `retry_class` "after-config" with
        rejected.product.unknown means a purchase that is not in the catalogue yet:
        the client must keep the receipt. Other errors and `now` as in
        `verify_transaction`.
        """
        from .receipts import TransactionReceipt

        kind = _c.ASSAY_RECEIPT_TRANSACTION
        document = _accepted(self._receipt(kind, receipt, None, now))
        return TransactionReceipt(document, "transactionReceipt")

    def verify_app_receipt(
        self, receipt: SignedText, subject: Device | None = None, now: Time | None = None
    ) -> AppReceipt:
        """Verify an app receipt: all purchases of an app on one device.

        receipt  as in `verify_transaction_receipt`
        subject  the device that it must belong to: the vendor id as uuid.UUID or 16
                 bytes (iOS), or the 6 bytes of the MAC address (macOS). None skips
                 that check: `device_bound` is then False

        Raises RejectedError if it is not genuine, not for this verifier's apps and
        environments, or of another device; MisuseError for a subject of another
        length. Purchases of unknown products are not refused: they have `known`
        False. Other errors and `now` as in `verify_transaction`.
        """
        from .receipts import AppReceipt

        kind = _c.ASSAY_RECEIPT_APP
        document = _accepted(self._receipt(kind, receipt, _device(subject), now))
        return AppReceipt(document, "appReceipt")

    def read_verify_receipt_response(
        self, body: SignedText, now: Time | None = None
    ) -> VerifyReceiptResponse:
        """Read the body of a response from Apple's verifyReceipt endpoint.

        body  str or bytes: the whole body of the HTTP response, status 200

        Raises AssayError for every response without facts; `retry_class` states what
        to do: "later" (no verdict: change nothing and repeat the request), "same-once"
        (the same endpoint again, once), "other-environment" (the other endpoint, once),
        "after-config", "never".
        """
        from .receipts import VerifyReceiptResponse

        return VerifyReceiptResponse(_accepted(self._answer_read(body, now)), "verifyReceipt")

    def triage(self, blob: SignedText, now: Time | None = None) -> Triage:
        """Classify an untrusted blob, without cryptography: its form, whether it is of this
        verifier's apps, and whether it is worth verifying.

        blob  str or bytes: what the client sent for a purchase

        Never raises for the content of the blob: the result is a finding, whose
        `worth_verifying`, `category` and `disposition` state how to continue. Its
        claims are in `unverified`; they are not facts. Raises MisuseError for a `now`
        outside 2008 … 2100; TypeError and ValueError as in `verify_transaction`.
        """
        from .receipts import Triage

        text = _octets(blob)
        answer = OwnedDocument()
        code = _triage(self._open(), text, len(text), milliseconds(now), answer)
        document = answered(answer, code)
        if code & 0xFF in (_c.ASSAY_MISUSE, _c.ASSAY_INTERNAL):
            raise refusal(document)
        return Triage(document, "triage")

    def extract_unverified_transaction_id(
        self, blob: SignedText, now: Time | None = None
    ) -> str | None:
        """Return the transaction id that a receipt of any form, or a JWS, claims, for a request
        to the App Store Server API. Anyone can write it: never act on the id by itself.

        blob  what the client sent: a transaction receipt, an app receipt, a JWS

        Returns that of the first purchase for an app receipt; None if the blob has none.
        """
        content = self.triage(blob, now).unverified
        found = content.transaction_id or content.original_transaction_id
        if found is None and content.keys:
            # The key is such as "Production/180000900000001".
            found = content.keys[0].split("/")[1]
        return found

    def verify(
        self,
        kind: Kind,
        evidence: SignedText,
        now: Time | None = None,
        subject: Device | str | None = None,
    ) -> Document:
        """Verify evidence, and return the document on success and on refusal.

        kind     "transaction", "renewal-info", "notification", "app-transaction" or
                 "realtime-request" for a JWS; "transaction-receipt", "app-receipt"
                 or "attest-receipt"; "verify-receipt-response" for a response of that
                 endpoint. There is deliberately no "any"
        subject  as in `verify_app_receipt`, for "app-receipt"; the public key as in
                 `verify_attest_receipt`, for "attest-receipt"

        Never raises for a refusal: check `ok` first, then read `facts`, or call
        `raise_for_status`. Raises ValueError for another kind, or a subject with a
        kind that is no receipt; and as `verify_transaction` for arguments of a wrong
        type.
        """
        if kind == "attest-receipt" and subject is not None:
            subject = _public_key(subject)
        if kind in RECEIPT_KINDS:
            return self._receipt(RECEIPT_KINDS[kind], evidence, _device(subject), now)
        if subject is not None:
            raise ValueError(f"a {kind} has no subject")
        if kind == ANSWER_KIND:
            return self._answer_read(evidence, now)
        if kind not in KINDS:
            kinds = ", ".join((*KINDS, *RECEIPT_KINDS, ANSWER_KIND))
            raise ValueError(f"kind must be one of {kinds}; not {kind!r}")
        return self._answer(KINDS[kind], evidence, now)

    # ---- App Attest

    def verify_attestation(
        self,
        attestation: SignedText,
        *,
        key_id: SignedText,
        client_data: SignedText | None = None,
        client_data_hash: Octets | None = None,
        now: Time | None = None,
    ) -> Attestation:
        """Verify an App Attest attestation and the receipt inside it: a key in the
        Secure Enclave of a genuine device, made by one of this verifier's apps.

        attestation       bytes: the object that `attestKey` returned to the app; a str is
                          its base64
        key_id            the key identifier, in any of its forms: the base64 text
                          that `generateKey` returned, base64url, hex, or the 32 bytes
        client_data       what the app hashed for `attestKey`, byte for byte; a str is
                          taken as its UTF-8. Hashed by this method
        client_data_hash  instead of client_data: that hash, used unchanged, 16 to 64 bytes
        now               int ms since 1970 UTC, or an aware datetime; None: the
                          system's clock

        Needs an App ID: `teamId` of an app, or `attest.appIds`. Raises
        RejectedError if it is not genuine, or not of this key, client data, app or
        environment: `hint` names the common mistake that would explain it;
        MalformedError, UnsupportedError or TooLargeError if it is not an attestation;
        ConfigError without an App ID; MisuseError for client data of the wrong length
        or a `now` outside 2008 … 2100; TypeError and ValueError for arguments of a
        wrong type, or a closed verifier.
        """
        from .attest import Attestation

        octets, key = _base64_octets(attestation), _octets(key_id)
        kind, data = _client_data(client_data, client_data_hash)
        answer = OwnedDocument()
        code = _verify_attestation(
            self._open(),
            octets,
            len(octets),
            key,
            len(key),
            kind,
            data,
            len(data),
            milliseconds(now),
            answer,
        )
        return Attestation(_accepted(answered(answer, code)), "attestation")

    def verify_assertion(
        self,
        assertion: SignedText,
        *,
        public_key: SignedText,
        counter: int,
        client_data: SignedText | None = None,
        client_data_hash: Octets | None = None,
        now: Time | None = None,
    ) -> Assertion:
        """Verify an App Attest assertion: the attested key signed this client data,
        later than the last time.

        assertion   bytes: the object that `generateAssertion` returned to the app; a str is
                    its base64
        public_key  that of the stored key: the 65 bytes of `Attestation.public_key`, the
                    91 of `public_key_spki`, or the base64 text of either
        counter     int, 0 … 2^32 - 1: the one stored for this key, 0 at first
        client_data, client_data_hash, now  as in `verify_attestation`

        Store the new `counter` only if the stored one is still smaller: the library
        compares, the database decides between concurrent requests. Raises
        RejectedError if it is not signed by this key over this client data, of
        another app, or not newer (rejected.assertion.counter: a replay, or requests
        out of order); MisuseError for an invalid public key; ValueError for a
        counter beyond 32 bits. Other errors as in `verify_attestation`.
        """
        from .attest import Assertion

        octets, key = _base64_octets(assertion), _public_key(public_key)
        kind, data = _client_data(client_data, client_data_hash)
        answer = OwnedDocument()
        code = _verify_assertion(
            self._open(),
            octets,
            len(octets),
            key,
            len(key),
            _integer(counter, "counter", 2**32),
            kind,
            data,
            len(data),
            milliseconds(now),
            answer,
        )
        return Assertion(_accepted(answered(answer, code)), "assertion")

    def verify_attest_receipt(
        self,
        receipt: SignedText,
        public_key: SignedText | None = None,
        now: Time | None = None,
    ) -> AttestReceipt:
        """Verify an App Attest receipt, from an attestation or from Apple.

        receipt     bytes, or base64: as it was stored, or as Apple returned it
        public_key  the key that it must be about, as in `verify_assertion`; None
                    skips that check: `bound` is then False

        A receipt that was kept longer than `attest.maxAgeMs` needs a verifier with
        `attest.time` "stored". Raises RejectedError if it is not genuine, not of
        this verifier's apps and environments, of another key, or too old. Other
        errors and `now` as in `verify_attestation`.
        """
        from .attest import AttestReceipt

        subject = None if public_key is None else _public_key(public_key)
        document = self._receipt(_c.ASSAY_RECEIPT_ATTEST, receipt, subject, now)
        return AttestReceipt(_accepted(document), "attestReceipt")

    # ---- access tokens

    def verify_token(
        self, token: SignedText, keys: Keyset, now: Time | None = None
    ) -> Token:
        """Verify an access token: the caller, proven by a key of a configured issuer.

        token  str or bytes: the compact JWS only, without the word Bearer
        keys   the key set of its issuer, one of those in `tokens` of the configuration
        now    int ms since 1970 UTC, or an aware datetime; None: the system's clock

        `subject` is the account; sign-out and deleted users are not seen. A text that the
        key set has verified before costs no second signature check.

        Raises RejectedError if it is not genuine, has expired, or is of another issuer,
        app or use; rejected.token.unknown-key has in `error.document.json["error"]["keyset"]`
        what to do: "refresh" (fetch the key set once, verify again) or "cooldown" (refuse).
        UnavailableError for a key set that is too old; MisuseError for one of no configured
        issuer, and for a `now` outside 2008 … 2100; MalformedError, UnsupportedError or
        TooLargeError if it is no such token; TypeError and ValueError for arguments of a
        wrong type, or a closed verifier or key set.
        """
        document = _accepted(self._token(token, keys, now))
        facts: Token = _token_types[1](document, "token")
        return facts

    def _token(self, token: SignedText, keys: Keyset, now: Time | None) -> Document:
        global _token_types
        if _token_types is None:
            from .keyset import handle_of
            from .tokens import Token

            _token_types = handle_of, Token
        handle, text, answer = _token_types[0](keys), _octets(token), OwnedDocument()
        code = _verify_token(
            self._open(), handle, text, len(text), milliseconds(now), answer
        )
        return answered(answer, code)

    # ---- Sign in with Apple

    def verify_apple_identity_token(
        self,
        token: SignedText,
        keys: Keyset,
        nonce: str | None = None,
        now: Time | None = None,
    ) -> Token:
        """Verify an identity token of Sign in with Apple: the person who signs in, and that the
        token is of this sign-in. It is valid for one sign-in; issue your own session.

        token  str or bytes: the identity token that the app sent
        keys   the key set of Apple
        nonce  the one that you issued for this sign-in and now consume; None only if
               `nonce` is "none" in `tokens`

        Needs a profile `apple-id` in `tokens` (ConfigError). Raises RejectedError if it is
        not genuine, has expired, is of another app, or of another sign-in
        (rejected.token.nonce); after rejected.token.unknown-key `error.keyset` of the document
        is as in `verify_token`. MisuseError without the nonce, or for the key set of another
        issuer; UnavailableError for a key set that is too old; MalformedError,
        UnsupportedError or TooLargeError if it is no such token.
        """
        from .tokens import Token

        text = _octets(token).decode("utf-8", "replace")
        request = _given(
            {"operation": "verify-apple-identity-token", "token": text, "nonce": nonce}
        )
        return Token(_accepted(self._at_once(request, now, keys.facts)), "exchange.token")

    def verify_sign_in_notification(
        self, payload: SignedText, keys: Keyset, now: Time | None = None
    ) -> AppleAccountEvent:
        """Verify a sign-in notification: what Apple reports about an account of Sign in with Apple.

        payload  str or bytes: the member `payload` of what Apple posted
        keys     the key set of Apple

        Deliveries repeat: act once on each `token_id`. Respond with 200 after storing, with
        400 for a refusal. Errors as in `verify_apple_identity_token`, except of the nonce.
        """
        from .signing import AppleAccountEvent

        text = _octets(payload).decode("utf-8", "replace")
        request = {"operation": "verify-sign-in-notification", "payload": text}
        document = _accepted(self._at_once(request, now, keys.facts))
        return AppleAccountEvent(document.json["exchange"]["appleIdEvent"])

    # ---- DeviceCheck and risk

    def read_device_check_response(
        self,
        call: Literal["query", "update", "validate"],
        status: int,
        body: SignedText | None,
        offer: bool = False,
        now: Time | None = None,
    ) -> DeviceCheck:
        """Read a response of Apple's DeviceCheck endpoint, which you fetched.

        call    the path of the request: query_two_bits, update_two_bits or
                validate_device_token
        status  int: that of the HTTP response; 0: there was none
        body    str or bytes: its whole body; None: empty
        offer   whether to check that an offer for one use a device is unused here,
                by the configured bit whose name begins with "promo"

        Needs the block `deviceCheck`. Raises RejectedError if Apple refuses the
        device token or the request (`fault` states which) and, with `offer`, if
        the offer was used (rejected.promo.device-used); UnavailableError for a
        response without a verdict: neither a clean device nor a used one. What
        `assess_risk` needs is then in `error.document.facts`. Raises ConfigError
        without the block, MisuseError for another call, a status beyond 599, or
        `offer` with another call than a query.
        """
        from .attest import DeviceCheck

        request = {
            "operation": "read-device-check-response",
            "call": call,
            "status": _integer(status, "status"),
            "body": {"base64": _base64_text(b"" if body is None else _octets(body))},
            "offer": offer,
        }
        return DeviceCheck(_accepted(self._at_once(request, now)), "exchange.deviceCheck")

    def normalize_device_token(self, token: SignedText) -> str:
        """Return a device token in the form that Apple accepts: standard base64.

        token  what `generateToken` returned to the app: its bytes, or base64 of them in a
               str

        The token is not verified: only Apple can do so. Raises MalformedError
        for a str that is not base64, or an empty token; TooLargeError for more than 8,192
        bytes.
        """
        octets = _octets(token)
        given: Any = octets.decode("utf-8", "replace")
        if not isinstance(token, str):
            given = {"base64": _base64_text(octets)}
        request = {"operation": "normalize-device-token", "deviceToken": given}
        return _accepted(self._at_once(request, None))._text(b"exchange.deviceToken") or ""

    def refresh_attest_receipt(
        self, evidence: AttestReceipt | Attestation | Document, send: Send | None = None
    ) -> RefreshedReceipt:
        """Get a new receipt of an attested key from Apple: store its `raw` instead of the old
        one. Its `refresh_at_ms` is the time of the next refresh.

        evidence  facts or document of the old receipt, or of the attestation with it
        send      sends a request (assay.http); None: a `Sender`

        Needs the block `deviceCheck` with its key. Raises UnavailableError if Apple gives
        no usable response: keep the old receipt, and put `exchange.retry` of
        `error.document.json` into your queue. RejectedError with
        rejected.attest-refresh.no-data or .expired: only a new key has a metric again,
        which is no sign of fraud.
        """
        from .attest import RefreshedReceipt

        document = self._talked({"operation": "refresh-attest-receipt"}, evidence, send)
        return RefreshedReceipt(document, "exchange.attestReceipt")

    # ---- revocation, and the device of a JWS

    def check_revocation(
        self,
        evidence: Evidence,
        required: bool = True,
        responses: Mapping[str, bytes] | None = None,
        send: Send | None = None,
    ) -> Revocation:
        """Check with Apple's OCSP responder whether the certificates of a verified JWS are
        revoked, by two requests at most. The result is evidence like the JWS itself.

        evidence   facts or document of one JWS
        required   whether a missing response is a refusal
        responses  stored earlier responses: `response` by `sha256`, until its
                   `next_update`
        send       sends a request (assay.http); None: a `Sender`

        Raises RejectedError for revoked and unknown certificates, and for responses
        that are not authentic; UnavailableError (unavailable.ocsp.undetermined) if
        none came, which is no sign of forgery: try later.
        """
        request = {
            "operation": "check-revocation",
            "mode": "required" if required else "best-effort",
            "responses": [
                {"sha256": name, "der": _base64_text(response)}
                for name, response in (responses or {}).items()
            ],
        }
        return Revocation(self._talked(request, evidence, send), "exchange.revocation")

    def verify_device(
        self, evidence: Evidence, device_id: str | UUID, now: Time | None = None
    ) -> Document:
        """Verify that a JWS was made on this device. The document is evidence like the JWS
        itself.

        evidence   facts or document of one transaction, renewal info or app transaction
        device_id  the app's `AppStore.deviceVerificationID`

        Raises RejectedError (rejected.account.device) for another device; MisuseError for a
        JWS that was not made on a device, and for an id that is no UUID.
        """
        request = {"operation": "verify-device", "deviceId": str(device_id)}
        return _accepted(self._at_once(request, now, evidence))

    def build_realtime_response(
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
        """Return the answer to a realtime request of retention messaging, as JSON for the body
        of a response with status 200. Beside the message it has at most one of another product,
        an offer and an Advanced Commerce request.

        request               what verify_realtime_request returned: product and transaction of
                              an offer that names none
        alternate_product_id  the product to switch to, with its billing_plan_type
        offer_id              a promotional offer, which is signed here: product_id,
                              transaction_id, nonce and bundle_id as in
                              Signer.sign_promotional_offer; needs `appStoreServerApi`
        promotional_offer_signature_v2  an offer that is signed already
        promotional_offer_signature_v1  the same of the original StoreKit API, with Apple's
                                        members
        advanced_commerce_request_data  a signed change of an Advanced Commerce subscription

        Raises MisuseError for a wrong form, and for two answers at once.
        """
        asked = _given(
            {
                "operation": "build-realtime-response",
                "messageIdentifier": str(message_identifier),
                "alternateProductId": alternate_product_id,
                "billingPlanType": billing_plan_type,
                "offerIdentifier": offer_id,
                "productId": product_id,
                "transactionId": transaction_id,
                "nonce": None if nonce is None else str(nonce),
                "bundleId": bundle_id,
                "promotionalOfferSignatureV2": promotional_offer_signature_v2,
                "promotionalOfferSignatureV1": promotional_offer_signature_v1,
                "advancedCommerceRequestData": advanced_commerce_request_data,
            }
        )
        evidence = () if request is None else request
        return _accepted(self._at_once(asked, now, evidence))._text(b"exchange.body") or ""

    def answer_verify_receipt(
        self,
        body: SignedText,
        endpoint: str,
        evidence: Evidence | Iterable[Evidence] = (),
        *,
        refusals: str = "documented",
        base64: str = "apple",
        ended: str = "expired",
        mark: bool = True,
        now: Time | None = None,
    ) -> VerifyReceiptAnswer:
        """Answer a request to Apple's deprecated verifyReceipt endpoint offline, in Apple's
        words. Send `body` of the answer with its `http_status`, whatever it is.

        body      the body of the HTTP request, as it came
        endpoint  the endpoint that is answered for: "Production" or "Sandbox"
        evidence  facts or documents that are newer than the receipt, up to 64. What is about
                  no purchase of the receipt is left out
        refusals  "documented": what does not verify is 21003; "measured": 21002, as Apple
                  answers
        base64    "tolerant" also takes encodings that Apple turns away
        ended     "later": a subscription that has ended, with nothing newer known, is 21005,
                  so that the client asks again
        mark      whether the answer has the member `assay`, which says that it is not Apple's

        A refused receipt is an answer and not an error: `apple_status` is 0 or 21006 only for
        a receipt that verified. Raises MisuseError for an endpoint whose environment the
        configuration does not accept.
        """
        from .receipts import VerifyReceiptAnswer

        request = {
            "operation": "answer-verify-receipt",
            "endpoint": endpoint,
            "body": {"base64": _base64_text(_octets(body))},
            "refusals": refusals,
            "base64": base64,
            "ended": ended,
            "mark": mark,
        }
        document = self._at_once(request, now, evidence)
        if document.status.startswith(("misuse.", "config.")):
            raise refusal(document)
        return VerifyReceiptAnswer(document, "exchange.answer")

    def _talked(
        self,
        request: Mapping[str, Any],
        evidence: Evidence | Iterable[Evidence],
        send: Send | None,
    ) -> Document:
        """Return the accepted result of an exchange over the network."""
        with self.exchange(request, evidence) as exchange:
            return _accepted(exchange.run(send))

    def normalize_key_id(self, key_id: SignedText) -> str:
        """Return the normal form of an App Attest key identifier: standard base64, as in `key_id`
        of an Attestation. Look keys up by this form only.

        key_id  as the app sent it: base64, base64url without padding, or hex

        Raises MalformedError for any other text.
        """
        text = _octets(key_id).decode("utf-8", "replace")
        request = {"operation": "normalize-key-id", "keyId": text}
        return _accepted(self._at_once(request, None))._text(b"exchange.keyId") or ""

    def assess_risk(self, observations: Mapping[str, Any], now: Time | None = None) -> Risk:
        """Assess what to do with a request by the observations about it, for devices that
        can attest and for those that cannot.

        observations  a mapping: `request` and `attestation`, and whatever else is known
                      (docs/risk.md). `deviceCheck` may be what `read_device_check_response`
                      returned

        A verdict other than allow is a result, not an error. Raises MalformedError
        (malformed.risk.input, with the member in `at`) for an unknown member or
        value: a misspelt one must not lower the risk.
        """
        from .attest import DeviceCheck, Risk

        if hasattr(observations, "keys"):
            observations = {
                name: value.payload if isinstance(value, DeviceCheck) else value
                for name, value in observations.items()
            }
        document = self._at_once({"operation": "assess-risk", "observations": observations}, now)
        if document.code and not document.status.startswith("rejected.risk."):
            raise refusal(document)
        return Risk(document, "risk")

    # ---- refunds

    def assess_refund(
        self, case: Mapping[str, Any], observations: Mapping[str, Any], now: Time | None = None
    ) -> RefundAnswer:
        """Decide by the rules of `refunds` what to answer when Apple asks about a refund.

        case          a mapping: the purchase that Apple asks about
        observations  a mapping: the customer's consent, usage, delivery
                      (docs/tasks/refund-answers.md)

        Send `request` of the answer by `Verifier.exchange`, and nothing else: it is None unless
        the answer is "send". Every answer is a result, not an error. Raises MalformedError
        (malformed.refund.input, with the member in `at`) for an unknown, missing or wrong
        member.
        """
        from .refunds import RefundAnswer

        request = {"operation": "assess-refund", "case": case, "observations": observations}
        document = self._at_once(request, now)
        answered_by_rules = ("rejected.refund.", "unavailable.refund.")
        if document.code and not document.status.startswith(answered_by_rules):
            raise refusal(document)
        return RefundAnswer(document, "exchange.refund")

    def compute_refund_units(
        self,
        units: int,
        *,
        percentage: int | None = None,
        revocation_type: str | None = None,
        product_type: str | None = None,
        granted_units: int | None = None,
    ) -> RefundUnits:
        """Return how many units a revocation takes back, and how many stay with the customer.

        units            what was promised when the purchase was claimed
        percentage       the `revocation_percentage` of the transaction; None: all of it
        revocation_type  its `revocation_type`: without a percentage, REFUND_PRORATED is a share
                         that is not known, and nothing is taken
        product_type     its `type`; only consumables, which is the default, are divided
        granted_units    what the customer was given and was not taken back; None: `units`

        Raises MisuseError for a number out of range and for another type.
        """
        from .refunds import RefundUnits

        request = _given(
            {
                "operation": "compute-refund-units",
                "units": units,
                "percentage": percentage,
                "revocationType": revocation_type,
                "type": product_type,
                "grantedUnits": granted_units,
            }
        )
        document = _accepted(self._at_once(request, None))
        return RefundUnits(document.json["exchange"]["units"])

    # ---- classes by task

    @property
    def signer(self) -> Signer:
        """Signs tokens and offers: `verifier.signer.sign_api_token()` …"""
        if self._signer is None:
            from .signer import Signer

            self._signer = Signer(self._at_once)
        return self._signer

    @property
    def sessions(self) -> Sessions:
        """Issues and verifies session tokens: `verifier.sessions.issue_session(…)` …"""
        if self._sessions is None:
            from .sessions import Sessions

            self._sessions = Sessions(self._at_once)
        return self._sessions

    @property
    def device_check(self) -> DeviceCheckClient:
        """Calls Apple's DeviceCheck: `verifier.device_check.query_device_bits(…)` …"""
        if self._device_check is None:
            from .device_check import DeviceCheckClient

            self._device_check = DeviceCheckClient(self._talked)
        return self._device_check

    # ---- exchanges

    def exchange(
        self,
        request: Mapping[str, Any] | str | bytes,
        evidence: Evidence | Iterable[Evidence] = (),
        now: Time | None = None,
    ) -> Exchange:
        """Start an exchange with the network or a ledger (docs/exchanges.md).

        request   a mapping, or JSON in a str or bytes: `operation` and its members
        evidence  facts or documents of this verifier (or one with the same
                  configuration) that the exchange is about
        now       the time of the exchange, for all of its decisions

        An operation without steps is `done` at once, and a refusal is a result, not
        an error: check `document`. Raises MisuseError for a request or
        evidence that is not of its form; TypeError and ValueError for arguments of
        a wrong type, or a closed verifier.
        """
        from .exchange import Exchange, start

        return Exchange(*start(self._open(), request, evidence, now))

    def app_store(
        self,
        environment: str = "Production",
        *,
        bundle_id: str | None = None,
        attempts: int | None = None,
        partial: bool | None = None,
        values: str | None = None,
    ) -> AppStore:
        """Return the App Store Server API, as exchanges. Needs the block `appStoreServerApi`.

        environment  "Production", "Sandbox", or "auto": Production, then Sandbox if
                     Production does not have the transaction
        bundle_id    that of the app; None if only one app is configured
        attempts     1 to 5 for each page; None: 3
        partial      whether verified evidence is returned beside refused evidence
        values       "strict": a value that Apple has not documented is refused; None: it is sent,
                     with a warning
        """
        from .app_store import AppStore

        common = _given({"environment": environment, "bundleId": bundle_id})
        options = {"attempts": attempts, "partial": partial, "values": values}
        return AppStore(self.exchange, common, _given(options))

    # ---- decision

    def decide(
        self,
        evidence: Evidence | Iterable[Evidence],
        account: str | UUID | None = None,
        now: Time | None = None,
    ) -> Decision:
        """Decide plan, state and the time of the next check, from verified evidence.

        evidence  facts or documents of this verifier (or one with the same
                  configuration): of JWS, receipts and verifyReceipt responses, in any
                  mixture; a renewal info needs its transaction beside it. Facts
                  nested in a notification count as the whole notification.
        account   appAccountToken that the evidence must carry, a UUID; for None
                  `decision.accountToken` of the configuration defines the check
        now       as in `verify_transaction`

        Not entitled is a result, not an error: the decision's `entitled` is then
        False, and `state` states why. Raises RejectedError if the evidence is of
        another account, names none or is not enough, MisuseError if it was refused or
        is no evidence, or if the account is not a UUID.
        """
        documents = documents_of(evidence)
        array, count = handles_of(documents)
        token = None if account is None else str(account).encode("utf-8", "surrogatepass")
        answer = OwnedDocument()
        code = _decide(
            self._open(),
            array,
            count,
            token,
            len(token or b""),
            milliseconds(now),
            answer,
        )
        document = answered(answer, code)
        if code and document.status != "rejected.decision.not-entitled":
            raise refusal(document)
        return Decision(document, "decision")

    @staticmethod
    def check_expiry(
        expires: Time | None,
        grace: Time | None = None,
        revoked: Time | None = None,
        now: Time | None = None,
    ) -> Expiry:
        """Check whether a stored date is still in force, as `assay.check_expiry` does."""
        return check_expiry(expires, grace, revoked, now)

    # ---- the verifier itself

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The configuration with every default filled in, read-only. Keys and
        secrets read as True."""
        configuration: Mapping[str, Any] = self._document.json["configuration"]
        return configuration

    @property
    def document(self) -> Document:
        """The document of kind "configuration", with its warnings."""
        return self._document

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def close(self) -> None:
        """Free the verifier. Calls in progress finish first; later ones raise ValueError. Documents
        remain valid. Closing twice is allowed."""
        self._handle = None

    def __enter__(self) -> Verifier:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<assay.Verifier{' (closed)' if self.closed else ''}>"

    def __copy__(self) -> Verifier:
        return self

    def __deepcopy__(self, memo: object) -> Verifier:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Verifier cannot be pickled: make one in each process")

    def _open(self) -> OwnedVerifier:
        """Return the handle; holding it keeps the verifier alive."""
        handle = self._handle
        if handle is None:
            raise ValueError("the verifier is closed")
        return handle

    def _answer(self, kind: int, jws: SignedText, now: Time | None) -> Document:
        handle = self._handle
        if handle is None:
            raise ValueError("the verifier is closed")
        text = _octets(jws)
        answer = OwnedDocument()
        code = _verify_jws(
            handle,
            kind,
            text,
            len(text),
            time_ns() // 1_000_000 if now is None else milliseconds(now),
            answer,
        )
        return answered(answer, code)

    def _verified(self, kind: int, jws: SignedText, now: Time | None) -> Document:
        return _accepted(self._answer(kind, jws, now))

    def _receipt(
        self, kind: int, receipt: SignedText, subject: bytes | None, now: Time | None
    ) -> Document:
        text = _octets(receipt)
        answer = OwnedDocument()
        code = _verify_receipt(
            self._open(),
            kind,
            text,
            len(text),
            subject,
            len(subject or b""),
            milliseconds(now),
            answer,
        )
        return answered(answer, code)

    def _at_once(
        self,
        request: Mapping[str, Any],
        now: Time | None,
        evidence: Evidence | Iterable[Evidence] = (),
    ) -> Document:
        """Return the document of an operation without steps."""
        text = json_octets(request, "request")
        documents = documents_of(evidence)
        array, count = handles_of(documents)
        answer = OwnedDocument()
        code = _call(
            self._open(), text, len(text), array, count, milliseconds(now), answer
        )
        return answered(answer, code)

    def _answer_read(self, body: SignedText, now: Time | None) -> Document:
        text = _octets(body)
        answer = OwnedDocument()
        code = _read_verify_receipt_response(
            self._open(), text, len(text), milliseconds(now), answer
        )
        return answered(answer, code)


class Expiry:
    """The result of `check_expiry`; true in a condition if still in force.

    in_force  bool: whether the date is still in force
    code      int: the status as a number
    status    str: "ok", "rejected.expiry.expired" or "rejected.expiry.revoked"
    """

    __slots__ = ("code",)

    code: int

    def __init__(self, code: int) -> None:
        self.code = code

    @property
    def in_force(self) -> bool:
        return self.code == 0

    @property
    def status(self) -> str:
        return status_name(self.code)

    def __bool__(self) -> bool:
        return self.code == 0

    def __repr__(self) -> str:
        return f"Expiry({self.status!r})"


def check_expiry(
    expires: Time | None,
    grace: Time | None = None,
    revoked: Time | None = None,
    now: Time | None = None,
) -> Expiry:
    """Check whether a stored date is still in force. For hot paths: needs no evidence.

    expires  end of the paid period; None: there is no such date; FOREVER: no end
    grace    end of the billing grace period, or None
    revoked  time of the refund or revocation, or None
    now      None: the system's clock

    Each is an int (ms since 1970 UTC) or an aware datetime. In force means not revoked,
    and now < expires or now < grace; without both dates it is never in force. Raises
    MisuseError for a `now` outside 2008 … 2100.
    """
    code = _functions.assay_check_expiry(
        _date(expires, "expires"),
        _date(grace, "grace"),
        _date(revoked, "revoked"),
        milliseconds(now),
    )
    if code & 0xFF not in (_c.ASSAY_OK, _c.ASSAY_REJECTED):
        raise refusal_of_status(code)
    return Expiry(code)


def _date(moment: Time | None, name: str) -> int:
    if moment is None:
        return _c.ASSAY_NO_DATE
    date = milliseconds(moment, name)
    if (isinstance(moment, int) and date != moment) or date == _c.ASSAY_NO_DATE:
        raise ValueError(f"{name} does not fit in 64 bits")
    return date


def _device(subject: Device | str | None) -> bytes | None:
    """Return the bytes of a vendor id or a MAC address."""
    if subject is None or isinstance(subject, bytes):
        return subject
    if isinstance(subject, (bytearray, memoryview)):
        return bytes(subject)
    octets = getattr(subject, "bytes", None)  # a uuid.UUID, without importing that module
    if not isinstance(octets, bytes):
        raise TypeError(f"subject is a UUID or bytes, not {type(subject).__name__}")
    return octets


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _base64_octets(evidence: SignedText) -> bytes:
    """Return the bytes of an object of App Attest: a str is base64 of them, standard or URL-safe.
    Text that is not base64 is passed on unchanged, for the library to refuse."""
    octets = _octets(evidence)
    if not isinstance(evidence, str):
        return octets
    digits = octets.replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    if digits.translate(None, _BASE64) or len(digits) % 4 == 1:
        return octets
    from binascii import a2b_base64

    return a2b_base64(digits + b"=" * (-len(digits) % 4))


def _public_key(key: Any) -> bytes:
    if not isinstance(key, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"public_key is bytes or base64 text, not {type(key).__name__}")
    return _base64_octets(key)


def _client_data(data: SignedText | None, digest: Octets | None) -> tuple[int, bytes]:
    """Return the kind of the client data and their bytes; exactly one argument must be given."""
    if (data is None) == (digest is None):
        raise TypeError("give either client_data or client_data_hash")
    if data is not None:
        return _c.ASSAY_CLIENT_DATA, _octets(data)
    if isinstance(digest, str):
        raise TypeError("client_data_hash is bytes, not str")
    return _c.ASSAY_CLIENT_DATA_HASH, _octets(digest)  # type: ignore[arg-type]


def _integer(value: int, name: str, end: int | None = None) -> int:
    """Return the value if it fits, because ctypes would truncate it silently."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if end is not None and not 0 <= value < end:
        raise ValueError(f"{name} must be 0 … {end - 1}")
    return value
