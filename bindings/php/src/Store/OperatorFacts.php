<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What only an operator may see of a row. */
final class OperatorFacts extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'account' => [Member::TEXT, 'account'],
        'note' => [Member::TEXT, 'note'],
        'evidence' => [Member::TEXT, 'evidence'],
        'fence' => [Member::INTEGER, 'fence'],
        'generation' => [Member::INTEGER, 'generation'],
        'leaseUntilMs' => [Member::TIME, 'leaseUntilMs'],
    ];

    /** Who has it. */
    public readonly ?string $account;
    /** Of a grant made by hand. */
    public readonly ?string $note;
    /** SHA-256 of the text, 64 hex digits. */
    public readonly string $evidence;
    /** How often it was taken over, and 1. */
    public readonly int $fence;
    /** How many refunds were reversed. */
    public readonly int $generation;
    /** Milliseconds since 1970 UTC. */
    public readonly int $leaseUntilMs;
}
