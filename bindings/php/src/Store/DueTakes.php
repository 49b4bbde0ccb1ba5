<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Take-backs that nobody has completed, now yours: carry each out, then complete it. */
final class DueTakes extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'takes' => [Member::DETAILS_LIST, 'takes', Take::class],
        'more' => [Member::BOOLEAN, 'more'],
    ] + self::STATUS;

    /** @var list<Take> yours */
    public readonly array $takes;
    /** Whether to call again at once. */
    public readonly bool $more;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
