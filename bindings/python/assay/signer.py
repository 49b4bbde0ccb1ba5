"""Tokens, offers and secrets that Assay signs for Apple (docs/tasks/sign.md).

Loaded on first use.
"""

from __future__ import annotations

from ._calls import accepted, given, text_or_none
from .signing import ClientSecret, SignedOffer, SignedOfferV1, SignedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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

    def _signed(self, request: Mapping[str, Any], now: Time | None) -> Mapping[str, Any]:
        """Return the result of an operation that signs."""
        found: Mapping[str, Any] = accepted(self._call(given(request), now)).json["exchange"]
        return found
