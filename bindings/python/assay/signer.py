"""Tokens, offers and secrets that Assay signs for Apple (docs/tasks/sign.md).

Loaded on first use.
"""

from __future__ import annotations

from ._calls import accepted, given, text_or_none
from .signing import ClientSecret, SignedInAppRequest, SignedOffer, SignedOfferV1, SignedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any
    from uuid import UUID

    from ._calls import Time
    from .documents import Document


class Signer:
    """Signs what a host sends to Apple, or passes to its app. Made by `Verifier.signer`.

    `now` is int ms since 1970 UTC, or an aware datetime; None: the system's clock.
    """

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[Mapping[str, Any], Time | None], Document]) -> None:
        self._call = call

    def __repr__(self) -> str:
        return "<assay.Signer>"

    def _signed(self, request: Mapping[str, Any], now: Time | None) -> Mapping[str, Any]:
        """Return the result of an operation that signs."""
        found: Mapping[str, Any] = accepted(self._call(given(request), now)).json["exchange"]
        return found

    def sign_api_token(
        self, bundle_id: str | None = None, now: Time | None = None
    ) -> SignedToken:
        """Sign a token for the App Store Server API, valid for five minutes: make one for each
        request. Needs the block `appStoreServerApi` (ConfigError).

        bundle_id  that of the app; None if only one app is configured
        """
        request = {"operation": "sign-api-token", "bundleId": bundle_id}
        return SignedToken(self._signed(request, now))

    def sign_device_check_token(self, now: Time | None = None) -> SignedToken:
        """Sign a token for Apple's DeviceCheck and App Attest servers, valid for 20 minutes.
        Needs the block `deviceCheck` with its key (ConfigError)."""
        return SignedToken(self._signed({"operation": "sign-device-check-token"}, now))

    def sign_apple_client_secret(
        self,
        client_id: str | None = None,
        ttl_ms: int | None = None,
        now: Time | None = None,
    ) -> ClientSecret:
        """Sign the client secret of Sign in with Apple. Needs the block `appleId`.

        client_id  None if only one is configured
        ttl_ms     lifetime in milliseconds, a minute to six months; None: five minutes
        """
        request = {"operation": "sign-apple-client-secret", "clientId": client_id, "ttlMs": ttl_ms}
        return ClientSecret(self._signed(request, now))

    def sign_promotional_offer(
        self,
        product_id: str,
        offer_id: str,
        transaction_id: str | None = None,
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        now: Time | None = None,
    ) -> SignedOffer:
        """Sign a promotional offer for the app, as a JWS. Never let a client choose what is
        signed. Needs the block `appStoreServerApi`.

        transaction_id  any of the customer's; without it any customer can use the offer
        nonce           a UUID; None: a new one

        Raises MisuseError for ids of a wrong form.
        """
        request = {
            "operation": "sign-promotional-offer",
            "bundleId": bundle_id,
            "productId": product_id,
            "offerIdentifier": offer_id,
            "transactionId": transaction_id,
            "nonce": text_or_none(nonce),
        }
        return SignedOffer(self._signed(request, now))

    def sign_promotional_offer_v1(
        self,
        product_id: str,
        offer_id: str,
        application_username: str = "",
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        timestamp: int | None = None,
        now: Time | None = None,
    ) -> SignedOfferV1:
        """Sign a promotional offer for the original StoreKit API, to which the app passes exactly
        the four values.

        application_username  ASCII: the appAccountToken, or empty
        timestamp             milliseconds since 1970 UTC; None: now
        """
        request = {
            "operation": "sign-promotional-offer-v1",
            "bundleId": bundle_id,
            "productId": product_id,
            "offerId": offer_id,
            "applicationUsername": application_username,
            "nonce": text_or_none(nonce),
            "timestamp": timestamp,
        }
        return SignedOfferV1(self._signed(request, now))

    def sign_introductory_offer_eligibility(
        self,
        product_id: str,
        allowed: bool,
        transaction_id: str,
        bundle_id: str | None = None,
        nonce: str | UUID | None = None,
        now: Time | None = None,
    ) -> SignedOffer:
        """Sign, as a JWS for the app, whether a customer may have the introductory offer, which
        overrides the App Store's own rule. Needs the block `appStoreServerApi`."""
        request = {
            "operation": "sign-introductory-offer-eligibility",
            "bundleId": bundle_id,
            "productId": product_id,
            "allowIntroductoryOffer": allowed,
            "transactionId": transaction_id,
            "nonce": text_or_none(nonce),
        }
        return SignedOffer(self._signed(request, now))

    # Generated by tools/generate.py from kinds.tsv, to the end. Do not edit.

    def sign_one_time_charge(
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
        """Signs a request of Advanced Commerce that the app passes to StoreKit: a purchase
        that is made once.
        """
        request = {
            "operation": "sign-one-time-charge",
            "requestInfo": request_info,
            "currency": currency,
            "item": item,
            "taxCode": tax_code,
            "storefront": storefront,
            "nonce": text_or_none(nonce),
            "bundleId": bundle_id,
        }
        return SignedInAppRequest(self._signed(request, now))

    def sign_subscription_creation(
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
        """Signs a request of Advanced Commerce that the app passes to StoreKit: a new
        subscription.
        """
        request = {
            "operation": "sign-subscription-creation",
            "requestInfo": request_info,
            "currency": currency,
            "descriptors": descriptors,
            "items": list(items),
            "period": period,
            "taxCode": tax_code,
            "previousTransactionId": previous_transaction_id,
            "storefront": storefront,
            "nonce": text_or_none(nonce),
            "bundleId": bundle_id,
        }
        return SignedInAppRequest(self._signed(request, now))

    def sign_subscription_modification(
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
        """Signs a request of Advanced Commerce that the app passes to StoreKit: a change of a
        subscription.
        """
        request = {
            "operation": "sign-subscription-modification",
            "requestInfo": request_info,
            "transactionId": transaction_id,
            "retainBillingCycle": retain_billing_cycle,
            "addItems": _list(add_items),
            "changeItems": _list(change_items),
            "removeItems": _list(remove_items),
            "periodChange": period_change,
            "descriptors": descriptors,
            "currency": currency,
            "storefront": storefront,
            "taxCode": tax_code,
            "nonce": text_or_none(nonce),
            "bundleId": bundle_id,
        }
        return SignedInAppRequest(self._signed(request, now))

    def sign_subscription_reactivation(
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
        """Signs a request of Advanced Commerce that the app passes to StoreKit: a subscription
        that renews again.
        """
        request = {
            "operation": "sign-subscription-reactivation",
            "requestInfo": request_info,
            "transactionId": transaction_id,
            "items": _list(items),
            "storefront": storefront,
            "nonce": text_or_none(nonce),
            "bundleId": bundle_id,
        }
        return SignedInAppRequest(self._signed(request, now))


def _list(values: Sequence[object] | None) -> list[object] | None:
    return None if values is None else list(values)
