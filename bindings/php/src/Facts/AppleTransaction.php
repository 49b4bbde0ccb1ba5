<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** One transaction of an answer. Apple's TLS connection vouches for it, alone. */
final class AppleTransaction extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'productId' => [Member::TEXT, 'productId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'webOrderLineItemId' => [Member::TEXT, 'webOrderLineItemId'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'purchaseDate' => [Member::TIME, 'purchaseDate'],
        'purchaseAt' => [Member::MOMENT, 'purchaseDate'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'expiresDate' => [Member::TIME, 'expiresDate'],
        'expiresAt' => [Member::MOMENT, 'expiresDate'],
        'cancellationDate' => [Member::TIME, 'cancellationDate'],
        'cancellationAt' => [Member::MOMENT, 'cancellationDate'],
        'cancellationReason' => [Member::INTEGER, 'cancellationReason'],
        'isTrialPeriod' => [Member::BOOLEAN, 'isTrialPeriod'],
        'isInIntroOfferPeriod' => [Member::BOOLEAN, 'isInIntroOfferPeriod'],
        'promotionalOfferId' => [Member::TEXT, 'promotionalOfferId'],
        'offerCodeRefName' => [Member::TEXT, 'offerCodeRefName'],
        'inAppOwnershipType' => [Member::TEXT, 'inAppOwnershipType'],
        'isUpgraded' => [Member::BOOLEAN, 'isUpgraded'],
        'subscriptionGroupIdentifier' => [Member::TEXT, 'subscriptionGroupIdentifier'],
        'appAccountToken' => [Member::TEXT, 'appAccountToken'],
        'known' => [Member::BOOLEAN, 'known'],
        'keys' => [Member::DETAILS, 'keys', Keys::class],
        'bid' => [Member::TEXT, 'bid'],
        'bvrs' => [Member::TEXT, 'bvrs'],
        'itemId' => [Member::TEXT, 'itemId'],
        'appItemId' => [Member::INTEGER, 'appItemId'],
        'versionExternalIdentifier' => [Member::INTEGER, 'versionExternalIdentifier'],
        'uniqueIdentifier' => [Member::TEXT, 'uniqueIdentifier'],
        'uniqueVendorIdentifier' => [Member::TEXT, 'uniqueVendorIdentifier'],
    ];

    /** What was bought. */
    public readonly ?string $productId;
    /** This purchase, restore or renewal. */
    public readonly ?string $transactionId;
    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** One paid period, the same on all devices. */
    public readonly ?string $webOrderLineItemId;
    /** How many were bought. */
    public readonly ?int $quantity;
    /** Purchase, restore, start of the period. Milliseconds since 1970 UTC. */
    public readonly ?int $purchaseDate;
    /** `purchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $purchaseAt;
    /** The first purchase. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /** End of the paid period. Milliseconds since 1970 UTC. */
    public readonly ?int $expiresDate;
    /** `expiresDate` in UTC. */
    public readonly ?DateTimeImmutable $expiresAt;
    /** When it was refunded. Milliseconds since 1970 UTC. */
    public readonly ?int $cancellationDate;
    /** `cancellationDate` in UTC. */
    public readonly ?DateTimeImmutable $cancellationAt;
    /** 1: an issue with the app; 0: another reason. */
    public readonly ?int $cancellationReason;
    /** A free trial. */
    public readonly ?bool $isTrialPeriod;
    /** An introductory price. */
    public readonly ?bool $isInIntroOfferPeriod;
    /** Promotional offer. */
    public readonly ?string $promotionalOfferId;
    /** Offer code. */
    public readonly ?string $offerCodeRefName;
    /** "PURCHASED" or "FAMILY_SHARED". */
    public readonly ?string $inAppOwnershipType;
    /** true: replaced by an upgrade. */
    public readonly ?bool $isUpgraded;
    /** Group of a subscription. */
    public readonly ?string $subscriptionGroupIdentifier;
    /** UUID that the app set. */
    public readonly ?string $appAccountToken;
    /** Whether the catalogue has the product. */
    public readonly ?bool $known;
    /** Names for stores and replay checks. */
    public readonly ?Keys $keys;
    /** The app; iOS 6 style. */
    public readonly ?string $bid;
    /** Version of the app; iOS 6 style. */
    public readonly ?string $bvrs;
    /** Apple's number of the product; iOS 6 style. */
    public readonly ?string $itemId;
    /** Apple's number of the app; iOS 6 style. */
    public readonly ?int $appItemId;
    /** Apple's number of the version; iOS 6 style. */
    public readonly ?int $versionExternalIdentifier;
    /** Device id; only with `receipts.deviceIds: report`. */
    public readonly ?string $uniqueIdentifier;
    /** Vendor id; only with `receipts.deviceIds: report`. */
    public readonly ?string $uniqueVendorIdentifier;
}
