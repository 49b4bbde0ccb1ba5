<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** What one subscription group, or one product without a group, gives. */
final class GroupDecision extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'plan' => [Member::TEXT, 'plan'],
        'entitled' => [Member::BOOLEAN, 'entitled'],
        'state' => [Member::TEXT, 'state'],
        'row' => [Member::TEXT, 'row'],
        'flags' => [Member::TEXTS, 'flags'],
        'reason' => [Member::INTEGER, 'reason'],
        'until' => [Member::TIME, 'until'],
        'untilAt' => [Member::MOMENT, 'until'],
        'wouldBeUntil' => [Member::TIME, 'wouldBeUntil'],
        'wouldBeUntilAt' => [Member::MOMENT, 'wouldBeUntil'],
        'bookedUntil' => [Member::TIME, 'bookedUntil'],
        'bookedUntilAt' => [Member::MOMENT, 'bookedUntil'],
        'graceUntil' => [Member::TIME, 'graceUntil'],
        'graceUntilAt' => [Member::MOMENT, 'graceUntil'],
        'productId' => [Member::TEXT, 'productId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'environment' => [Member::TEXT, 'environment'],
        'account' => [Member::TEXT, 'account'],
        'stale' => [Member::BOOLEAN, 'stale'],
        'nextCheck' => [Member::TIME, 'nextCheck'],
        'nextCheckAt' => [Member::MOMENT, 'nextCheck'],
        'evidence' => [Member::DETAILS, 'evidence', EvidenceReach::class],
        'group' => [Member::TEXT, 'group'],
        'type' => [Member::TEXT, 'type'],
        'purchases' => [Member::DETAILS_LIST, 'purchases', Delivery::class],
    ];

    /** Its plan while entitled, else the default one. */
    public readonly ?string $plan;
    /** Whether it is in force now. */
    public readonly ?bool $entitled;
    /** As in Decision: "active", "grace", "expired" … */
    public readonly ?string $state;
    /** "DEC-10": the row of the decision table. */
    public readonly ?string $row;
    /** @var list<string> "trial", "will-not-renew", "family" … */
    public readonly array $flags;
    /** Apple's number of the reason. */
    public readonly ?int $reason;
    /**
     * First moment outside the entitlement; null where nothing is granted. Milliseconds since
     * 1970 UTC.
     */
    public readonly ?int $until;
    /** `until` in UTC. */
    public readonly ?DateTimeImmutable $untilAt;
    /** Where nothing is granted: the end of what was bought. Milliseconds since 1970 UTC. */
    public readonly ?int $wouldBeUntil;
    /** `wouldBeUntil` in UTC. */
    public readonly ?DateTimeImmutable $wouldBeUntilAt;
    /** End of a renewal booked ahead. Milliseconds since 1970 UTC. */
    public readonly ?int $bookedUntil;
    /** `bookedUntil` in UTC. */
    public readonly ?DateTimeImmutable $bookedUntilAt;
    /** End of the grace period. Milliseconds since 1970 UTC. */
    public readonly ?int $graceUntil;
    /** `graceUntil` in UTC. */
    public readonly ?DateTimeImmutable $graceUntilAt;
    /** The product that decided. */
    public readonly ?string $productId;
    /** Its line. */
    public readonly ?string $originalTransactionId;
    /** The transaction that decided. */
    public readonly ?string $transactionId;
    /** "Production", "Sandbox" … */
    public readonly ?string $environment;
    /** "proven", "unproven"; null: no account was compared. */
    public readonly ?string $account;
    /** Newer evidence would say more. */
    public readonly ?bool $stale;
    /** When to decide again. Milliseconds since 1970 UTC. */
    public readonly ?int $nextCheck;
    /** `nextCheck` in UTC. */
    public readonly ?DateTimeImmutable $nextCheckAt;
    /** Its reach. */
    public readonly ?EvidenceReach $evidence;
    /** The subscription group, else the product id. */
    public readonly ?string $group;
    /** "auto-renewable", "consumable" … */
    public readonly ?string $type;
    /** @var list<Delivery> Consumables alone: every purchase shown. */
    public readonly array $purchases;
}
