<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A text that was kept. It is no evidence until it is verified again. */
final class KeptText extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'sha256' => [Member::TEXT, 'sha256'],
        'text' => [Member::TEXT, 'text'],
        'atMs' => [Member::TIME, 'atMs'],
    ];

    /** 64 hex digits. */
    public readonly string $sha256;
    /** As it came. */
    public readonly string $text;
    /** Milliseconds since 1970 UTC. */
    public readonly int $atMs;
}
