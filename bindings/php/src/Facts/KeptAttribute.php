<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** An attribute of the receipt that has no member of its own. */
final class KeptAttribute extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'type' => [Member::INTEGER, 'type'],
        'hex' => [Member::TEXT, 'hex'],
    ];

    /** Its number. */
    public readonly ?int $type;
    /** Its value, hex. */
    public readonly ?string $hex;
}
