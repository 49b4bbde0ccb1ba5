<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** One refund of an item. */
final class AdvancedCommerceRefund extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'refundAmount' => [Member::INTEGER, 'refundAmount'],
        'refundDate' => [Member::TIME, 'refundDate'],
        'refundAt' => [Member::MOMENT, 'refundDate'],
        'refundReason' => [Member::TEXT, 'refundReason'],
        'refundType' => [Member::TEXT, 'refundType'],
    ];

    /** Thousandths of the currency unit. */
    public readonly ?int $refundAmount;
    /** When it was refunded. Milliseconds since 1970 UTC. */
    public readonly ?int $refundDate;
    /** `refundDate` in UTC. */
    public readonly ?DateTimeImmutable $refundAt;
    /** "UNINTENDED_PURCHASE", "LEGAL" … */
    public readonly ?string $refundReason;
    /** "FULL", "PRORATED" or "CUSTOM". */
    public readonly ?string $refundType;
}
