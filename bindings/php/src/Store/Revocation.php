<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of one purchase that Apple took back. Act on `take`, and on nothing else. */
final class Revocation extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'purchaseKey' => [Member::TEXT, 'purchaseKey'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'outcome' => [Member::TEXT, 'outcome'],
        'account' => [Member::TEXT, 'account'],
        'product' => [Member::TEXT, 'product'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'percentage' => [Member::INTEGER, 'percentage'],
        'grantId' => [Member::TEXT, 'grantId'],
        'revokedMs' => [Member::TIME, 'revokedMs'],
        'take' => [Member::DETAILS, 'take', Take::class],
        'changed' => [Member::BOOLEAN, 'changed'],
    ];

    /** The row of the ledger. */
    public readonly ?string $purchaseKey;
    /** Apple's. */
    public readonly string $transactionId;
    /**
     * What the purchase was: "wasGranted", "wasClaimed", "unclaimed", "already", "stale",
     * "not-revoked", "refused", "in-progress".
     */
    public readonly string $outcome;
    /** Who has it. */
    public readonly ?string $account;
    /** What was bought. */
    public readonly string $product;
    /** How many. */
    public readonly int $quantity;
    /** Of a partial refund, thousandths of a percent. */
    public readonly ?int $percentage;
    /** What it was paid out under, where there is something to take back. */
    public readonly ?string $grantId;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedMs;
    /** What to take back; null: nothing. */
    public readonly ?Take $take;
    /** False for a repetition. */
    public readonly bool $changed;
}
