<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Units that were given back. */
final class Refunded extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'used' => [Member::INTEGER, 'used'],
    ] + self::STATUS;

    /** "refunded"; "none": there was nothing to give back. */
    public readonly string $outcome;
    /** How many units of that day are still used. */
    public readonly ?int $used;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
