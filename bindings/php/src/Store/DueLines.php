<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Lines about which to ask Apple: apply what comes. */
final class DueLines extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'lines' => [Member::DETAILS_LIST, 'lines', Line::class],
        'more' => [Member::BOOLEAN, 'more'],
    ] + self::STATUS;

    /** @var list<Line> earliest first, at most 25 */
    public readonly array $lines;
    /** Whether to call again at once. */
    public readonly bool $more;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
