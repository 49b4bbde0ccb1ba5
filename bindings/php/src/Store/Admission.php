<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** An address may sign up. */
final class Admission extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'ticket' => [Member::TEXT, 'ticket'],
        'left' => [Member::INTEGER, 'left'],
        'resetMs' => [Member::TIME, 'resetMs'],
        'headers' => [Member::MAP, 'headers', string::class],
        'outcome' => [Member::TEXT, 'outcome'],
        'refunded' => [Member::BOOLEAN, 'refunded'],
    ] + self::STATUS;

    /** For `settle`. Stays on the server. */
    public readonly ?string $ticket;
    /** How many more today. */
    public readonly ?int $left;
    /** The next day. Milliseconds since 1970 UTC. */
    public readonly ?int $resetMs;
    /** @var array<string, string> for the answer, name to value */
    public readonly array $headers;
    /** Of `settle`: "created", "exists" … */
    public readonly ?string $outcome;
    /** Of `settle`: whether the address has its place of the day again. */
    public readonly ?bool $refunded;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
