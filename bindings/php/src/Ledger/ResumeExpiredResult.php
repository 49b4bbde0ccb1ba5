<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * Claims whose lease has expired and which this call took over: grant each under its grant id, then
 * complete it; or their outcome after the grant of `resumeExpired`.
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

    /** @var list<Claim> claims that this call took over */
    public readonly array $claims;
    /** @var list<Claim> claims that an operator must resolve (STO-27) */
    public readonly array $held;
    /** Whether to call again at once. */
    public readonly bool $hasMore;
    /** Whether the operation succeeded; if not, `status` has the reason. */
    public readonly bool $ok;
    /** The name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** The HTTP status with which a back end answers its own client. */
    public readonly int $httpStatus;

    /** @return list<Grant> what is claimed and not granted yet */
    public function grants(): array
    {
        return Claim::grants($this->claims);
    }

    protected function own(string $name): mixed
    {
        return $name === 'claims' ? $this->claims() : parent::own($name);
    }
}
