<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The App Attest receipt of a key. */
final class ReceiptKept extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'nextMs' => [Member::TIME, 'nextMs'],
    ] + self::STATUS;

    /** "kept"; "older": a newer one is stored. */
    public readonly string $outcome;
    /** When to ask Apple for a newer one; null: never. Milliseconds since 1970 UTC. */
    public readonly ?int $nextMs;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
