<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The outcome of claiming the purchases of some evidence. */
final class ClaimResult extends Result
{
    use PaidOut;
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::OWN, 'outcome'],
        'clientResult' => [Member::OWN, 'clientResult'],
        'claims' => [Member::OWN, 'claims'],
        'remaining' => [Member::INTEGER, 'remaining'],
        'changed' => [Member::OWN, 'changed'],
        'restriction' => [Member::DETAILS, 'restriction', Restriction::class],
    ] + self::STATUS;

    /**
     * The outcome of the first claim that needs a grant, else of the newest purchase. See Claim.
     */
    public readonly ?string $outcome;
    /**
     * The result for the app (LST-2): "granted", "already-granted", "refused-final",
     * "refused-keep", "deferred"; null while a grant is needed.
     */
    public readonly ?string $clientResult;
    /** @var list<Claim> one for each purchase, in purchase order */
    public readonly array $claims;
    /** The number of purchases that were left for another call. */
    public readonly ?int $remaining;
    /** Whether this call changed what the account has. */
    public readonly bool $changed;
    /** The restriction of the account; null without one. */
    public readonly ?Restriction $restriction;
    /** Whether a claim needs a grant, or was granted by this call. */
    public readonly bool $ok;
    /** The name of the status: "ok", "rejected.purchase.already-granted" … */
    public readonly string $status;
    /** The HTTP status for the app: 200, 202, 409 … */
    public readonly int $httpStatus;

    /** @return list<Grant> what is claimed and not granted yet */
    public function grants(): array
    {
        return Claim::grants($this->claims);
    }

    protected function own(string $name): mixed
    {
        return $this->led($name);
    }
}
