<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Whether a purchase was used, and by whom. */
final class Lookup extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'eventual' => [Member::BOOLEAN, 'eventual'],
        'rows' => [Member::DETAILS_LIST, 'rows', Purchase::class],
    ] + self::STATUS;

    /**
     * Of the first row: "already-delivered", "resume" (claimed, not delivered), "refunded",
     * "used-by-other"; "unused": genuine, and nobody's; "unproven": no row and no evidence.
     */
    public readonly string $outcome;
    /** The newest rows may be missing yet (DynamoDB). */
    public readonly ?bool $eventual;
    /** @var list<Purchase> newest first, at most 50 */
    public readonly array $rows;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
