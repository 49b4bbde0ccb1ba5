<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** `latestReceipt` of an answer, which is signed, verified offline in the call. */
final class LatestReceipt extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'verified' => [Member::BOOLEAN, 'verified'],
        'status' => [Member::TEXT, 'status'],
        'sha256' => [Member::TEXT, 'sha256'],
    ];

    /** Store the text only when this is true. */
    public readonly ?bool $verified;
    /** Status of its verification: "ok", or why not. */
    public readonly ?string $status;
    /** SHA-256 of its text, hex. */
    public readonly ?string $sha256;
}
