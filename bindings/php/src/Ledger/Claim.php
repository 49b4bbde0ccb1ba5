<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of one purchase. */
final class Claim extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'purchaseKey' => [Member::TEXT, 'purchaseKey'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'outcome' => [Member::TEXT, 'outcome'],
        'status' => [Member::TEXT, 'status'],
        'clientResult' => [Member::TEXT, 'clientResult'],
        'product' => [Member::TEXT, 'product'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'units' => [Member::INTEGER, 'units'],
        'repeat' => [Member::BOOLEAN, 'repeat'],
        'reason' => [Member::TEXT, 'reason'],
        'changed' => [Member::BOOLEAN, 'changed'],
        'grantId' => [Member::TEXT, 'grantId'],
        'fencingToken' => [Member::INTEGER, 'fencingToken'],
        'account' => [Member::TEXT, 'account'],
        'leaseExpiresAtMs' => [Member::TIME, 'leaseExpiresAtMs'],
        'retryAfterMs' => [Member::INTEGER, 'retryAfterMs'],
        'claimedAtMs' => [Member::TIME, 'claimedAtMs'],
        'grantedAtMs' => [Member::TIME, 'grantedAtMs'],
        'revokedAtMs' => [Member::TIME, 'revokedAtMs'],
    ];

    /** The row of the ledger; null where the purchase cannot have one. */
    public readonly ?string $purchaseKey;
    /** Apple's. */
    public readonly string $transactionId;
    /**
     * "new", "resume": yours to pay out. "already-granted", "in-progress", "other-account",
     * "revoked", "superseded", "held", "unknown-product", "upgraded", "family-shared",
     * "unclaimed", "refused", "granted".
     */
    public readonly string $outcome;
    /** Why, where the outcome is "refused". */
    public readonly ?string $status;
    /** For the app (LST-2); null while you have yet to pay out. */
    public readonly ?string $clientResult;
    /** What was bought. */
    public readonly string $product;
    /** How many. */
    public readonly int $quantity;
    /** What to give, while it is yours to pay out: quantity × `products.<id>.units`. */
    public readonly ?int $units;
    /** Whether its grant id was handed out before, while it is yours to pay out. */
    public readonly ?bool $repeat;
    /** Of "held": "lease", it was handed out under one, so no transaction pays it (STO-37). */
    public readonly ?string $reason;
    /** Whether this call changed what the account has. */
    public readonly bool $changed;
    /** What you pay it out under. */
    public readonly ?string $grantId;
    /** Grows with each take-over (STO-26). */
    public readonly ?int $fencingToken;
    /** Who gets it. */
    public readonly ?string $account;
    /** Until then nobody else takes it over. Milliseconds since 1970 UTC. */
    public readonly ?int $leaseExpiresAtMs;
    /** When to ask again. Milliseconds. */
    public readonly ?int $retryAfterMs;
    /** Of "held". Milliseconds since 1970 UTC. */
    public readonly ?int $claimedAtMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $grantedAtMs;
    /** Milliseconds since 1970 UTC. */
    public readonly ?int $revokedAtMs;

    /** Whether it is claimed for this call and not paid out. */
    public function needsGrant(): bool
    {
        return $this->clientResult === null && in_array($this->outcome, ['new', 'resume'], true);
    }

    /**
     * @param list<self> $claims
     *
     * @return list<Grant> what is claimed and not paid out
     *
     * @internal
     */
    public static function grants(array $claims): array
    {
        return array_map(
            static fn (self $claim): Grant => Grant::of($claim->payload()),
            array_values(array_filter($claims, static fn (self $it): bool => $it->needsGrant())),
        );
    }

    /** @internal */
    public function ended(CompleteResult $completed): self
    {
        return self::of([
            'outcome' => $completed->outcome,
            'clientResult' => $completed->clientResult,
            'grantedAtMs' => $completed->grantedAtMs,
            'revokedAtMs' => $completed->revokedAtMs,
            'changed' => $completed->changed,
        ] + $this->payload());
    }

    /**
     * It may be paid out and is not completed (STO-20).
     *
     * @internal
     */
    public function later(): self
    {
        return self::of(['outcome' => 'resume', 'clientResult' => 'deferred'] + $this->payload());
    }
}
