"""Typed facts: what a verified document says.

Names are Apple's in snake_case. Times are integer milliseconds since 1970 UTC
under Apple's name (`expires_date`) and aware datetimes under the same name with
`_at` (`expires_at`). Ids are str. Prices are thousandths of the currency unit.
Enum values are given as Apple writes them, new ones included.

What is absent, null, or not of its declared type reads as None. `payload` is the
signed JSON itself, with members that this version does not know.
"""

from __future__ import annotations

from ._members import (
    Member,
    boolean,
    details,
    details_list,
    integer,
    moment,
    text,
    texts,
    time,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, ClassVar, NoReturn

    from .documents import Document

_ReadOnly: Any = type(type.__dict__)


class Members:
    """What facts and the objects inside them have in common. Read-only."""

    __slots__ = ("_values",)

    _values: Mapping[str, Any] | None
    _path: bytes
    _document: Document
    _shown: ClassVar[tuple[str, ...]] = ()

    def _members(self) -> Mapping[str, Any]:
        raise NotImplementedError

    @property
    def payload(self) -> Mapping[str, Any]:
        """The JSON that the facts come from, read-only, unknown members included."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Every typed member by its Python name; objects as dict, times as int."""
        found: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            for name, member in vars(kind).items():
                if name.endswith("_at") or name in ("document", "payload"):
                    continue
                # Properties are what this version concludes: `Decision.entitled`.
                if isinstance(member, (Member, property)):
                    found[name] = _plain(getattr(self, name))
        return found

    def __repr__(self) -> str:
        shown = ((name, getattr(self, name)) for name in self._shown)
        inside = ", ".join(f"{name}={value!r}" for name, value in shown if value is not None)
        return f"{type(self).__name__}({inside})"


def _plain(value: Any) -> Any:
    if isinstance(value, Members):
        return value.as_dict()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return dict(value) if hasattr(value, "keys") else value


class Details(Members):
    """An object inside the facts."""

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def _members(self) -> Mapping[str, Any]:
        return self._values or {}

    @property
    def payload(self) -> Mapping[str, Any]:
        """This object's JSON, read-only, unknown members included."""
        return self._values or {}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.payload == other.payload

    __hash__ = None  # type: ignore[assignment]


class Facts(Members):
    """The facts of one document, or of one evidence nested in it.

    Made by a Verifier only; `Verifier.decide` takes them as evidence. Like the
    document they cannot be pickled: keep the signed text and verify it again.
    """

    __slots__ = ("_document", "_path")

    def __init__(self, document: Document, path: str) -> None:
        self._document = document
        self._path = path.encode() + b"."
        self._values = None

    @property
    def document(self) -> Document:
        """The whole answer: checks, warnings, JSON. Nested facts have the outer one."""
        return self._document

    @property
    def payload(self) -> Mapping[str, Any]:
        """The signed JSON, read-only, with members that this version does not know."""
        payload: Mapping[str, Any] = self._members().get("payload") or _ReadOnly({})
        return payload

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document._object(self._path)
        return self._values

    def __copy__(self) -> Facts:
        return self

    def __deepcopy__(self, memo: object) -> Facts:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} is proof in this process only: keep the signed text"
        )


# ---- what every signed evidence has ------------------------------------------


class EffectiveDate(Details):
    """The date at which the certificates were judged."""

    __slots__ = ()
    _shown = ("ms", "source")

    ms: int | None = time("ms", "The date.")
    ms_at: datetime | None = moment("ms")
    source: str | None = text(
        "source", 'Where it is from: "signedDate", "receiptCreationDate", "nested", "now".'
    )


class Certificate(Details):
    """One certificate of the chain."""

    __slots__ = ()
    _shown = ("sha256", "serial")

    sha256: str | None = text("sha256", "SHA-256 of its DER, hex.")
    serial: str | None = text("serial", "Serial number, hex.")
    not_before: int | None = time("notBefore", "First moment of validity.")
    not_before_at: datetime | None = moment("notBefore")
    not_after: int | None = time("notAfter", "Last second of validity.")
    not_after_at: datetime | None = moment("notAfter")


class Chain(Details):
    """The certificate chain that signed the evidence."""

    __slots__ = ()
    _shown = ("cached",)

    leaf: Certificate | None = details("leaf", Certificate, "The signing certificate.")
    intermediate: Certificate | None = details(
        "intermediate", Certificate, "Apple's intermediate; None in the Xcode profile."
    )
    root: Certificate | None = details(
        "root", Certificate, "The pinned root; None in the Xcode profile."
    )
    cached: bool | None = boolean("cached", "Whether the chain was proven by an earlier call.")


class Keys(Details):
    """Names under which a store keeps the evidence. None where a part is missing."""

    __slots__ = ()
    _shown = ("transaction", "purchase", "subscription", "notification", "app")

    transaction: str | None = text("transaction", "One signed transaction.")
    purchase: str | None = text("purchase", "What may be paid out once.")
    subscription: str | None = text("subscription", "One line of renewals.")
    notification: str | None = text("notification", "One notification: retries repeat it.")
    app: str | None = text("app", "One customer's download of the app.")


class Signed(Facts):
    """What the facts of every JWS have in common."""

    __slots__ = ()

    environment: str | None = text(
        "environment", '"Production", "Sandbox", "Xcode" or "LocalTesting".'
    )
    environment_source: str | None = text(
        "environmentSource", '"payload", or "transaction-id" when it was derived.'
    )
    bundle_id: str | None = text("bundleId", "The app.")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    effective_date: EffectiveDate | None = details(
        "effectiveDate", EffectiveDate, "When the certificates were judged."
    )
    keys: Keys | None = details("keys", Keys, "Names for stores and replay checks.")
    chain: Chain | None = details("chain", Chain, "The certificates.")


# ---- Advanced Commerce -------------------------------------------------------


class AdvancedCommerceDescriptors(Details):
    """Texts shown for an Advanced Commerce product."""

    __slots__ = ()
    _shown = ("display_name",)

    description: str | None = text("description", "At most 45 characters.")
    display_name: str | None = text("displayName", "At most 30 characters.")


class AdvancedCommerceOffer(Details):
    """A discount on one item."""

    __slots__ = ()
    _shown = ("period", "period_count", "price", "reason")

    period_count: int | None = integer("periodCount", "How many periods, 1 to 12.")
    price: int | None = integer("price", "Thousandths of the currency unit.")
    period: str | None = text("period", '"P3D", "P1W" … "P1Y".')
    reason: str | None = text("reason", '"ACQUISITION", "WIN_BACK" or "RETENTION".')


class AdvancedCommerceRefund(Details):
    """One refund of an item."""

    __slots__ = ()
    _shown = ("refund_type", "refund_amount", "refund_date")

    refund_amount: int | None = integer("refundAmount", "Thousandths of the currency unit.")
    refund_date: int | None = time("refundDate", "When it was refunded.")
    refund_at: datetime | None = moment("refundDate")
    refund_reason: str | None = text("refundReason", '"UNINTENDED_PURCHASE", "LEGAL" …')
    refund_type: str | None = text("refundType", '"FULL", "PRORATED" or "CUSTOM".')


class AdvancedCommercePriceIncreaseInfo(Details):
    """A price increase of one item."""

    __slots__ = ()
    _shown = ("status", "price")

    dependent_skus: tuple[str, ...] = texts("dependentSKUs", "Items whose price it follows.")
    price: int | None = integer("price", "Thousandths of the currency unit.")
    status: str | None = text("status", '"SCHEDULED", "PENDING" or "ACCEPTED".')


class AdvancedCommerceTransactionItem(Details):
    """One item that was bought. Decide by `sku`; it is revoked on its own."""

    __slots__ = ()
    _shown = ("sku", "price", "revocation_date")

    sku: str | None = text("SKU", "The item.")
    description: str | None = text("description", "Text shown.")
    display_name: str | None = text("displayName", "Name shown.")
    offer: AdvancedCommerceOffer | None = details("offer", AdvancedCommerceOffer, "Discount.")
    price: int | None = integer("price", "Thousandths of the currency unit.")
    refunds: tuple[AdvancedCommerceRefund, ...] = details_list(
        "refunds", AdvancedCommerceRefund, "Refunds of this item."
    )
    revocation_date: int | None = time("revocationDate", "When this item was revoked.")
    revocation_at: datetime | None = moment("revocationDate")


class AdvancedCommerceTransactionInfo(Details):
    """What an Advanced Commerce transaction bought."""

    __slots__ = ()
    _shown = ("request_reference_id", "period")

    descriptors: AdvancedCommerceDescriptors | None = details(
        "descriptors", AdvancedCommerceDescriptors, "Texts shown."
    )
    estimated_tax: int | None = integer("estimatedTax", "Thousandths of the currency unit.")
    items: tuple[AdvancedCommerceTransactionItem, ...] = details_list(
        "items", AdvancedCommerceTransactionItem, "The items."
    )
    period: str | None = text("period", '"P1W", "P1M" … "P1Y".')
    request_reference_id: str | None = text("requestReferenceId", "UUID of the request.")
    tax_code: str | None = text("taxCode", "Tax code.")
    tax_exclusive_price: int | None = integer(
        "taxExclusivePrice", "Thousandths of the currency unit."
    )
    tax_rate: str | None = text("taxRate", "Tax rate as text.")


class AdvancedCommerceRenewalItem(Details):
    """One item that renews."""

    __slots__ = ()
    _shown = ("sku", "price")

    sku: str | None = text("SKU", "The item.")
    description: str | None = text("description", "Text shown.")
    display_name: str | None = text("displayName", "Name shown.")
    offer: AdvancedCommerceOffer | None = details("offer", AdvancedCommerceOffer, "Discount.")
    price: int | None = integer("price", "Thousandths of the currency unit.")
    price_increase_info: AdvancedCommercePriceIncreaseInfo | None = details(
        "priceIncreaseInfo", AdvancedCommercePriceIncreaseInfo, "Price increase, if any."
    )


class AdvancedCommerceRenewalInfo(Details):
    """What an Advanced Commerce subscription renews into."""

    __slots__ = ()
    _shown = ("request_reference_id", "period")

    consistency_token: str | None = text("consistencyToken", "Token for changes.")
    descriptors: AdvancedCommerceDescriptors | None = details(
        "descriptors", AdvancedCommerceDescriptors, "Texts shown."
    )
    items: tuple[AdvancedCommerceRenewalItem, ...] = details_list(
        "items", AdvancedCommerceRenewalItem, "The items."
    )
    period: str | None = text("period", '"P1W", "P1M" … "P1Y".')
    request_reference_id: str | None = text("requestReferenceId", "UUID of the request.")
    tax_code: str | None = text("taxCode", "Tax code.")


# ---- the five kinds of JWS ---------------------------------------------------


class TransactionCommitmentInfo(Details):
    """A commitment over several billing periods."""

    __slots__ = ()
    _shown = ("billing_period_number", "total_billing_periods")

    billing_period_number: int | None = integer("billingPeriodNumber", "This period, 1 to 12.")
    commitment_expires_date: int | None = time("commitmentExpiresDate", "End of all periods.")
    commitment_expires_at: datetime | None = moment("commitmentExpiresDate")
    commitment_price: int | None = integer(
        "commitmentPrice", "Thousandths of the currency unit."
    )
    total_billing_periods: int | None = integer("totalBillingPeriods", "How many in all.")


class Transaction(Signed):
    """A purchase, restore or renewal that Apple signed."""

    __slots__ = ()
    _shown = ("environment", "product_id", "transaction_id", "expires_date", "revocation_date")

    signed_date: int | None = time("signedDate", "When Apple signed it.")
    signed_at: datetime | None = moment("signedDate")
    transaction_id: str | None = text("transactionId", "This purchase, restore or renewal.")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    web_order_line_item_id: str | None = text(
        "webOrderLineItemId", "One paid period, the same on all devices."
    )
    product_id: str | None = text("productId", "What was bought.")
    subscription_group_identifier: str | None = text(
        "subscriptionGroupIdentifier", "Group of a subscription."
    )
    type: str | None = text(
        "type",
        '"Auto-Renewable Subscription", "Non-Consumable", "Consumable" or '
        '"Non-Renewing Subscription".',
    )
    quantity: int | None = integer("quantity", "How many were bought.")
    in_app_ownership_type: str | None = text(
        "inAppOwnershipType", '"PURCHASED", "FAMILY_SHARED" or "ASSIGNED".'
    )
    purchase_date: int | None = time("purchaseDate", "When it was charged.")
    purchase_at: datetime | None = moment("purchaseDate")
    original_purchase_date: int | None = time(
        "originalPurchaseDate", "When the first purchase was charged."
    )
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    expires_date: int | None = time("expiresDate", "End of the paid period.")
    expires_at: datetime | None = moment("expiresDate")
    revocation_date: int | None = time(
        "revocationDate", "When it was refunded, or taken from Family Sharing."
    )
    revocation_at: datetime | None = moment("revocationDate")
    revocation_reason: int | None = integer(
        "revocationReason", "1: an issue with the app; 0: another reason."
    )
    revocation_type: str | None = text(
        "revocationType", '"REFUND_FULL", "REFUND_PRORATED" or "FAMILY_REVOKE".'
    )
    revocation_percentage: int | None = integer(
        "revocationPercentage", "Thousandths of a percent."
    )
    is_upgraded: bool | None = boolean("isUpgraded", "True: replaced by an upgrade.")
    offer_type: int | None = integer(
        "offerType", "1 introductory, 2 promotional, 3 offer code, 4 win-back."
    )
    app_account_token: str | None = text(
        "appAccountToken", "UUID that the app set, in lower case."
    )
    app_transaction_id: str | None = text(
        "appTransactionId", "The customer's download of the app."
    )
    previous_original_transaction_id: str | None = text(
        "previousOriginalTransactionId", "Id before a migration to Advanced Commerce."
    )
    offer_identifier: str | None = text("offerIdentifier", "Offer id or code.", signed=True)
    offer_period: str | None = text("offerPeriod", "ISO 8601 duration.", signed=True)
    offer_discount_type: str | None = text(
        "offerDiscountType",
        '"FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME".',
        signed=True,
    )
    storefront: str | None = text("storefront", "Country, three letters.", signed=True)
    storefront_id: str | None = text("storefrontId", "Apple's number of it.", signed=True)
    transaction_reason: str | None = text(
        "transactionReason", '"PURCHASE" or "RENEWAL".', signed=True
    )
    currency: str | None = text("currency", "ISO 4217.", signed=True)
    price: int | None = integer("price", "Thousandths of the currency unit.", signed=True)
    advanced_commerce_info: AdvancedCommerceTransactionInfo | None = details(
        "advancedCommerceInfo",
        AdvancedCommerceTransactionInfo,
        "Advanced Commerce only.",
        signed=True,
    )
    billing_plan_type: str | None = text(
        "billingPlanType", '"BILLED_UPFRONT" or "MONTHLY".', signed=True
    )
    commitment_info: TransactionCommitmentInfo | None = details(
        "commitmentInfo", TransactionCommitmentInfo, "Commitment, if any.", signed=True
    )
    device_verification: str | None = text(
        "deviceVerification", "Base64; only from a device.", signed=True
    )
    device_verification_nonce: str | None = text(
        "deviceVerificationNonce", "UUID; only from a device.", signed=True
    )


class RenewalCommitmentInfo(Details):
    """What a commitment renews into."""

    __slots__ = ()
    _shown = ("commitment_auto_renew_product_id", "commitment_renewal_date")

    commitment_auto_renew_product_id: str | None = text(
        "commitmentAutoRenewProductId", "Product of the next commitment."
    )
    commitment_auto_renew_status: int | None = integer(
        "commitmentAutoRenewStatus", "0 off, 1 on."
    )
    commitment_renewal_billing_plan_type: str | None = text(
        "commitmentRenewalBillingPlanType", '"BILLED_UPFRONT" or "MONTHLY".'
    )
    commitment_renewal_date: int | None = time("commitmentRenewalDate", "When it renews.")
    commitment_renewal_at: datetime | None = moment("commitmentRenewalDate")
    commitment_renewal_price: int | None = integer(
        "commitmentRenewalPrice", "Thousandths of the currency unit."
    )


class Renewal(Signed):
    """How a subscription goes on.

    It proves nothing about the app by itself: there is no bundle id in it. Decide
    with it only together with a transaction of the same `original_transaction_id`.
    """

    __slots__ = ()
    _shown = ("environment", "product_id", "original_transaction_id", "auto_renew_status")

    signed_date: int | None = time("signedDate", "When Apple signed it.")
    signed_at: datetime | None = moment("signedDate")
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
        "isInBillingRetryPeriod", "Apple still tries to charge; only when expired."
    )
    grace_period_expires_date: int | None = time(
        "gracePeriodExpiresDate", "End of the billing grace period."
    )
    grace_period_expires_at: datetime | None = moment("gracePeriodExpiresDate")
    renewal_date: int | None = time("renewalDate", "When the latest purchase ends or renews.")
    renewal_at: datetime | None = moment("renewalDate")
    expiration_intent: int | None = integer(
        "expirationIntent",
        "1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5 other.",
    )
    offer_type: int | None = integer(
        "offerType", "1 introductory, 2 promotional, 3 offer code, 4 win-back."
    )
    app_account_token: str | None = text(
        "appAccountToken", "UUID that the app set, in lower case."
    )
    app_transaction_id: str | None = text(
        "appTransactionId", "The customer's download of the app."
    )
    price_increase_status: int | None = integer(
        "priceIncreaseStatus", "0 not answered, 1 consented or only informed.", signed=True
    )
    offer_identifier: str | None = text("offerIdentifier", "Offer id or code.", signed=True)
    offer_period: str | None = text("offerPeriod", "ISO 8601 duration.", signed=True)
    offer_discount_type: str | None = text(
        "offerDiscountType",
        '"FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME".',
        signed=True,
    )
    recent_subscription_start_date: int | None = time(
        "recentSubscriptionStartDate", "Start of the series of renewals.", signed=True
    )
    recent_subscription_start_at: datetime | None = moment(
        "recentSubscriptionStartDate", signed=True
    )
    currency: str | None = text("currency", "ISO 4217.", signed=True)
    renewal_price: int | None = integer(
        "renewalPrice", "Thousandths of the currency unit.", signed=True
    )
    eligible_win_back_offer_ids: tuple[str, ...] = texts(
        "eligibleWinBackOfferIds", "Offers to win the customer back, best first.", signed=True
    )
    advanced_commerce_info: AdvancedCommerceRenewalInfo | None = details(
        "advancedCommerceInfo",
        AdvancedCommerceRenewalInfo,
        "Advanced Commerce only.",
        signed=True,
    )
    commitment_info: RenewalCommitmentInfo | None = details(
        "commitmentInfo", RenewalCommitmentInfo, "Commitment, if any.", signed=True
    )
    renewal_billing_plan_type: str | None = text(
        "renewalBillingPlanType", '"BILLED_UPFRONT" or "MONTHLY".', signed=True
    )
    device_verification: str | None = text(
        "deviceVerification", "Base64; only from a device.", signed=True
    )
    device_verification_nonce: str | None = text(
        "deviceVerificationNonce", "UUID; only from a device.", signed=True
    )


class AppTransaction(Signed):
    """The customer's download of the app."""

    __slots__ = ()
    _shown = ("environment", "bundle_id", "app_transaction_id")

    receipt_creation_date: int | None = time("receiptCreationDate", "When it was signed.")
    receipt_creation_at: datetime | None = moment("receiptCreationDate")
    receipt_type: str | None = text("receiptType", "The environment, as signed.")
    original_purchase_date: int | None = time("originalPurchaseDate", "First download.")
    original_purchase_at: datetime | None = moment("originalPurchaseDate")
    app_transaction_id: str | None = text(
        "appTransactionId", "One per Apple Account and app."
    )
    application_version: str | None = text(
        "applicationVersion", "Version that asked.", signed=True
    )
    version_external_identifier: int | None = integer(
        "versionExternalIdentifier", "Apple's number of the version.", signed=True
    )
    original_application_version: str | None = text(
        "originalApplicationVersion", "Version first bought; a dummy in Sandbox.", signed=True
    )
    device_verification: str | None = text("deviceVerification", "Base64.", signed=True)
    device_verification_nonce: str | None = text(
        "deviceVerificationNonce", "UUID.", signed=True
    )
    preorder_date: int | None = time("preorderDate", "When it was pre-ordered.", signed=True)
    preorder_at: datetime | None = moment("preorderDate", signed=True)
    original_platform: str | None = text(
        "originalPlatform", '"iOS", "macOS", "tvOS" or "visionOS".', signed=True
    )
    request_date: int | None = time("requestDate", "Xcode only.", signed=True)
    request_at: datetime | None = moment("requestDate", signed=True)


class RealtimeRequest(Signed):
    """Apple asks which retention message to show; answer in about 700 ms."""

    __slots__ = ()
    _shown = ("environment", "product_id", "request_identifier")

    signed_date: int | None = time("signedDate", "When Apple signed it.")
    signed_at: datetime | None = moment("signedDate")
    original_transaction_id: str | None = text(
        "originalTransactionId", "The first purchase of the line."
    )
    product_id: str | None = text("productId", "The subscription.")
    request_identifier: str | None = text("requestIdentifier", "UUID to repeat in the answer.")
    user_locale: str | None = text("userLocale", "The customer's locale.", signed=True)


class NotificationData(Details):
    """The body `data`. The JWS in it are verified: see the notification's facts."""

    __slots__ = ()
    _shown = ("environment", "bundle_id", "status")

    environment: str | None = text("environment", "Where it happened.")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    bundle_id: str | None = text("bundleId", "The app.")
    bundle_version: str | None = text("bundleVersion", "Version of the app.")
    signed_transaction_info: str | None = text("signedTransactionInfo", "JWS text.")
    signed_renewal_info: str | None = text("signedRenewalInfo", "JWS text.")
    status: int | None = integer(
        "status", "1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked."
    )
    consumption_request_reason: str | None = text(
        "consumptionRequestReason", "Why the customer asks for a refund."
    )


class NotificationSummary(Details):
    """The body `summary`: the end of a mass extension."""

    __slots__ = ()
    _shown = ("environment", "product_id", "succeeded_count", "failed_count")

    environment: str | None = text("environment", "Where it happened.")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    bundle_id: str | None = text("bundleId", "The app.")
    product_id: str | None = text("productId", "The product that was extended.")
    request_identifier: str | None = text("requestIdentifier", "UUID of your request.")
    storefront_country_codes: tuple[str, ...] = texts(
        "storefrontCountryCodes", "Countries, three letters each."
    )
    succeeded_count: int | None = integer("succeededCount", "How many were extended.")
    failed_count: int | None = integer("failedCount", "How many were not.")


class NotificationExternalPurchaseToken(Details):
    """The body `externalPurchaseToken`."""

    __slots__ = ()
    _shown = ("external_purchase_id", "token_type")

    external_purchase_id: str | None = text("externalPurchaseId", "Id of the token.")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    bundle_id: str | None = text("bundleId", "The app.")
    token_creation_date: int | None = time("tokenCreationDate", "When it was made.")
    token_creation_at: datetime | None = moment("tokenCreationDate")
    token_expiration_date: int | None = time("tokenExpirationDate", "When it ends.")
    token_expiration_at: datetime | None = moment("tokenExpirationDate")
    token_type: str | None = text("tokenType", '"SERVICES" or "ACQUISITION".')


class NotificationAppData(Details):
    """The body `appData`. The JWS in it is verified: see `app_transaction`."""

    __slots__ = ()
    _shown = ("environment", "bundle_id")

    environment: str | None = text("environment", "Where it happened.")
    app_apple_id: int | None = integer("appAppleId", "Apple's number of the app.")
    bundle_id: str | None = text("bundleId", "The app.")
    signed_app_transaction_info: str | None = text("signedAppTransactionInfo", "JWS text.")


class Notification(Signed):
    """An App Store Server Notification V2, with everything signed inside verified.

    Type and subtype say why it was sent; `transaction` and `renewal` say what is
    true. They come late, twice and out of order: keep one by `notification_uuid`,
    and apply only evidence with a later `signed_date` than what is stored.
    """

    __slots__ = ()
    _shown = ("environment", "notification_type", "subtype", "notification_uuid")

    notification_type: str | None = text("type", '"DID_RENEW", "REFUND" …')
    subtype: str | None = text("subtype", '"VOLUNTARY", "UPGRADE" …')
    known: bool | None = boolean("known", "Whether this version knows the type and subtype.")
    effect: str | None = text("effect", '"grant", "keep", "end", "recompute" or "none".')
    status: int | None = integer(
        "status",
        "Apple's view at `signed_date`: 1 active, 2 expired, 3 billing retry, 4 grace "
        "period, 5 revoked; None where the notification does not tell.",
    )
    notification_uuid: str | None = text("uuid", "The same in every retry.")
    body: str | None = text(
        "body", '"data", "summary", "externalPurchaseToken" or "appData".'
    )
    signed_date: int | None = time("signedDate", "When Apple signed it.")
    signed_at: datetime | None = moment("signedDate")
    version: str | None = text("version", '"2.0".', signed=True)
    data: NotificationData | None = details("data", NotificationData, "Body.", signed=True)
    summary: NotificationSummary | None = details(
        "summary", NotificationSummary, "Body.", signed=True
    )
    external_purchase_token: NotificationExternalPurchaseToken | None = details(
        "externalPurchaseToken", NotificationExternalPurchaseToken, "Body.", signed=True
    )
    app_data: NotificationAppData | None = details(
        "appData", NotificationAppData, "Body.", signed=True
    )

    @property
    def transaction(self) -> Transaction | None:
        """The verified transaction inside, or None."""
        nested: Transaction | None = self._nested(Transaction, "transaction")
        return nested

    @property
    def renewal(self) -> Renewal | None:
        """The verified renewal info inside, or None."""
        nested: Renewal | None = self._nested(Renewal, "renewal")
        return nested

    @property
    def app_transaction(self) -> AppTransaction | None:
        """The verified app transaction inside, or None."""
        nested: AppTransaction | None = self._nested(AppTransaction, "appTransaction")
        return nested

    def _nested(self, kind: Any, member: str) -> Any:
        if self._members().get(member) is None:
            return None
        return kind(self._document, f"{self._path.decode()}{member}")


# ---- decisions ---------------------------------------------------------------


class EvidenceReach(Details):
    """How far the evidence reaches: what happened after `as_of` is invisible."""

    __slots__ = ()
    _shown = ("class_", "kinds", "as_of", "complete", "missing")

    class_: str | None = text("class", '"signed" or "apple-answer".')
    kinds: tuple[str, ...] = texts("kinds", "Kinds of the documents.")
    as_of: int | None = time("asOf", "As of when it speaks.")
    as_of_at: datetime | None = moment("asOf")
    complete: bool | None = boolean("complete", "Whether nothing is missing.")
    missing: tuple[str, ...] = texts("missing", '"transaction", "renewal", "revocation".')


class Delivery(Details):
    """One purchase of a consumable: deliver it once under `key`."""

    __slots__ = ()
    _shown = ("key", "transaction_id", "quantity", "revoked")

    key: str | None = text("key", "What may be paid out once; None: a part is missing.")
    transaction_id: str | None = text("transactionId", "The transaction.")
    quantity: int | None = integer("quantity", "How many.")
    revoked: int | None = time("revokedAt", "When it was refunded.")
    revoked_at: datetime | None = moment("revokedAt")
    revocation_percentage: int | None = integer(
        "revocationPercentage", "Thousandths of a percent to take back."
    )


class LeftOut(Details):
    """A transaction that decided nothing, and why."""

    __slots__ = ()
    _shown = ("reason", "product_id", "transaction_id")

    reason: str | None = text(
        "reason", '"unknown-product", "unknown-type", "type-mismatch", "sandbox".'
    )
    product_id: str | None = text("productId", "Its product.")
    original_transaction_id: str | None = text("originalTransactionId", "Its line.")
    transaction_id: str | None = text("transactionId", "The transaction.")
    environment: str | None = text("environment", '"Production", "Sandbox" …')


class GroupDecision(Details):
    """What one subscription group, or one product without a group, gives."""

    __slots__ = ()
    _shown = ("group", "plan", "entitled", "state", "until")

    plan: str | None = text("plan", "Its plan while entitled, else the default one.")
    entitled: bool | None = boolean("entitled", "Whether it is in force now.")
    state: str | None = text("state", 'As in Decision: "active", "grace", "expired" …')
    row: str | None = text("row", '"DEC-10": the row of the decision table.')
    flags: tuple[str, ...] = texts("flags", '"trial", "will-not-renew", "family" …')
    reason: int | None = integer("reason", "Apple's number of the reason.")
    until: int | None = time(
        "until", "First moment outside the entitlement; None where nothing is granted."
    )
    until_at: datetime | None = moment("until")
    would_be_until: int | None = time(
        "wouldBeUntil", "Where nothing is granted: the end of what was bought."
    )
    would_be_until_at: datetime | None = moment("wouldBeUntil")
    booked_until: int | None = time("bookedUntil", "End of a renewal booked ahead.")
    booked_until_at: datetime | None = moment("bookedUntil")
    grace_until: int | None = time("graceUntil", "End of the grace period.")
    grace_until_at: datetime | None = moment("graceUntil")
    product_id: str | None = text("productId", "The product that decided.")
    original_transaction_id: str | None = text("originalTransactionId", "Its line.")
    transaction_id: str | None = text("transactionId", "The transaction that decided.")
    environment: str | None = text("environment", '"Production", "Sandbox" …')
    account: str | None = text(
        "account", '"proven", "unproven"; None: no account was compared.'
    )
    stale: bool | None = boolean("stale", "Newer evidence would say more.")
    next_check: int | None = time("nextCheck", "When to decide again.")
    next_check_at: datetime | None = moment("nextCheck")
    evidence: EvidenceReach | None = details("evidence", EvidenceReach, "Its reach.")
    group: str | None = text("group", "The subscription group, else the product id.")
    type: str | None = text("type", '"auto-renewable", "consumable" …')
    purchases: tuple[Delivery, ...] = details_list(
        "purchases", Delivery, "Consumables alone: every purchase shown."
    )


class Decision(Facts):
    """What an account may have now.

    `entitled` is the answer, `plan` what is in force (the default plan when not
    entitled), `state` why, `until` and `next_check` when to look again.
    """

    __slots__ = ()
    _shown = ("plan", "entitled", "state", "flags", "until")

    plan: str | None = text("plan", "The plan in force; the default one when none is.")
    state: str | None = text(
        "state",
        '"active", "grace", "billing-retry", "expired", "refunded", "revoked-family", '
        '"superseded", "not-started", "denied-by-policy", "stale", "owned", "once", "none".',
    )
    row: str | None = text("row", '"DEC-10": the row of the decision table.')
    flags: tuple[str, ...] = texts(
        "flags",
        '"trial", "intro", "offer", "will-not-renew", "change-pending", "renewal-booked", '
        '"price-consent-pending", "cancelled", "family", "assigned", "by-this-evidence".',
    )
    reason: int | None = integer(
        "reason", "Refunded: revocation reason; expired: expiration intent."
    )
    until: int | None = time(
        "until",
        "First moment outside the entitlement, or from when a refund took it; None: no "
        "end, or nothing is granted.",
    )
    until_at: datetime | None = moment("until")
    would_be_until: int | None = time(
        "wouldBeUntil", "Where nothing is granted: the end of what was bought."
    )
    would_be_until_at: datetime | None = moment("wouldBeUntil")
    booked_until: int | None = time("bookedUntil", "End of a renewal booked ahead.")
    booked_until_at: datetime | None = moment("bookedUntil")
    grace_until: int | None = time("graceUntil", "End of the billing grace period.")
    grace_until_at: datetime | None = moment("graceUntil")
    product_id: str | None = text("productId", "The product that decided.")
    original_transaction_id: str | None = text("originalTransactionId", "Its line.")
    transaction_id: str | None = text("transactionId", "The transaction that decided.")
    environment: str | None = text("environment", '"Production", "Sandbox" …')
    account: str | None = text(
        "account",
        '"proven": Apple\'s evidence carries the account; "unproven": it carries none; '
        "None: no account was compared.",
    )
    stale: bool | None = boolean("stale", "Newer evidence would say more: ask for it.")
    next_check: int | None = time("nextCheck", "When to decide again; None: no need.")
    next_check_at: datetime | None = moment("nextCheck")
    evidence: EvidenceReach | None = details(
        "evidence", EvidenceReach, "How far the evidence reaches."
    )
    groups: tuple[GroupDecision, ...] = details_list(
        "groups", GroupDecision, "Every group, the leading one first."
    )
    left_out: tuple[LeftOut, ...] = details_list(
        "leftOut", LeftOut, "Transactions that decided nothing."
    )

    @property
    def entitled(self) -> bool:
        """Whether a plan above the default one is in force. False for any doubt."""
        return self._document.ok

    @property
    def payload(self) -> Mapping[str, Any]:
        """The decision's JSON, read-only, unknown members included."""
        return self._members()


# Kind of a document -> its facts and the member that holds them.
KINDS: dict[str, tuple[type[Facts], str]] = {
    "transaction": (Transaction, "transaction"),
    "renewal": (Renewal, "renewal"),
    "notification": (Notification, "notification"),
    "app-transaction": (AppTransaction, "appTransaction"),
    "realtime-request": (RealtimeRequest, "realtimeRequest"),
    "decision": (Decision, "decision"),
}


def facts_of(document: Document) -> Facts | None:
    """The typed facts of a document; None when it has none."""
    kind = document.kind
    if kind == "exchange" and document._text(b"exchange.kind") == "verifyReceipt":
        # Under a refusal there is Apple's status, and nothing else.
        from .receipts import VerifyReceiptAnswer

        return VerifyReceiptAnswer(document, "exchange.verifyReceipt") if document.ok else None
    known = KINDS.get(kind) or _loaded_kind(kind)
    if known is None:
        return None
    value: Any = document.json
    for step in known[1].split("."):
        value = value.get(step) if hasattr(value, "keys") else None
    return None if value is None else known[0](document, known[1])


def _loaded_kind(kind: str) -> tuple[type[Facts], str] | None:
    """The facts of a kind whose classes are loaded at the first use."""
    from . import receipts

    known = receipts.KINDS.get(kind)
    if known is None:
        from . import attest

        known = attest.KINDS.get(kind)
    return known
