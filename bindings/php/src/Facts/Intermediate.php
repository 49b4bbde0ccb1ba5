<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** The certificate of Apple's that signed the leaf. */
final class Intermediate extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'sha256' => [Member::TEXT, 'sha256'],
        'serial' => [Member::TEXT, 'serial'],
        'notBefore' => [Member::TIME, 'notBefore'],
        'notBeforeAt' => [Member::MOMENT, 'notBefore'],
        'notAfter' => [Member::TIME, 'notAfter'],
        'notAfterAt' => [Member::MOMENT, 'notAfter'],
        'source' => [Member::TEXT, 'source'],
    ];

    /** SHA-256 of its DER, hex. */
    public readonly ?string $sha256;
    /** Serial number, hex. */
    public readonly ?string $serial;
    /** First moment of validity. Milliseconds since 1970 UTC. */
    public readonly ?int $notBefore;
    /** `notBefore` in UTC. */
    public readonly ?DateTimeImmutable $notBeforeAt;
    /** Last second of validity. Milliseconds since 1970 UTC. */
    public readonly ?int $notAfter;
    /** `notAfter` in UTC. */
    public readonly ?DateTimeImmutable $notAfterAt;
    /** "shipped", "configured" or "embedded". */
    public readonly ?string $source;
}
