<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** A commitment over several billing periods. */
final class TransactionCommitmentInfo extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'billingPeriodNumber' => [Member::INTEGER, 'billingPeriodNumber'],
        'commitmentExpiresDate' => [Member::TIME, 'commitmentExpiresDate'],
        'commitmentExpiresAt' => [Member::MOMENT, 'commitmentExpiresDate'],
        'commitmentPrice' => [Member::INTEGER, 'commitmentPrice'],
        'totalBillingPeriods' => [Member::INTEGER, 'totalBillingPeriods'],
    ];

    /** This period, 1 to 12. */
    public readonly ?int $billingPeriodNumber;
    /** End of all periods. Milliseconds since 1970 UTC. */
    public readonly ?int $commitmentExpiresDate;
    /** `commitmentExpiresDate` in UTC. */
    public readonly ?DateTimeImmutable $commitmentExpiresAt;
    /** Thousandths of the currency unit. */
    public readonly ?int $commitmentPrice;
    /** How many in all. */
    public readonly ?int $totalBillingPeriods;
}
