<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** An account whose id is nowhere any more. */
final class Forgotten extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'forgotten' => [Member::MAP, 'forgotten'],
        'more' => [Member::BOOLEAN, 'more'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** "forgotten", "already". */
    public readonly string $outcome;
    /** @var array<string, int> lines, purchases, keys, meters */
    public readonly array $forgotten;
    /** True: call again with the same, and with the same attempt. */
    public readonly ?bool $more;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
