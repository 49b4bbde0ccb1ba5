<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** An attested key of an account. */
final class Bound extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'keyId' => [Member::TEXT, 'keyId'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** "bound", "already". */
    public readonly string $outcome;
    /** Standard base64, as the app has it. */
    public readonly ?string $keyId;
    /** False for a repetition. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
