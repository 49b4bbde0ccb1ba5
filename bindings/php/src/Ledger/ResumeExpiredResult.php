<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * Claims whose lease is over, now yours: pay each out under its grant id, then complete it; or
 * what became of them by the grant of `resumeExpired`.
 */
final class ResumeExpiredResult extends Result
{
    use PaidOut;
    use ReadOnce;

    protected const MEMBERS = [
        'claims' => [Member::OWN, 'claims'],
        'held' => [Member::DETAILS_LIST, 'held', Claim::class],
        'hasMore' => [Member::BOOLEAN, 'hasMore'],
    ] + self::STATUS;

    /** @var list<Claim> yours */
    public readonly array $claims;
    /** @var list<Claim> left to a person (STO-27) */
    public readonly array $held;
    /** Whether to call again at once. */
    public readonly bool $hasMore;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;

    /** @return list<Grant> what to pay out */
    public function grants(): array
    {
        return Claim::grants($this->claims);
    }

    protected function own(string $name): mixed
    {
        return $name === 'claims' ? $this->claims() : parent::own($name);
    }
}
