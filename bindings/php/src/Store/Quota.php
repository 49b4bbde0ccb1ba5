<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What is left of a meter today. */
final class Quota extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'used' => [Member::INTEGER, 'used'],
        'limit' => [Member::INTEGER, 'limit'],
        'left' => [Member::INTEGER, 'left'],
        'resetMs' => [Member::TIME, 'resetMs'],
        'ticket' => [Member::TEXT, 'ticket'],
        'headers' => [Member::MAP, 'headers', string::class],
        'fallback' => [Member::TEXT, 'fallback'],
        'unmetered' => [Member::BOOLEAN, 'unmetered'],
    ] + self::STATUS;

    /** "taken"; of `refund` "refunded", or "none": there was nothing to give back. */
    public readonly string $outcome;
    /** Your own number: 1 for the first. */
    public readonly ?int $used;
    /** A day. */
    public readonly ?int $limit;
    /** How many more today. */
    public readonly ?int $left;
    /** The next day. Milliseconds since 1970 UTC. */
    public readonly ?int $resetMs;
    /** Gives it back: `refund`. Stays on the server. */
    public readonly ?string $ticket;
    /** @var array<string, string> for the answer, name to value */
    public readonly array $headers;
    /** The tier to try instead. */
    public readonly ?string $fallback;
    /** True: the store was away, and nothing was counted. */
    public readonly ?bool $unmetered;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
