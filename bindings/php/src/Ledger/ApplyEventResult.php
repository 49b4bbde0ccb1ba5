<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What an event of Apple's changed, ledger and subscriptions. */
final class ApplyEventResult extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'take' => [Member::DETAILS_LIST, 'take', Take::class],
        'give' => [Member::DETAILS_LIST, 'give', Claim::class],
        'subscriptions' => [Member::DETAILS_LIST, 'subscriptions', SubscriptionUpdate::class],
        'refused' => [Member::DETAILS_LIST, 'refused', RefusedPart::class],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** @var list<Take> what to take back */
    public readonly array $take;
    /** @var list<Claim> of reversed refunds: `grants` are yours to pay out */
    public readonly array $give;
    /** @var list<SubscriptionUpdate> what became of subscriptions and unlocks */
    public readonly array $subscriptions;
    /** @var list<RefusedPart> refused for good: log them, and answer 200 */
    public readonly array $refused;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What to answer Apple: 200, or 503, and then the notification comes again. */
    public readonly int $httpStatus;

    /** @return list<Grant> what to pay out again */
    public function grants(): array
    {
        return Claim::grants($this->give);
    }

    protected function own(string $name): mixed
    {
        return $name === 'httpStatus' ? ($this->ok ? 200 : 503) : parent::own($name);
    }
}
