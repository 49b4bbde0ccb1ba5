<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * A purchase to be paid out now. What you pay out is stored under `grantId`, once: with grant mode
 * "lease" the same one may come again.
 */
final class Grant extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'purchaseKey' => [Member::TEXT, 'purchaseKey'],
        'grantId' => [Member::TEXT, 'grantId'],
        'fencingToken' => [Member::INTEGER, 'fencingToken'],
        'account' => [Member::TEXT, 'account'],
        'product' => [Member::TEXT, 'product'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'units' => [Member::INTEGER, 'units'],
        'repeat' => [Member::BOOLEAN, 'repeat'],
    ];

    /** The row of the ledger. */
    public readonly string $purchaseKey;
    /** 64 hex digits: the same at each try, another after a reversed refund. */
    public readonly string $grantId;
    /** Grows with each take-over: refuse one that is smaller than one seen (STO-26). */
    public readonly int $fencingToken;
    /** Who gets it. */
    public readonly string $account;
    /** What was bought. */
    public readonly string $product;
    /** How many. */
    public readonly int $quantity;
    /** What to give: quantity × `products.<id>.units`; after a reversal what was taken back. */
    public readonly int $units;
    /** Whether this grant id was handed out before: it may be paid out already. */
    public readonly bool $repeat;
}
