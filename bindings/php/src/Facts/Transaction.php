<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** A purchase, restore or renewal that Apple signed. */
final class Transaction extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'environmentSource' => [Member::TEXT, 'environmentSource'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'effectiveDate' => [Member::DETAILS, 'effectiveDate', EffectiveDate::class],
        'keys' => [Member::DETAILS, 'keys', Keys::class],
        'chain' => [Member::DETAILS, 'chain', Chain::class],
        'signedDate' => [Member::TIME, 'signedDate'],
        'signedAt' => [Member::MOMENT, 'signedDate'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'webOrderLineItemId' => [Member::TEXT, 'webOrderLineItemId'],
        'productId' => [Member::TEXT, 'productId'],
        'subscriptionGroupIdentifier' => [Member::TEXT, 'subscriptionGroupIdentifier'],
        'type' => [Member::TEXT, 'type'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'inAppOwnershipType' => [Member::TEXT, 'inAppOwnershipType'],
        'purchaseDate' => [Member::TIME, 'purchaseDate'],
        'purchaseAt' => [Member::MOMENT, 'purchaseDate'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'expiresDate' => [Member::TIME, 'expiresDate'],
        'expiresAt' => [Member::MOMENT, 'expiresDate'],
        'revocationDate' => [Member::TIME, 'revocationDate'],
        'revocationAt' => [Member::MOMENT, 'revocationDate'],
        'revocationReason' => [Member::INTEGER, 'revocationReason'],
        'revocationType' => [Member::TEXT, 'revocationType'],
        'revocationPercentage' => [Member::INTEGER, 'revocationPercentage'],
        'isUpgraded' => [Member::BOOLEAN, 'isUpgraded'],
        'offerType' => [Member::INTEGER, 'offerType'],
        'appAccountToken' => [Member::TEXT, 'appAccountToken'],
        'appTransactionId' => [Member::TEXT, 'appTransactionId'],
        'previousOriginalTransactionId' => [Member::TEXT, 'previousOriginalTransactionId'],
        'offerIdentifier' => [Member::TEXT | Member::SIGNED, 'offerIdentifier'],
        'offerPeriod' => [Member::TEXT | Member::SIGNED, 'offerPeriod'],
        'offerDiscountType' => [Member::TEXT | Member::SIGNED, 'offerDiscountType'],
        'storefront' => [Member::TEXT | Member::SIGNED, 'storefront'],
        'storefrontId' => [Member::TEXT | Member::SIGNED, 'storefrontId'],
        'transactionReason' => [Member::TEXT | Member::SIGNED, 'transactionReason'],
        'currency' => [Member::TEXT | Member::SIGNED, 'currency'],
        'price' => [Member::INTEGER | Member::SIGNED, 'price'],
        'advancedCommerceInfo' => [
            Member::DETAILS | Member::SIGNED,
            'advancedCommerceInfo',
            AdvancedCommerceTransactionInfo::class,
        ],
        'billingPlanType' => [Member::TEXT | Member::SIGNED, 'billingPlanType'],
        'commitmentInfo' => [
            Member::DETAILS | Member::SIGNED,
            'commitmentInfo',
            TransactionCommitmentInfo::class,
        ],
        'deviceVerification' => [Member::TEXT | Member::SIGNED, 'deviceVerification'],
        'deviceVerificationNonce' => [Member::TEXT | Member::SIGNED, 'deviceVerificationNonce'],
    ];

    /** "Production", "Sandbox", "Xcode" or "LocalTesting". */
    public readonly ?string $environment;
    /** "payload", or "transaction-id" when it was derived. */
    public readonly ?string $environmentSource;
    /** The app. */
    public readonly ?string $bundleId;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** When the certificates were judged. */
    public readonly ?EffectiveDate $effectiveDate;
    /** Names for stores and replay checks. */
    public readonly ?Keys $keys;
    /** The certificates. */
    public readonly ?Chain $chain;
    /** When Apple signed it. Milliseconds since 1970 UTC. */
    public readonly ?int $signedDate;
    /** `signedDate` in UTC. */
    public readonly ?DateTimeImmutable $signedAt;
    /** This purchase, restore or renewal. */
    public readonly ?string $transactionId;
    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** One paid period, the same on all devices. */
    public readonly ?string $webOrderLineItemId;
    /** What was bought. */
    public readonly ?string $productId;
    /** Group of a subscription. */
    public readonly ?string $subscriptionGroupIdentifier;
    /**
     * "Auto-Renewable Subscription", "Non-Consumable", "Consumable" or "Non-Renewing
     * Subscription".
     */
    public readonly ?string $type;
    /** How many were bought. */
    public readonly ?int $quantity;
    /** "PURCHASED", "FAMILY_SHARED" or "ASSIGNED". */
    public readonly ?string $inAppOwnershipType;
    /** When it was charged. Milliseconds since 1970 UTC. */
    public readonly ?int $purchaseDate;
    /** `purchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $purchaseAt;
    /** When the first purchase was charged. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /** End of the paid period. Milliseconds since 1970 UTC. */
    public readonly ?int $expiresDate;
    /** `expiresDate` in UTC. */
    public readonly ?DateTimeImmutable $expiresAt;
    /** When it was refunded, or taken from Family Sharing. Milliseconds since 1970 UTC. */
    public readonly ?int $revocationDate;
    /** `revocationDate` in UTC. */
    public readonly ?DateTimeImmutable $revocationAt;
    /** 1: an issue with the app; 0: another reason. */
    public readonly ?int $revocationReason;
    /** "REFUND_FULL", "REFUND_PRORATED" or "FAMILY_REVOKE". */
    public readonly ?string $revocationType;
    /** Thousandths of a percent. */
    public readonly ?int $revocationPercentage;
    /** true: replaced by an upgrade. */
    public readonly ?bool $isUpgraded;
    /** 1 introductory, 2 promotional, 3 offer code, 4 win-back. */
    public readonly ?int $offerType;
    /** UUID that the app set, in lower case. */
    public readonly ?string $appAccountToken;
    /** The customer's download of the app. */
    public readonly ?string $appTransactionId;
    /** Id before a migration to Advanced Commerce. */
    public readonly ?string $previousOriginalTransactionId;
    /** Offer id or code. */
    public readonly ?string $offerIdentifier;
    /** ISO 8601 duration. */
    public readonly ?string $offerPeriod;
    /** "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME". */
    public readonly ?string $offerDiscountType;
    /** Country, three letters. */
    public readonly ?string $storefront;
    /** Apple's number of it. */
    public readonly ?string $storefrontId;
    /** "PURCHASE" or "RENEWAL". */
    public readonly ?string $transactionReason;
    /** ISO 4217. */
    public readonly ?string $currency;
    /** Thousandths of the currency unit. */
    public readonly ?int $price;
    /** Advanced Commerce only. */
    public readonly ?AdvancedCommerceTransactionInfo $advancedCommerceInfo;
    /** "BILLED_UPFRONT" or "MONTHLY". */
    public readonly ?string $billingPlanType;
    /** Commitment, if any. */
    public readonly ?TransactionCommitmentInfo $commitmentInfo;
    /** Base64; only from a device. */
    public readonly ?string $deviceVerification;
    /** UUID; only from a device. */
    public readonly ?string $deviceVerificationNonce;
}
