<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * A purchase to be granted now. Store what you give under `grantId`, once: with grant mode "lease"
 * the same grant may come again.
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

    /** The key of the ledger row. */
    public readonly string $purchaseKey;
    /** 64 hex digits: equal for each attempt, different after a reversed refund. */
    public readonly string $grantId;
    /** Grows with each take-over: refuse one smaller than one seen before (STO-26). */
    public readonly int $fencingToken;
    /** The account that gets the purchase. */
    public readonly string $account;
    /** The product id. */
    public readonly string $product;
    /** The number of items bought. */
    public readonly int $quantity;
    /**
     * The amount to give: quantity × `products.<id>.units`, or what a reversed refund gives back.
     */
    public readonly int $units;
    /** Whether this grant id was handed out before, and may already have been granted. */
    public readonly bool $repeat;
}
