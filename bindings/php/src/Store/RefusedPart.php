<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What an event did not do; the rest of it was done. */
final class RefusedPart extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'at' => [Member::TEXT, 'at'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'status' => [Member::TEXT, 'status'],
    ];

    /** "ledger" or "line". */
    public readonly string $at;
    /** Apple's. */
    public readonly ?string $transactionId;
    /** "rejected.identity.product" … */
    public readonly string $status;
}
