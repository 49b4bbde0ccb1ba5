<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** One purchase in an app receipt. */
final class AppReceiptPurchase extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'productId' => [Member::TEXT, 'productId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'webOrderLineItemId' => [Member::TEXT, 'webOrderLineItemId'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'type' => [Member::TEXT, 'type'],
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
        'known' => [Member::BOOLEAN, 'known'],
        'environment' => [Member::TEXT, 'environment'],
        'idConflict' => [Member::BOOLEAN, 'idConflict'],
        'keys' => [Member::DETAILS, 'keys', Keys::class],
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
    /**
     * "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing
     * Subscription" or "Free Subscription"; null from Xcode.
     */
    public readonly ?string $type;
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
    /** Whether the catalogue has the product. */
    public readonly ?bool $known;
    /** That of the receipt. */
    public readonly ?string $environment;
    /** The transaction id looks like one of another environment. */
    public readonly ?bool $idConflict;
    /** Names for stores and replay checks. */
    public readonly ?Keys $keys;
}
