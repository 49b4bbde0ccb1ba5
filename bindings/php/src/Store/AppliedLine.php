<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of one line. */
final class AppliedLine extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'status' => [Member::TEXT, 'status'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'changed' => [Member::BOOLEAN, 'changed'],
        'canMove' => [Member::BOOLEAN, 'canMove'],
        'line' => [Member::DETAILS, 'line', Line::class],
    ];

    /**
     * "applied", "stale" (something newer is stored), "moved", "other-account",
     * "move-too-soon", "left-out", "unknown-product", "refused".
     */
    public readonly string $outcome;
    /** Why, where it was refused. */
    public readonly ?string $status;
    /** Apple's. */
    public readonly string $transactionId;
    /** False for a repetition. */
    public readonly bool $changed;
    /** Ask the customer, then apply again with `confirm`. */
    public readonly ?bool $canMove;
    /** As it is stored now. */
    public readonly ?Line $line;
}
