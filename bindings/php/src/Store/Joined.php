<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Two accounts that are one now. */
final class Joined extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'moved' => [Member::MAP, 'moved'],
        'more' => [Member::BOOLEAN, 'more'],
        'linkedTo' => [Member::TEXT, 'linkedTo'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** "linked", "already". */
    public readonly string $outcome;
    /** @var array<string, int> lines, purchases, keys, meters */
    public readonly array $moved;
    /** True: call again with the same, and with the same attempt. */
    public readonly ?bool $more;
    /** To what it was joined before, for operators. */
    public readonly ?string $linkedTo;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
