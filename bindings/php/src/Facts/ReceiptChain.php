<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The certificate path that signed the receipt. */
final class ReceiptChain extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'leaf' => [Member::DETAILS, 'leaf', Certificate::class],
        'intermediate' => [Member::DETAILS, 'intermediate', Intermediate::class],
        'root' => [Member::DETAILS, 'root', Certificate::class],
        'cached' => [Member::BOOLEAN, 'cached'],
    ];

    /** The signing certificate. */
    public readonly ?Certificate $leaf;
    /** Apple's intermediate; null in the Xcode profile. */
    public readonly ?Intermediate $intermediate;
    /** The pinned root; null in the Xcode profile. */
    public readonly ?Certificate $root;
    /** Whether the path was proven by an earlier call. */
    public readonly ?bool $cached;
}
