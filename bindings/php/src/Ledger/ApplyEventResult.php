<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The changes by a notification, in purchases and subscriptions. */
final class ApplyEventResult extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'take' => [Member::DETAILS_LIST, 'take', Take::class],
        'give' => [Member::DETAILS_LIST, 'give', Claim::class],
        'subscriptions' => [Member::DETAILS_LIST, 'subscriptions', SubscriptionUpdate::class],
        'refused' => [Member::DETAILS_LIST, 'refused', RefusedPart::class],
        'changed' => [Member::BOOLEAN, 'changed'],
        'restricted' => [Member::DETAILS_LIST, 'restricted', RestrictedAccount::class],
        'hasMore' => [Member::BOOLEAN, 'hasMore'],
    ] + self::STATUS;

    /** @var list<Take> what to take back */
    public readonly array $take;
    /** @var list<Claim> claims of reversed refunds; `grants` returns those that need a grant */
    public readonly array $give;
    /** @var list<SubscriptionUpdate> the outcome for subscriptions and unlocks */
    public readonly array $subscriptions;
    /** @var list<RefusedPart> parts refused for good: log them, and answer 200 */
    public readonly array $refused;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /**
     * The accounts at the download of a RESCIND_CONSENT, at most 50; delete what the law demands
     * of them.
     *
     * @var list<RestrictedAccount>
     */
    public readonly array $restricted;
    /** Whether more accounts are at the download. */
    public readonly bool $hasMore;
    /** Whether the operation succeeded; if not, `status` has the reason. */
    public readonly bool $ok;
    /** The name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** The response to Apple: 200, or 503, after which Apple sends the notification again. */
    public readonly int $httpStatus;

    /** @return list<Grant> what to grant again */
    public function grants(): array
    {
        return Claim::grants($this->give);
    }

    protected function own(string $name): mixed
    {
        return $name === 'httpStatus' ? ($this->ok ? 200 : 503) : parent::own($name);
    }
}
