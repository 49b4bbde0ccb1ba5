<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A request to Apple that may go out now. */
final class Paced extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'used' => [Member::INTEGER, 'used'],
        'limit' => [Member::INTEGER, 'limit'],
        'unpaced' => [Member::BOOLEAN, 'unpaced'],
    ] + self::STATUS;

    /** "taken". */
    public readonly string $outcome;
    /** How many requests this second has, with this one; null: nothing was counted. */
    public readonly ?int $used;
    /** How many a second may have; null: Apple names no limit. */
    public readonly ?int $limit;
    /** True: the store was away, and the request may go out all the same. */
    public readonly ?bool $unpaced;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
