<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Texts that were kept (STO-68). */
final class KeptTexts extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'evidence' => [Member::DETAILS_LIST, 'evidence', KeptText::class],
        'missing' => [Member::TEXTS, 'missing'],
    ] + self::STATUS;

    /** @var list<KeptText> what is there */
    public readonly array $evidence;
    /** @var list<string> what is not */
    public readonly array $missing;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;
}
