<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The purchases that Apple took back. */
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
    /** Whether the operation succeeded; if not, `status` has the reason. */
    public readonly bool $ok;
    /** The name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** The response to Apple: 200, or 503, after which Apple sends the notification again. */
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
