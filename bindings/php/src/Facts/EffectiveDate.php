<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** The date at which the certificates were judged. */
final class EffectiveDate extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'ms' => [Member::TIME, 'ms'],
        'msAt' => [Member::MOMENT, 'ms'],
        'source' => [Member::TEXT, 'source'],
    ];

    /** The date. Milliseconds since 1970 UTC. */
    public readonly ?int $ms;
    /** `ms` in UTC. */
    public readonly ?DateTimeImmutable $msAt;
    /** Where it is from: "signedDate", "receiptCreationDate", "nested", "now". */
    public readonly ?string $source;
}
