"""Verify what Apple signs, in this process and offline, and decide who is entitled to what.

    import assay

    verifier = assay.Verifier({                     # once, when the process starts
        "apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890}],
        "plans": ["free", "premium"],
        "products": {"premium.monthly": {"plan": "premium", "type": "auto-renewable"}},
    })

    try:
        transaction = verifier.verify_transaction(jws)    # the text that the app sent
    except assay.RejectedError as refusal:                # not genuine, or of another app
        log.warning("%s", refusal)                        # rule, location and hint
        return refusal.http_status
    transaction.product_id, transaction.expires_at        # typed; None if absent

    decision = verifier.decide(transaction, account=user.token)
    plan = decision.plan if decision.entitled else "free"

    note = verifier.verify_notification(body["signedPayload"])
    note.notification_type, note.transaction, note.renewal_info  # all verified at once

    finding = verifier.triage(blob)                       # without cryptography
    if finding.worth_verifying:
        receipt = verifier.verify_app_receipt(blob)       # or verify_transaction_receipt

    key = verifier.verify_attestation(blob, key_id=key_id, client_data=challenge)
    assertion = verifier.verify_assertion(                # this request, from this device
        blob, public_key=key.public_key, counter=record.counter, client_data=body)
    keys = assay.Keyset(jwks)                             # once, and when it is refreshed
    token = verifier.verify_token(bearer, keys)           # the caller is token.subject
    risk = verifier.assess_risk({"request": "paid", "attestation": "unsupported"})

Keep the signed text in your database, not these objects: verify it again when needed.
Every refusal is an AssayError; `Verifier.verify` returns a Document instead.
"""

from __future__ import annotations

from ._kinds import facts_of as _facts_of
from ._library import functions as _functions
from ._library import path as _library_path
from ._version import __version__
from .documents import Check, Document, DocumentWarning
from .errors import (
    AssayError,
    ConfigError,
    InternalError,
    MalformedError,
    MisuseError,
    PendingError,
    RejectedError,
    TooLargeError,
    UnavailableError,
    UnsupportedError,
)
from .errors import refusal as _refusal
from .facts import (
    AppTransaction,
    CertificateRevocation,
    Decision,
    ExcludedTransaction,
    Facts,
    GroupDecision,
    Notification,
    RealtimeRequest,
    RenewalInfo,
    Revocation,
    Transaction,
)
from .verifier import FOREVER, Expiry, Verifier, check_expiry

# Set here, because these modules import the module of Document, which must not import them.
Document._refusal, Document._facts = _refusal, _facts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    from .keyset import Keyset
    from .receipts import (
        AppReceipt,
        AppReceiptPurchase,
        TransactionReceipt,
        Triage,
        UnverifiedContent,
        VerifyReceiptAnswer,
        VerifyReceiptRenewalInfo,
        VerifyReceiptResponse,
        VerifyReceiptTransaction,
    )
    from .refunds import RefundAnswer, RefundField, RefundUnits
    from .sessions import Sessions
    from .signer import Signer
    from .signing import (
        AppleAccountEvent,
        AppleTokens,
        ClientSecret,
        IssuedSession,
        Session,
        SignedInAppRequest,
        SignedOffer,
        SignedOfferV1,
        SignedToken,
    )
    from .store_answers import (
        AppStoreNext,
        AppStoreRefused,
        AppStoreResponse,
        AppStoreSendAttempt,
        AppStoreStatus,
        AppStoreUnsigned,
    )
    from .tokens import FetchedKeyset, IssuerKeys, KeysetState, Token

__all__ = [
    "FOREVER",
    "AppReceipt",
    "AppReceiptPurchase",
    "AppStore",
    "AppStoreNext",
    "AppStoreRefused",
    "AppStoreResponse",
    "AppStoreSendAttempt",
    "AppStoreStatus",
    "AppStoreUnsigned",
    "AppTransaction",
    "AppleAccountEvent",
    "AppleTokens",
    "AssayError",
    "Assertion",
    "AttestReceipt",
    "Attestation",
    "CertificateRevocation",
    "Check",
    "ClientSecret",
    "ConfigError",
    "Decision",
    "DeviceCheck",
    "DeviceCheckClient",
    "Document",
    "DocumentWarning",
    "Exchange",
    "ExcludedTransaction",
    "Expiry",
    "Facts",
    "FetchedKeyset",
    "GroupDecision",
    "InternalError",
    "IssuedSession",
    "IssuerKeys",
    "Keyset",
    "KeysetState",
    "MalformedError",
    "MisuseError",
    "Notification",
    "PendingError",
    "RealtimeRequest",
    "RefreshedReceipt",
    "RefundAnswer",
    "RefundField",
    "RefundUnits",
    "RejectedError",
    "RenewalInfo",
    "Revocation",
    "Risk",
    "Session",
    "Sessions",
    "SignedInAppRequest",
    "SignedOffer",
    "SignedOfferV1",
    "SignedToken",
    "Signer",
    "Token",
    "TooLargeError",
    "Transaction",
    "TransactionReceipt",
    "Triage",
    "UnavailableError",
    "UnsupportedError",
    "UnverifiedContent",
    "Verifier",
    "VerifyReceiptAnswer",
    "VerifyReceiptRenewalInfo",
    "VerifyReceiptResponse",
    "VerifyReceiptTransaction",
    "__version__",
    "build_info",
    "check_expiry",
    "library_path",
    "library_version",
]


# Maps each module to the names that are loaded from it on first use.
_LATER = {
    "AppReceipt": "receipts",
    "AppReceiptPurchase": "receipts",
    "AppStore": "app_store",
    "AppStoreResponse": "store_answers",
    "AppStoreNext": "store_answers",
    "AppStoreRefused": "store_answers",
    "AppStoreSendAttempt": "store_answers",
    "AppStoreStatus": "store_answers",
    "AppStoreUnsigned": "store_answers",
    "AppleAccountEvent": "signing",
    "AppleTokens": "signing",
    "Assertion": "attest",
    "AttestReceipt": "attest",
    "Attestation": "attest",
    "ClientSecret": "signing",
    "DeviceCheck": "attest",
    "DeviceCheckClient": "device_check",
    "Exchange": "exchange",
    "FetchedKeyset": "tokens",
    "IssuedSession": "signing",
    "IssuerKeys": "tokens",
    "Keyset": "keyset",
    "KeysetState": "tokens",
    "RefreshedReceipt": "attest",
    "RefundAnswer": "refunds",
    "RefundField": "refunds",
    "RefundUnits": "refunds",
    "Risk": "attest",
    "Session": "signing",
    "Sessions": "sessions",
    "SignedInAppRequest": "signing",
    "SignedOffer": "signing",
    "SignedOfferV1": "signing",
    "SignedToken": "signing",
    "Signer": "signer",
    "Token": "tokens",
    "TransactionReceipt": "receipts",
    "Triage": "receipts",
    "UnverifiedContent": "receipts",
    "VerifyReceiptAnswer": "receipts",
    "VerifyReceiptResponse": "receipts",
    "VerifyReceiptRenewalInfo": "receipts",
    "VerifyReceiptTransaction": "receipts",
}


def __getattr__(name: str) -> Any:
    """Load the classes of receipts and App Attest facts when their name is first used."""
    from importlib import import_module

    if name == "names":
        return import_module(".names", __name__)
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    found = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def library_path() -> str:
    """Return the name under which the library was loaded: a path or a name of the system's
    loader."""
    return _library_path


def library_version() -> str:
    """Return the version of the loaded library; `__version__` is that of the binding."""
    version: bytes = _functions.assay_version()
    return version.decode("ascii")


def build_info() -> dict[str, Any]:
    """Return how the loaded library was built: commit, compiler, libcrypto, features."""
    from json import loads

    info: dict[str, Any] = loads(_functions.assay_build_info())
    return info
