<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use Assay\Internal\Refusal;

/**
 * What to do with a request that comes without an assertion, or with one.
 *
 * Advice with reasons, never an entitlement: a paid request still needs its plan.
 */
final class Risk extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'verdict' => [Member::TEXT, 'verdict'],
        'would' => [Member::TEXT, 'would'],
        'reasons' => [Member::TEXTS, 'reasons'],
        'rules' => [Member::DETAILS_LIST, 'rules', RiskReason::class],
        'allowance' => [Member::INTEGER, 'allowance'],
        'retryAfterMs' => [Member::INTEGER, 'retryAfterMs'],
        'client' => [Member::DETAILS, 'client', ClientError::class],
        'allowed' => [Member::OWN, ''],
        'status' => [Member::OWN, ''],
        'httpStatus' => [Member::OWN, ''],
    ];

    /** "allow", "limited", "step-up" (ask for something stronger), "deny". */
    public readonly ?string $verdict;
    /** The real verdict while `risk.mode` is record, when `verdict` is allow. */
    public readonly ?string $would;
    /** @var list<string> Ids of all rules that fired. */
    public readonly array $reasons;
    /** @var list<RiskReason> The same, explained. */
    public readonly array $rules;
    /** Requests per day; only with "limited". */
    public readonly ?int $allowance;
    /** Milliseconds after which asking again may help; null: it will not. */
    public readonly ?int $retryAfterMs;
    /** About the `errorCode` observed; null without one. */
    public readonly ?ClientError $client;
    /** Whether the verdict is allow. false for any other. */
    public readonly bool $allowed;
    /** Name of the status: "ok", "rejected.risk.limited" … */
    public readonly string $status;
    /** What to answer the client: 200, 401 step-up, 403 deny, 429 limited. */
    public readonly int $httpStatus;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }

    protected function own(string $name): mixed
    {
        $document = $this->document;

        return match ($name) {
            'allowed' => $document->ok,
            'status' => $document->status(),
            'httpStatus' => $document->ok ? 200 : Refusal::httpStatus($document->code),
            default => parent::own($name),
        };
    }
}
