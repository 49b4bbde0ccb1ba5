<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The plan of an account now. */
final class Plan extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'plan' => [Member::TEXT, 'plan'],
        'until' => [Member::TIME, 'until'],
        'lines' => [Member::DETAILS_LIST, 'lines', Line::class],
        'atMs' => [Member::TIME, 'atMs'],
        'fromLast' => [Member::BOOLEAN, 'fromLast'],
        'cleared' => [Member::INTEGER, 'cleared'],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** The best that counts; without one the first of `plans`. */
    public readonly string $plan;
    /** Null: no end. Milliseconds since 1970 UTC. */
    public readonly ?int $until;
    /** @var list<Line> at most 50 */
    public readonly array $lines;
    /** When it was read. Milliseconds since 1970 UTC. */
    public readonly ?int $atMs;
    /** True: the store was away, and this is what you handed in as `last`. */
    public readonly ?bool $fromLast;
    /** How many lines were cleared. */
    public readonly ?int $cleared;
    /** Whether this call changed what the account has. */
    public readonly ?bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;

    /**
     * What `read` takes of an earlier answer.
     *
     * @return array<string, mixed>
     *
     * @internal
     */
    public function kept(): array
    {
        return ['plan' => $this->plan, 'until' => $this->until, 'atMs' => $this->atMs];
    }
}
