<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What Apple took back. */
final class RevokeResult extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'revocations' => [Member::DETAILS_LIST, 'revocations', PurchaseRevocation::class],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** @var list<PurchaseRevocation> one for each purchase */
    public readonly array $revocations;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What to answer Apple: 200, or 503, and then the notification comes again. */
    public readonly int $httpStatus;

    /** @return list<Take> what to take back */
    public function takes(): array
    {
        return array_values(array_filter(array_column($this->revocations, 'take')));
    }

    protected function own(string $name): mixed
    {
        return $name === 'httpStatus' ? ($this->ok ? 200 : 503) : parent::own($name);
    }
}
