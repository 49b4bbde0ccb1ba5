<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What evidence made of the lines of an account. */
final class Applied extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'plan' => [Member::TEXT, 'plan'],
        'until' => [Member::TIME, 'until'],
        'lines' => [Member::DETAILS_LIST, 'lines', AppliedLine::class],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** The plan now; null without an account. */
    public readonly ?string $plan;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $until;
    /** @var list<AppliedLine> one for each line */
    public readonly array $lines;
    /** Whether this call changed what the account has. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
