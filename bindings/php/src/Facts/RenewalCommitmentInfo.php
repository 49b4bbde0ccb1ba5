<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** What a commitment renews into. */
final class RenewalCommitmentInfo extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'commitmentAutoRenewProductId' => [Member::TEXT, 'commitmentAutoRenewProductId'],
        'commitmentAutoRenewStatus' => [Member::INTEGER, 'commitmentAutoRenewStatus'],
        'commitmentRenewalBillingPlanType' => [Member::TEXT, 'commitmentRenewalBillingPlanType'],
        'commitmentRenewalDate' => [Member::TIME, 'commitmentRenewalDate'],
        'commitmentRenewalAt' => [Member::MOMENT, 'commitmentRenewalDate'],
        'commitmentRenewalPrice' => [Member::INTEGER, 'commitmentRenewalPrice'],
    ];

    /** Product of the next commitment. */
    public readonly ?string $commitmentAutoRenewProductId;
    /** 0 off, 1 on. */
    public readonly ?int $commitmentAutoRenewStatus;
    /** "BILLED_UPFRONT" or "MONTHLY". */
    public readonly ?string $commitmentRenewalBillingPlanType;
    /** When it renews. Milliseconds since 1970 UTC. */
    public readonly ?int $commitmentRenewalDate;
    /** `commitmentRenewalDate` in UTC. */
    public readonly ?DateTimeImmutable $commitmentRenewalAt;
    /** Thousandths of the currency unit. */
    public readonly ?int $commitmentRenewalPrice;
}
