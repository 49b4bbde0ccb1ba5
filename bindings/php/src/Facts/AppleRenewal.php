<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** What an answer says about the renewal of one line. */
final class AppleRenewal extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'productId' => [Member::TEXT, 'productId'],
        'autoRenewProductId' => [Member::TEXT, 'autoRenewProductId'],
        'autoRenewStatus' => [Member::INTEGER, 'autoRenewStatus'],
        'isInBillingRetryPeriod' => [Member::BOOLEAN, 'isInBillingRetryPeriod'],
        'gracePeriodExpiresDate' => [Member::TIME, 'gracePeriodExpiresDate'],
        'gracePeriodExpiresAt' => [Member::MOMENT, 'gracePeriodExpiresDate'],
        'expirationIntent' => [Member::INTEGER, 'expirationIntent'],
        'priceConsentStatus' => [Member::INTEGER, 'priceConsentStatus'],
        'priceIncreaseStatus' => [Member::INTEGER, 'priceIncreaseStatus'],
        'offerCodeRefName' => [Member::TEXT, 'offerCodeRefName'],
        'promotionalOfferId' => [Member::TEXT, 'promotionalOfferId'],
    ];

    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** The product of this period. */
    public readonly ?string $productId;
    /** The product of the next period. */
    public readonly ?string $autoRenewProductId;
    /** 0 off, 1 on; not the state of the subscription. */
    public readonly ?int $autoRenewStatus;
    /** Apple still tries to charge. */
    public readonly ?bool $isInBillingRetryPeriod;
    /** End of the billing grace period. Milliseconds since 1970 UTC. */
    public readonly ?int $gracePeriodExpiresDate;
    /** `gracePeriodExpiresDate` in UTC. */
    public readonly ?DateTimeImmutable $gracePeriodExpiresAt;
    /** 1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5 unknown. */
    public readonly ?int $expirationIntent;
    /** 0 asked, no answer; 1 agreed. */
    public readonly ?int $priceConsentStatus;
    /** 0 asked, no answer; 1 agreed or only informed. */
    public readonly ?int $priceIncreaseStatus;
    /** Offer code. */
    public readonly ?string $offerCodeRefName;
    /** Promotional offer. */
    public readonly ?string $promotionalOfferId;
}
