<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** One purchase of a consumable: deliver it once under `key`. */
final class Delivery extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'key' => [Member::TEXT, 'key'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'revoked' => [Member::TIME, 'revokedAt'],
        'revokedAt' => [Member::MOMENT, 'revokedAt'],
        'revocationPercentage' => [Member::INTEGER, 'revocationPercentage'],
    ];

    /** What may be paid out once; null: a part is missing. */
    public readonly ?string $key;
    /** The transaction. */
    public readonly ?string $transactionId;
    /** How many. */
    public readonly ?int $quantity;
    /** When it was refunded. Milliseconds since 1970 UTC. */
    public readonly ?int $revoked;
    /** `revoked` in UTC. */
    public readonly ?DateTimeImmutable $revokedAt;
    /** Thousandths of a percent to take back. */
    public readonly ?int $revocationPercentage;
}
