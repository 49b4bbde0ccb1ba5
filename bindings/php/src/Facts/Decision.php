<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * What an account may have now.
 *
 * `entitled` is the answer, `plan` what is in force (the default plan when not
 * entitled), `state` why, `until` and `nextCheck` when to look again.
 */
final class Decision extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'plan' => [Member::TEXT, 'plan'],
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
        'groups' => [Member::DETAILS_LIST, 'groups', GroupDecision::class],
        'leftOut' => [Member::DETAILS_LIST, 'leftOut', LeftOut::class],
        'entitled' => [Member::OWN, 'entitled'],
    ];

    /** The plan in force; the default one when none is. */
    public readonly ?string $plan;
    /**
     * "active", "grace", "billing-retry", "expired", "refunded", "revoked-family",
     * "superseded", "not-started", "denied-by-policy", "stale", "owned", "once", "none".
     */
    public readonly ?string $state;
    /** "DEC-10": the row of the decision table. */
    public readonly ?string $row;
    /**
     * "trial", "intro", "offer", "will-not-renew", "change-pending", "renewal-booked", "price-
     * consent-pending", "cancelled", "family", "assigned", "by-this-evidence".
     *
     * @var list<string>
     */
    public readonly array $flags;
    /** Refunded: revocation reason; expired: expiration intent. */
    public readonly ?int $reason;
    /**
     * First moment outside the entitlement, or from when a refund took it; null: no end, or
     * nothing is granted. Milliseconds since 1970 UTC.
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
    /** End of the billing grace period. Milliseconds since 1970 UTC. */
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
    /**
     * "proven": Apple's evidence carries the account; "unproven": it carries none; null: no
     * account was compared.
     */
    public readonly ?string $account;
    /** Newer evidence would say more: ask for it. */
    public readonly ?bool $stale;
    /** When to decide again; null: no need. Milliseconds since 1970 UTC. */
    public readonly ?int $nextCheck;
    /** `nextCheck` in UTC. */
    public readonly ?DateTimeImmutable $nextCheckAt;
    /** How far the evidence reaches. */
    public readonly ?EvidenceReach $evidence;
    /** @var list<GroupDecision> Every group, the leading one first. */
    public readonly array $groups;
    /** @var list<LeftOut> Transactions that decided nothing. */
    public readonly array $leftOut;
    /** Whether a plan above the default one is in force. false for any doubt. */
    public readonly bool $entitled;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }

    protected function own(string $name): mixed
    {
        return $this->document->ok;
    }
}
