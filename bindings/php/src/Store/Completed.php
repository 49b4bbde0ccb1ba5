<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of a purchase that you have paid out. */
final class Completed extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'answer' => [Member::TEXT, 'answer'],
        'grantedMs' => [Member::TIME, 'grantedMs'],
        'revokedMs' => [Member::TIME, 'revokedMs'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** "granted"; "revoked" or "superseded": take back what you paid out under this grant id. */
    public readonly string $outcome;
    /** For the app (LST-2). */
    public readonly string $answer;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $grantedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedMs;
    /** False for a repetition. */
    public readonly bool $changed;
    /** Whether it is granted. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.ledger.revoked" … */
    public readonly string $status;
    /** What to answer the app. */
    public readonly int $httpStatus;
}
