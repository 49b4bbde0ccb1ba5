<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What Apple took back. */
final class Revoked extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'revocations' => [Member::DETAILS_LIST, 'revocations', Revocation::class],
        'changed' => [Member::BOOLEAN, 'changed'],
    ] + self::STATUS;

    /** @var list<Revocation> one for each purchase */
    public readonly array $revocations;
    /** Whether this call changed anything. */
    public readonly bool $changed;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
