<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A subscription, or another purchase that lasts. */
final class Line extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'productId' => [Member::TEXT, 'productId'],
        'plan' => [Member::TEXT, 'plan'],
        'account' => [Member::TEXT, 'account'],
        'purchasedMs' => [Member::TIME, 'purchasedMs'],
        'expiresMs' => [Member::TIME, 'expiresMs'],
        'graceMs' => [Member::TIME, 'graceMs'],
        'revokedMs' => [Member::TIME, 'revokedMs'],
        'clearedMs' => [Member::TIME, 'clearedMs'],
        'asOf' => [Member::TIME, 'asOf'],
        'nextCheckMs' => [Member::TIME, 'nextCheckMs'],
        'evidence' => [Member::TEXT, 'evidence'],
        'counts' => [Member::BOOLEAN, 'counts'],
    ];

    /** "Production" or "Sandbox". */
    public readonly string $environment;
    /** The first purchase of it. */
    public readonly string $originalTransactionId;
    /** The newest purchase of it. */
    public readonly string $transactionId;
    /** What was bought. */
    public readonly string $productId;
    /** The plan of it, by the configuration when it was stored. */
    public readonly ?string $plan;
    /** Who has it; only in due lists. */
    public readonly ?string $account;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $purchasedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $expiresMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $graceMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $clearedMs;
    /** Age of what is known. Milliseconds since 1970 UTC. */
    public readonly int $asOf;
    /** When to ask Apple. Milliseconds since 1970 UTC. */
    public readonly ?int $nextCheckMs;
    /** SHA-256 of the text, 64 hex digits; only in due lists. */
    public readonly ?string $evidence;
    /** Whether it gives its plan now. */
    public readonly ?bool $counts;
}
