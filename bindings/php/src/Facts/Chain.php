<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The certificate chain that signed the evidence. */
final class Chain extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'leaf' => [Member::DETAILS, 'leaf', Certificate::class],
        'intermediate' => [Member::DETAILS, 'intermediate', Certificate::class],
        'root' => [Member::DETAILS, 'root', Certificate::class],
        'cached' => [Member::BOOLEAN, 'cached'],
    ];

    /** The signing certificate. */
    public readonly ?Certificate $leaf;
    /** Apple's intermediate; null in the Xcode profile. */
    public readonly ?Certificate $intermediate;
    /** The pinned root; null in the Xcode profile. */
    public readonly ?Certificate $root;
    /** Whether the chain was proven by an earlier call. */
    public readonly ?bool $cached;
}
