<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Texts shown for an Advanced Commerce product. */
final class AdvancedCommerceDescriptors extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'description' => [Member::TEXT, 'description'],
        'displayName' => [Member::TEXT, 'displayName'],
    ];

    /** At most 45 characters. */
    public readonly ?string $description;
    /** At most 30 characters. */
    public readonly ?string $displayName;
}
