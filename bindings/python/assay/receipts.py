"""Typed facts of receipts, of triage and of answers of Apple's verifyReceipt.

The same rules as in `facts`: Apple's names in snake_case, times as integer
milliseconds since 1970 UTC with an aware datetime beside them (`_at`), ids as str,
None for what is absent. There is no signed JSON here: `payload` is the JSON of the
facts themselves, with members that this version does not know.

Loaded at the first use: `import assay` and the verification of JWS do without it.
"""

from __future__ import annotations

from . import _prototypes as _c
from ._members import boolean, details, details_list, integer, moment, text, texts, time
from .facts import Certificate, Details, Facts, Keys, Members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from .documents import Document


# ---- what receipts have in common --------------------------------------------


class Transport(Details):
    """How the evidence was packed when it came."""

    __slots__ = ()
    _shown = ("form", "levels", "space_as_plus")

    form: str | None = text("form", '"raw", "base64" or "base64-twice".')
    levels: int | None = integer("levels", "How many times it was base64: 0, 1 or 2.")
    space_as_plus: bool | None = boolean(
        "spaceAsPlus", "Whether spaces had to be read as +: a form field decoded twice."
    )


class Intermediate(Certificate):
    """The certificate of Apple's that signed the leaf."""

    __slots__ = ()
    _shown = ("sha256", "source")

    source: str | None = text("source", '"shipped", "configured" or "embedded".')


class ReceiptChain(Details):
    """The certificate path that signed the receipt."""

    __slots__ = ()
    _shown = ("cached",)

    leaf: Certificate | None = details("leaf", Certificate, "The signing certificate.")
    intermediate: Intermediate | None = details(
        "intermediate", Intermediate, "Apple's intermediate; None in the Xcode profile."
    )
    root: Certificate | None = details(
        "root", Certificate, "The pinned root; None in the Xcode profile."
    )
    cached: bool | None = boolean("cached", "Whether the path was proven by an earlier call.")


class Receipt(Facts):
    """What the facts of both kinds of receipt, and of an answer, have in common."""

    __slots__ = ()

    environment: str | None = text("environment", '"Production", "Sandbox" or "Xcode".')
    bundle_id: str | None = text("bundleId", "The app.")

    @property
    def payload(self) -> Mapping[str, Any]:
        """The facts' own JSON, read-only, with members that this version does not know."""
        return self._members()


# ---- transaction receipts ----------------------------------------------------


class TransactionReceipt(Receipt):
    """One purchase, restore or renewal, as apps of iOS 3 to 6 sent it.

    It states the past: it can show neither a refund nor whether the subscription
    renewed. It is not bound to a device or an account: whoever has the text can
    send it. Pay out once per `keys.purchase`.
    """

    __slots__ = ()
    _shown = ("environment", "product_id", "transaction_id", "expires_date")

    version: int | None = integer("version", "Of the signature: 2 (until 2016) or 3.")
    product_id: str | None = text("productId", "What was bought.")
    quantity: int | None = integer("quantity", "How many were bought.")
    transaction_id: str | None = text("transactionId", "This purchase, restore or renewal.")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    web_order_line_item_id: str | None = text(
        "webOrderLineItemId", "One paid period, the same on all devices."
    )
    purchase_date: int | None = time("purchaseDate", "Purchase, restore, start of the period.")
    purchase_at: datetime | None = moment("purchaseDate")
    original_purchase_date: int | None = time("originalPurchaseDate", "The first purchase.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expires_date: int | None = time("expiresDate", "End of the paid period.")
    expires_at: datetime | None = moment("expiresDate")
    is_trial_period: bool | None = boolean("isTrialPeriod", "A free trial.")
    is_in_intro_offer_period: bool | None = boolean(
        "isInIntroOfferPeriod", "An introductory price."
    )
    bundle_version: str | None = text("bundleVersion", "Version of the app, free text.")
    item_id: str | None = text("itemId", "Apple's number of the product.")
    app_item_id: str | None = text("appItemId", "Apple's number of the app.")
    version_external_identifier: str | None = text(
        "versionExternalIdentifier", "Apple's number of the app's version."
    )
    environment_source: str | None = text(
        "environmentSource",
        '"transaction-id", which is signed; None where that id tells nothing.',
    )
    outer_altered: bool | None = boolean(
        "outerAltered", "The unsigned outer keys contradict the signed transaction id."
    )
    signed_after_purchase: bool | None = boolean(
        "signedAfterPurchase", "Signed by a certificate that is younger than the purchase."
    )
    weak_key: bool | None = boolean("weakKey", "Version 2: rests on 1,024-bit RSA.")
    unique_identifier: str | None = text(
        "uniqueIdentifier", "Device id; only with `receipts.deviceIds: report`."
    )
    unique_vendor_identifier: str | None = text(
        "uniqueVendorIdentifier", "Vendor id; only with `receipts.deviceIds: report`."
    )
    keys: Keys | None = details("keys", Keys, "Names for stores and replay checks.")
    chain: ReceiptChain | None = details("chain", ReceiptChain, "The certificates.")
    transport: Transport | None = details("transport", Transport, "How it was packed.")


# ---- app receipts ------------------------------------------------------------


class AppReceiptPurchase(Details):
    """One purchase in an app receipt."""

    __slots__ = ()
    _shown = ("product_id", "transaction_id", "expires_date", "cancellation_date")

    product_id: str | None = text("productId", "What was bought.")
    transaction_id: str | None = text("transactionId", "This purchase, restore or renewal.")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    web_order_line_item_id: str | None = text(
        "webOrderLineItemId", "One paid period, the same on all devices."
    )
    quantity: int | None = integer("quantity", "How many were bought.")
    type: str | None = text(
        "type",
        '"Auto-Renewable Subscription", "Non-Consumable", "Consumable", '
        '"Non-Renewing Subscription" or "Free Subscription"; None from Xcode.',
    )
    purchase_date: int | None = time("purchaseDate", "Purchase, restore, start of the period.")
    purchase_at: datetime | None = moment("purchaseDate")
    original_purchase_date: int | None = time("originalPurchaseDate", "The first purchase.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expires_date: int | None = time("expiresDate", "End of the paid period.")
    expires_at: datetime | None = moment("expiresDate")
    cancellation_date: int | None = time("cancellationDate", "When it was refunded.")
    cancellation_at: datetime | None = moment("cancellationDate")
    cancellation_reason: int | None = integer(
        "cancellationReason", "1: an issue with the app; 0: another reason."
    )
    is_trial_period: bool | None = boolean("isTrialPeriod", "A free trial.")
    is_in_intro_offer_period: bool | None = boolean(
        "isInIntroOfferPeriod", "An introductory price."
    )
    promotional_offer_id: str | None = text("promotionalOfferId", "Promotional offer.")
    known: bool | None = boolean("known", "Whether the catalogue has the product.")
    environment: str | None = text("environment", "That of the receipt.")
    id_conflict: bool | None = boolean(
        "idConflict", "The transaction id looks like one of another environment."
    )
    keys: Keys | None = details("keys", Keys, "Names for stores and replay checks.")


class KeptAttribute(Details):
    """An attribute of the receipt that has no member of its own."""

    __slots__ = ()
    _shown = ("type", "hex")

    type: int | None = integer("type", "Its number.")
    hex: str | None = text("hex", "Its value, hex.")


class AppReceipt(Receipt):
    """All purchases of an app on one device, as of `creation_date`.

    Consumables vanish from it once they are finished, so an empty list proves
    nothing. Unless `device_bound`, the same text can come from any device.
    """

    __slots__ = ()
    _shown = ("environment", "bundle_id", "creation_date", "device_bound")

    type: str | None = text(
        "type",
        '"Production", "ProductionSandbox", "ProductionVPP", "ProductionVPPSandbox" '
        'or "Xcode".',
    )
    application_version: str | None = text("applicationVersion", "Version of the app.")
    original_application_version: str | None = text(
        "originalApplicationVersion", "Version first bought; a dummy in Sandbox."
    )
    creation_date: int | None = time("creationDate", "When it was made and signed.")
    creation_at: datetime | None = moment("creationDate")
    as_of: int | None = time("asOf", "As of when it speaks.")
    as_of_at: datetime | None = moment("asOf")
    original_purchase_date: int | None = time("originalPurchaseDate", "First download.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expiration_date: int | None = time(
        "expirationDate", "End of a volume purchase; None beyond 2100 (see `payload`)."
    )
    expiration_at: datetime | None = moment("expirationDate")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    download_id: str | None = text("downloadId", "Apple's number of the download.")
    version_external_identifier: int | None = integer(
        "versionExternalIdentifier", "Apple's number of the app's version."
    )
    device_bound: bool | None = boolean(
        "deviceBound", "Whether it was checked to belong to the device given."
    )
    purchases: tuple[AppReceiptPurchase, ...] = details_list(
        "purchases", AppReceiptPurchase, "In the order of the receipt, which means nothing."
    )
    kept_attributes: tuple[KeptAttribute, ...] = details_list(
        "keptAttributes", KeptAttribute, "Attributes that are known but not understood."
    )
    unknown_attributes: int | None = integer("unknownAttributes", "How many more there were.")
    digest: str | None = text("digest", '"sha1" or "sha256".')
    chain: ReceiptChain | None = details("chain", ReceiptChain, "The certificates.")
    transport: Transport | None = details("transport", Transport, "How it was packed.")


# ---- answers of verifyReceipt ------------------------------------------------


class AppleTransaction(Details):
    """One transaction of an answer. Apple's TLS connection vouches for it, alone."""

    __slots__ = ()
    _shown = ("product_id", "transaction_id", "expires_date", "cancellation_date")

    product_id: str | None = text("productId", "What was bought.")
    transaction_id: str | None = text("transactionId", "This purchase, restore or renewal.")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    web_order_line_item_id: str | None = text(
        "webOrderLineItemId", "One paid period, the same on all devices."
    )
    quantity: int | None = integer("quantity", "How many were bought.")
    purchase_date: int | None = time("purchaseDate", "Purchase, restore, start of the period.")
    purchase_at: datetime | None = moment("purchaseDate")
    original_purchase_date: int | None = time("originalPurchaseDate", "The first purchase.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expires_date: int | None = time("expiresDate", "End of the paid period.")
    expires_at: datetime | None = moment("expiresDate")
    cancellation_date: int | None = time("cancellationDate", "When it was refunded.")
    cancellation_at: datetime | None = moment("cancellationDate")
    cancellation_reason: int | None = integer(
        "cancellationReason", "1: an issue with the app; 0: another reason."
    )
    is_trial_period: bool | None = boolean("isTrialPeriod", "A free trial.")
    is_in_intro_offer_period: bool | None = boolean(
        "isInIntroOfferPeriod", "An introductory price."
    )
    promotional_offer_id: str | None = text("promotionalOfferId", "Promotional offer.")
    offer_code_ref_name: str | None = text("offerCodeRefName", "Offer code.")
    in_app_ownership_type: str | None = text(
        "inAppOwnershipType", '"PURCHASED" or "FAMILY_SHARED".'
    )
    is_upgraded: bool | None = boolean("isUpgraded", "True: replaced by an upgrade.")
    subscription_group_identifier: str | None = text(
        "subscriptionGroupIdentifier", "Group of a subscription."
    )
    app_account_token: str | None = text("appAccountToken", "UUID that the app set.")
    known: bool | None = boolean("known", "Whether the catalogue has the product.")
    keys: Keys | None = details("keys", Keys, "Names for stores and replay checks.")
    bid: str | None = text("bid", "The app; iOS 6 style.")
    bvrs: str | None = text("bvrs", "Version of the app; iOS 6 style.")
    item_id: str | None = text("itemId", "Apple's number of the product; iOS 6 style.")
    app_item_id: int | None = integer("appItemId", "Apple's number of the app; iOS 6 style.")
    version_external_identifier: int | None = integer(
        "versionExternalIdentifier", "Apple's number of the version; iOS 6 style."
    )
    unique_identifier: str | None = text(
        "uniqueIdentifier", "Device id; only with `receipts.deviceIds: report`."
    )
    unique_vendor_identifier: str | None = text(
        "uniqueVendorIdentifier", "Vendor id; only with `receipts.deviceIds: report`."
    )


class AppleRenewal(Details):
    """What an answer says about the renewal of one line."""

    __slots__ = ()
    _shown = ("product_id", "original_transaction_id", "auto_renew_status")

    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    product_id: str | None = text("productId", "The product of this period.")
    auto_renew_product_id: str | None = text(
        "autoRenewProductId", "The product of the next period."
    )
    auto_renew_status: int | None = integer(
        "autoRenewStatus", "0 off, 1 on; not the state of the subscription."
    )
    is_in_billing_retry_period: bool | None = boolean(
        "isInBillingRetryPeriod", "Apple still tries to charge."
    )
    grace_period_expires_date: int | None = time(
        "gracePeriodExpiresDate", "End of the billing grace period."
    )
    grace_period_expires_at: datetime | None = moment("gracePeriodExpiresDate")
    expiration_intent: int | None = integer(
        "expirationIntent",
        "1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5 unknown.",
    )
    price_consent_status: int | None = integer(
        "priceConsentStatus", "0 asked, no answer; 1 agreed."
    )
    price_increase_status: int | None = integer(
        "priceIncreaseStatus", "0 asked, no answer; 1 agreed or only informed."
    )
    offer_code_ref_name: str | None = text("offerCodeRefName", "Offer code.")
    promotional_offer_id: str | None = text("promotionalOfferId", "Promotional offer.")


class LatestReceipt(Details):
    """`latest_receipt` of an answer, which is signed, verified offline in the call."""

    __slots__ = ()
    _shown = ("verified", "status")

    verified: bool | None = boolean("verified", "Store the text only when this is True.")
    status: str | None = text("status", 'Status of its verification: "ok", or why not.')
    sha256: str | None = text("sha256", "SHA-256 of its text, hex.")


class VerifyReceiptAnswer(Receipt):
    """What Apple's verifyReceipt endpoint answered: facts of class "apple-answer".

    Nothing of it is signed but `latest_receipt`: it is worth as much as the TLS
    connection that it came over.
    """

    __slots__ = ()
    _shown = ("apple_status", "style", "environment", "bundle_id", "as_of")

    apple_status: int | None = integer("appleStatus", "0; or 21006: valid, but ended.")
    style: str | None = text(
        "style", '"ios6" (about a transaction receipt) or "ios7" (about an app receipt).'
    )
    environment_source: str | None = text(
        "environmentSource", '"answer", "endpoint", "receipt-type" or "transaction-id".'
    )
    as_of: int | None = time("asOf", "As of when it speaks.")
    as_of_at: datetime | None = moment("asOf")
    clock_skew: int | None = integer(
        "clockSkew",
        "Milliseconds that Apple's clock is ahead; None within five minutes.",
    )
    request_date: int | None = time("requestDate", "Apple's clock at the answer.")
    request_at: datetime | None = moment("requestDate")
    cancellation_reason: int | None = integer(
        "cancellationReason", "1: an issue with the app; 0: another reason; iOS 6 style."
    )
    receipt_type: str | None = text("receiptType", '"Production", "ProductionSandbox" …')
    adam_id: int | None = integer("adamId", "Apple's number of the app.")
    app_item_id: int | None = integer("appItemId", "The same number.")
    application_version: str | None = text("applicationVersion", "Version of the app.")
    original_application_version: str | None = text(
        "originalApplicationVersion", "Version first bought; a dummy in Sandbox."
    )
    download_id: str | None = text("downloadId", "Apple's number of the download.")
    version_external_identifier: int | None = integer(
        "versionExternalIdentifier", "Apple's number of the version."
    )
    receipt_creation_date: int | None = time("receiptCreationDate", "Of the receipt sent.")
    receipt_creation_at: datetime | None = moment("receiptCreationDate")
    original_purchase_date: int | None = time("originalPurchaseDate", "First download.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expiration_date: int | None = time("expirationDate", "End of a volume purchase.")
    expiration_at: datetime | None = moment("expirationDate")
    preorder_date: int | None = time("preorderDate", "When it was pre-ordered.")
    preorder_at: datetime | None = moment("preorderDate")
    transactions: tuple[AppleTransaction, ...] = details_list(
        "transactions", AppleTransaction, "Each once, ordered by the end of the period."
    )
    renewals: tuple[AppleRenewal, ...] = details_list(
        "renewals", AppleRenewal, "Renewal facts, one a line."
    )
    latest_receipt: LatestReceipt | None = details(
        "latestReceipt", LatestReceipt, "The newest receipt, if the answer has one."
    )
    evidence: str | None = text("evidence", '"apple-answer".')


# ---- triage ------------------------------------------------------------------


class Claims(Members):
    """What an untrusted blob says of itself. Claims, not facts: anybody can write them."""

    __slots__ = ("_document", "_path")
    _shown = ("bundle_id", "product_id", "transaction_id", "environment")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._path = b"claimed."
        self._values = None

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document.json.get("claimed") or {}
        return self._values

    @property
    def payload(self) -> Mapping[str, Any]:
        """Every claim as JSON, read-only, with those that this version does not know."""
        return self._members()

    bundle_id: str | None = text("bundleId", "The app.")
    product_id: str | None = text("productId", "What was bought.")
    transaction_id: str | None = text("transactionId", "The purchase.")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    web_order_line_item_id: str | None = text("webOrderLineItemId", "One paid period.")
    purchase_date: int | None = time("purchaseDate", "When it was bought.")
    purchase_at: datetime | None = moment("purchaseDate")
    environment: str | None = text("environment", '"Production", "Sandbox" …')
    keys: tuple[str, ...] = texts(
        "keys",
        "To look up before verifying: for each purchase its transaction key, and its "
        "purchase key when that is another one.",
    )
    issuer: str | None = text("issuer", "A JWS alone: who is said to have made it.")
    app_id: str | None = text("appId", "An App Attest receipt alone: the whole App ID.")
    type: str | None = text(
        "type", 'An app receipt: "ProductionSandbox" …; App Attest: "ATTEST" or "RECEIPT".'
    )
    creation_date: int | None = time("creationDate", "Of an app or App Attest receipt.")
    creation_at: datetime | None = moment("creationDate")
    product_ids: tuple[str, ...] = texts("productIds", "An app receipt: at most 64 of them.")
    purchases: int | None = integer("purchases", "An app receipt: how many it lists.")
    complete: bool | None = boolean(
        "complete", "An app receipt: whether `keys` has every purchase of it."
    )


class Triage(Facts):
    """The library's finding about a blob that nobody verified.

    `worth_verifying` says whether to go on; otherwise `disposition` says what to
    tell the client, and `status` why. A finding is never evidence.
    """

    __slots__ = ()
    _shown = ("category", "form", "disposition", "next", "status")

    category: str | None = text(
        "category",
        '"candidate", "unconfirmed", "jws", "foreign", "cracker", "malformed", '
        '"unsupported".',
    )
    form: str | None = text(
        "form",
        '"transaction-receipt", "app-receipt", "attest-receipt", "jws", "cracker", '
        '"attestation", "assertion", "xml-plist", "binary-plist", "json", "unknown".',
    )
    disposition: str | None = text(
        "disposition",
        '"drop": the client may delete its copy; "keep": it keeps and retries; '
        '"resend": it sends its stored copy again.',
    )
    next: str | None = text(
        "next",
        '"lookup": look up `claimed.keys`, then verify; "verify": there is no key; "none".',
    )
    kind: str | None = text(
        "kind", 'What a JWS looks like: "transaction", "notification" …; None for others.'
    )
    traits: tuple[str, ...] = texts(
        "traits", 'Suspicions, never verdicts: "info-compact", "missing:bid" …'
    )
    transport: Transport | None = details("transport", Transport, "How it was packed.")

    @property
    def claimed(self) -> Claims:
        """What the blob says of itself. Never act on it: verify first."""
        return Claims(self._document)

    @property
    def worth_verifying(self) -> bool:
        """Whether to look it up, verify it, and only then decide."""
        return self._document.code & 0xFF == _c.ASSAY_PENDING

    @property
    def status(self) -> str:
        """Name of the status: "pending.triage.unverified", "rejected.triage.cracker" …"""
        return self._document.status

    @property
    def http_status(self) -> int | None:
        """What to answer the client when it ends here; None where it goes on."""
        from .errors import refusal

        return None if self.worth_verifying else refusal(self._document).http_status

    @property
    def payload(self) -> Mapping[str, Any]:
        """The finding's JSON, read-only, unknown members included."""
        return self._members()


# Kind of a document -> its facts and the member that holds them.
KINDS: dict[str, tuple[type[Facts], str]] = {
    "transaction-receipt": (TransactionReceipt, "transactionReceipt"),
    "app-receipt": (AppReceipt, "appReceipt"),
    "verify-receipt": (VerifyReceiptAnswer, "verifyReceipt"),
    "triage": (Triage, "triage"),
}
