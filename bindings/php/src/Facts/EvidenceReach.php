<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** How far the evidence reaches: what happened after `asOf` is invisible. */
final class EvidenceReach extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'class' => [Member::TEXT, 'class'],
        'kinds' => [Member::TEXTS, 'kinds'],
        'asOf' => [Member::TIME, 'asOf'],
        'asOfAt' => [Member::MOMENT, 'asOf'],
        'complete' => [Member::BOOLEAN, 'complete'],
        'missing' => [Member::TEXTS, 'missing'],
    ];

    /** "signed" or "apple-answer". */
    public readonly ?string $class;
    /** @var list<string> Kinds of the documents. */
    public readonly array $kinds;
    /** As of when it speaks. Milliseconds since 1970 UTC. */
    public readonly ?int $asOf;
    /** `asOf` in UTC. */
    public readonly ?DateTimeImmutable $asOfAt;
    /** Whether nothing is missing. */
    public readonly ?bool $complete;
    /** @var list<string> "transaction", "renewal", "revocation". */
    public readonly array $missing;
}
