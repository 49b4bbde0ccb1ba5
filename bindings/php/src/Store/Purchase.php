<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** One row of the ledger, for support. */
final class Purchase extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'purchaseKey' => [Member::TEXT, 'purchaseKey'],
        'environment' => [Member::TEXT, 'environment'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'outcome' => [Member::TEXT, 'outcome'],
        'state' => [Member::TEXT, 'state'],
        'product' => [Member::TEXT, 'product'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'purchasedMs' => [Member::TIME, 'purchasedMs'],
        'claimedMs' => [Member::TIME, 'claimedMs'],
        'grantedMs' => [Member::TIME, 'grantedMs'],
        'revokedMs' => [Member::TIME, 'revokedMs'],
        'isAccounts' => [Member::BOOLEAN, 'isAccounts'],
        'grantId' => [Member::TEXT, 'grantId'],
        'operator' => [Member::DETAILS, 'operator', OperatorFacts::class],
    ];

    /** The row. */
    public readonly string $purchaseKey;
    /** "Production" or "Sandbox". */
    public readonly string $environment;
    /** Apple's. */
    public readonly string $transactionId;
    /** What to tell the customer (LST): see `Lookup::$outcome`. */
    public readonly string $outcome;
    /** "claimed", "granted", "revoked". */
    public readonly string $state;
    /** What was bought. */
    public readonly string $product;
    /** How many. */
    public readonly int $quantity;
    /** Milliseconds since 1970 UTC. */
    public readonly int $purchasedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $claimedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $grantedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedMs;
    /** Whether it is of the account asked about; null: none was. */
    public readonly ?bool $isAccounts;
    /** What it was paid out under, to its own account and to operators. */
    public readonly ?string $grantId;
    /** For operators only. */
    public readonly ?OperatorFacts $operator;
}
