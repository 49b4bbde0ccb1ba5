<?php

declare(strict_types=1);

namespace Assay;

use DateTimeInterface;

/**
 * Signs tokens, client secrets and offers with the keys of the configuration. `Verifier::signer`
 * makes one.
 *
 *     $token = $verifier->signer()->signApiToken();
 */
final class Signer
{
    /**
     * @param \Closure(array<string, mixed>, int|DateTimeInterface|null): Document $atOnce runs an
     *     operation that needs no step
     *
     * @internal made by a Verifier
     */
    public function __construct(private \Closure $atOnce)
    {
    }

    /**
     * Returns the result of an operation that signs.
     *
     * @param array<string, mixed> $request
     *
     * @return array<string, mixed>
     */
    private function signed(array $request, int|DateTimeInterface|null $now): array
    {
        $document = ($this->atOnce)($request, $now);
        $document->throwIfFailed();

        return $document->json()['exchange'];
    }

    /**
     * Signs a token for the App Store Server API, valid for five minutes: make one for each
     * request.
     *
     * @param string|null $bundleId may be null if the configuration has one app
     *
     * @throws Exception\Configuration without the block `appStoreServerApi`
     */
    public function signApiToken(
        ?string $bundleId = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedToken {
        return Facts\SignedToken::of(
            $this->signed(['operation' => 'sign-api-token', 'bundleId' => $bundleId], $now),
        );
    }

    /**
     * Signs a token for Apple's DeviceCheck and App Attest servers, valid for 20 minutes.
     *
     * @throws Exception\Configuration without the block `deviceCheck`, or its key
     */
    public function signDeviceCheckToken(
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedToken {
        return Facts\SignedToken::of(
            $this->signed(['operation' => 'sign-device-check-token'], $now),
        );
    }

    /**
     * Signs the client secret of Sign in with Apple.
     *
     * @param string|null $clientId may be null if the configuration has one
     * @param int|null $ttlMs a minute to six months, in milliseconds; null for five minutes
     *
     * @throws Exception\Configuration without the block `appleId`
     */
    public function signAppleClientSecret(
        ?string $clientId = null,
        ?int $ttlMs = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\ClientSecret {
        return Facts\ClientSecret::of($this->signed([
            'operation' => 'sign-apple-client-secret',
            'clientId' => $clientId,
            'ttlMs' => $ttlMs,
        ], $now));
    }

    /**
     * Signs a promotional offer for the app, as a JWS. Never let a client choose its members.
     *
     * @param string|null $transactionId any of the customer's; without it any customer can use the
     *     offer
     * @param string|null $nonce a UUID; null for a new one
     *
     * @throws Exception\Misuse for ids of a wrong form
     */
    public function signPromotionalOffer(
        string $productId,
        string $offerId,
        ?string $transactionId = null,
        ?string $bundleId = null,
        ?string $nonce = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedOffer {
        return Facts\SignedOffer::of($this->signed([
            'operation' => 'sign-promotional-offer',
            'bundleId' => $bundleId,
            'productId' => $productId,
            'offerIdentifier' => $offerId,
            'transactionId' => $transactionId,
            'nonce' => $nonce,
        ], $now));
    }

    /**
     * Signs a promotional offer for the original StoreKit API: the app must pass exactly the four
     * returned values.
     *
     * @param string $applicationUsername ASCII: the appAccountToken, or empty
     * @param int|null $timestamp milliseconds since 1970 UTC; null for now
     */
    public function signPromotionalOfferV1(
        string $productId,
        string $offerId,
        string $applicationUsername = '',
        ?string $bundleId = null,
        ?string $nonce = null,
        ?int $timestamp = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedOfferV1 {
        return Facts\SignedOfferV1::of($this->signed([
            'operation' => 'sign-promotional-offer-v1',
            'bundleId' => $bundleId,
            'productId' => $productId,
            'offerId' => $offerId,
            'applicationUsername' => $applicationUsername,
            'nonce' => $nonce,
            'timestamp' => $timestamp,
        ], $now));
    }

    /**
     * Signs whether a customer may have the introductory offer, as a JWS for the app. It overrides
     * the App Store's own decision.
     */
    public function signIntroductoryOfferEligibility(
        string $productId,
        bool $allowed,
        string $transactionId,
        ?string $bundleId = null,
        ?string $nonce = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedOffer {
        return Facts\SignedOffer::of($this->signed([
            'operation' => 'sign-introductory-offer-eligibility',
            'bundleId' => $bundleId,
            'productId' => $productId,
            'allowIntroductoryOffer' => $allowed,
            'transactionId' => $transactionId,
            'nonce' => $nonce,
        ], $now));
    }

    // Generated by tools/generate.py from kinds.tsv, to the end. Do not edit.

    /**
     * Signs a request of Advanced Commerce that the app passes to StoreKit: a purchase that is
     * made once.
     *
     * @param array<string, mixed> $requestInfo
     * @param array<string, mixed> $item
     */
    public function signOneTimeCharge(
        array $requestInfo,
        string $currency,
        array $item,
        string $taxCode,
        ?string $storefront = null,
        ?string $nonce = null,
        ?string $bundleId = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedInAppRequest {
        return Facts\SignedInAppRequest::of($this->signed([
            'operation' => 'sign-one-time-charge',
            'requestInfo' => $requestInfo,
            'currency' => $currency,
            'item' => $item,
            'taxCode' => $taxCode,
            'storefront' => $storefront,
            'nonce' => $nonce,
            'bundleId' => $bundleId,
        ], $now));
    }

    /**
     * Signs a request of Advanced Commerce that the app passes to StoreKit: a new
     * subscription.
     *
     * @param array<string, mixed> $requestInfo
     * @param array<string, mixed> $descriptors
     * @param list<array<string, mixed>> $items
     */
    public function signSubscriptionCreation(
        array $requestInfo,
        string $currency,
        array $descriptors,
        array $items,
        string $period,
        string $taxCode,
        ?string $previousTransactionId = null,
        ?string $storefront = null,
        ?string $nonce = null,
        ?string $bundleId = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedInAppRequest {
        return Facts\SignedInAppRequest::of($this->signed([
            'operation' => 'sign-subscription-creation',
            'requestInfo' => $requestInfo,
            'currency' => $currency,
            'descriptors' => $descriptors,
            'items' => $items,
            'period' => $period,
            'taxCode' => $taxCode,
            'previousTransactionId' => $previousTransactionId,
            'storefront' => $storefront,
            'nonce' => $nonce,
            'bundleId' => $bundleId,
        ], $now));
    }

    /**
     * Signs a request of Advanced Commerce that the app passes to StoreKit: a change of a
     * subscription.
     *
     * @param array<string, mixed> $requestInfo
     * @param list<array<string, mixed>>|null $addItems
     * @param list<array<string, mixed>>|null $changeItems
     * @param list<array<string, mixed>>|null $removeItems
     * @param array<string, mixed>|null $periodChange
     * @param array<string, mixed>|null $descriptors
     */
    public function signSubscriptionModification(
        array $requestInfo,
        string $transactionId,
        bool $retainBillingCycle,
        ?array $addItems = null,
        ?array $changeItems = null,
        ?array $removeItems = null,
        ?array $periodChange = null,
        ?array $descriptors = null,
        ?string $currency = null,
        ?string $storefront = null,
        ?string $taxCode = null,
        ?string $nonce = null,
        ?string $bundleId = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedInAppRequest {
        return Facts\SignedInAppRequest::of($this->signed([
            'operation' => 'sign-subscription-modification',
            'requestInfo' => $requestInfo,
            'transactionId' => $transactionId,
            'retainBillingCycle' => $retainBillingCycle,
            'addItems' => $addItems,
            'changeItems' => $changeItems,
            'removeItems' => $removeItems,
            'periodChange' => $periodChange,
            'descriptors' => $descriptors,
            'currency' => $currency,
            'storefront' => $storefront,
            'taxCode' => $taxCode,
            'nonce' => $nonce,
            'bundleId' => $bundleId,
        ], $now));
    }

    /**
     * Signs a request of Advanced Commerce that the app passes to StoreKit: a subscription
     * that renews again.
     *
     * @param array<string, mixed> $requestInfo
     * @param list<array<string, mixed>>|null $items
     */
    public function signSubscriptionReactivation(
        array $requestInfo,
        string $transactionId,
        ?array $items = null,
        ?string $storefront = null,
        ?string $nonce = null,
        ?string $bundleId = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\SignedInAppRequest {
        return Facts\SignedInAppRequest::of($this->signed([
            'operation' => 'sign-subscription-reactivation',
            'requestInfo' => $requestInfo,
            'transactionId' => $transactionId,
            'items' => $items,
            'storefront' => $storefront,
            'nonce' => $nonce,
            'bundleId' => $bundleId,
        ], $now));
    }
}
