<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** One rule that fired. */
final class RiskReason extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'id' => [Member::TEXT, 'id'],
        'verdict' => [Member::TEXT, 'verdict'],
        'why' => [Member::TEXT, 'why'],
    ];

    /** "RSK-16". */
    public readonly ?string $id;
    /** What this rule alone comes to. */
    public readonly ?string $verdict;
    /** For the operator's log. */
    public readonly ?string $why;
}
