<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * Units of a refunded purchase to be taken back now, once (STO-35): write `takeId` beside what
 * you take, under a unique index, and nothing where it stands already.
 */
final class Take extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'purchaseKey' => [Member::TEXT, 'purchaseKey'],
        'takeId' => [Member::TEXT, 'takeId'],
        'fence' => [Member::INTEGER, 'fence'],
        'account' => [Member::TEXT, 'account'],
        'product' => [Member::TEXT, 'product'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'units' => [Member::INTEGER, 'units'],
        'percentage' => [Member::INTEGER, 'percentage'],
        'leaseUntilMs' => [Member::TIME, 'leaseUntilMs'],
    ];

    /** The row of the ledger. */
    public readonly string $purchaseKey;
    /** The same whenever this is handed out again; another when Apple takes back more. */
    public readonly string $takeId;
    /** Grows whenever it is handed out again. */
    public readonly int $fence;
    /** Who has it. */
    public readonly string $account;
    /** What was bought. */
    public readonly string $product;
    /** How many were bought. */
    public readonly int $quantity;
    /** How many units to take, of what the purchase gave. */
    public readonly int $units;
    /** What Apple refunded of the price, in thousandths of a percent; null: all of it. */
    public readonly ?int $percentage;
    /** Null: nobody waits for `completeRevoke`. Milliseconds since 1970 UTC. */
    public readonly ?int $leaseUntilMs;
}
