<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A key that was bound. */
final class KeyFound extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'key' => [Member::DETAILS, 'key', StoredKey::class],
    ] + self::STATUS;

    /** "found". */
    public readonly string $outcome;
    /** What the verification of an assertion needs. */
    public readonly StoredKey $key;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
