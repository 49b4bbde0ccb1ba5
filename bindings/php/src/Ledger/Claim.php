<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The outcome of claiming one purchase. */
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

    /** The key of the ledger row; null if the purchase cannot have one. */
    public readonly ?string $purchaseKey;
    /** Apple's id of the transaction. */
    public readonly string $transactionId;
    /**
     * "new" or "resume" if you must grant the purchase; else "already-granted", "in-progress",
     * "other-account", "revoked", "superseded", "held", "unknown-product", "upgraded",
     * "family-shared", "unclaimed", "refused" or "granted".
     */
    public readonly string $outcome;
    /** The reason of the outcome "refused"; else null. */
    public readonly ?string $status;
    /** The result for the app (LST-2); null while a grant is needed. */
    public readonly ?string $clientResult;
    /** The product id. */
    public readonly string $product;
    /** The number of items bought. */
    public readonly int $quantity;
    /** The amount to give while a grant is needed: quantity × `products.<id>.units`. */
    public readonly ?int $units;
    /** Whether the grant id was handed out before, while a grant is needed. */
    public readonly ?bool $repeat;
    /**
     * "lease" for the outcome "held" of a purchase that was handed out under a lease, so that no
     * transaction may grant it (STO-37).
     */
    public readonly ?string $reason;
    /** Whether this call changed what the account has. */
    public readonly bool $changed;
    /** The id under which you store what you give. */
    public readonly ?string $grantId;
    /** A number that grows with each take-over (STO-26). */
    public readonly ?int $fencingToken;
    /** The account that gets the purchase. */
    public readonly ?string $account;
    /**
     * The time until which no other attempt takes the claim over, in milliseconds since 1970 UTC.
     */
    public readonly ?int $leaseExpiresAtMs;
    /** The time to wait before the next call, in milliseconds. */
    public readonly ?int $retryAfterMs;
    /** When the purchase was claimed, for the outcome "held". Milliseconds since 1970 UTC. */
    public readonly ?int $claimedAtMs;
    /** When the purchase was granted. Milliseconds since 1970 UTC. */
    public readonly ?int $grantedAtMs;
    /** When the purchase was revoked. Milliseconds since 1970 UTC. */
    public readonly ?int $revokedAtMs;

    /** Whether this call holds the claim and the purchase is not granted yet. */
    public function needsGrant(): bool
    {
        return $this->clientResult === null && in_array($this->outcome, ['new', 'resume'], true);
    }

    /**
     * @param list<self> $claims
     *
     * @return list<Grant> what is claimed and not granted yet
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
     * Returns this claim as perhaps granted and not completed (STO-20).
     *
     * @internal
     */
    public function later(): self
    {
        return self::of(['outcome' => 'resume', 'clientResult' => 'deferred'] + $this->payload());
    }
}
