<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What became of one claim. */
final class ResumeResult extends Result
{
    use PaidOut;
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::OWN, 'outcome'],
        'clientResult' => [Member::OWN, 'clientResult'],
        'claims' => [Member::OWN, 'claims'],
        'changed' => [Member::OWN, 'changed'],
    ] + self::STATUS;

    /** Of the claim. See Claim. */
    public readonly ?string $outcome;
    /**
     * For the app (LST-2): "granted", "already-granted", "refused-final", "refused-keep",
     * "deferred"; null while you have yet to pay out.
     */
    public readonly ?string $clientResult;
    /** @var list<Claim> the claim */
    public readonly array $claims;
    /** Whether this call changed what the account has. */
    public readonly bool $changed;
    /** Whether there is something to pay out, or was. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.purchase.already-granted" … */
    public readonly string $status;
    /** What to answer the app: 200, 202, 409 … */
    public readonly int $httpStatus;

    /** @return list<Grant> what is claimed and not paid out */
    public function grants(): array
    {
        return Claim::grants($this->claims);
    }

    protected function own(string $name): mixed
    {
        return $this->led($name);
    }
}
