<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of a take-back that you have carried out. */
final class RevokeCompleted extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'revokedMs' => [Member::TIME, 'revokedMs'],
        'debt' => [Member::INTEGER, 'debt'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** "taken"; "already"; "superseded": something newer is stored, or handed out. */
    public readonly string $outcome;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedMs;
    /** Units that could not be taken: they are noted for a person. */
    public readonly int $debt;
    /** False for a repetition. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
