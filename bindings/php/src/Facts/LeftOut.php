<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A transaction that decided nothing, and why. */
final class LeftOut extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'reason' => [Member::TEXT, 'reason'],
        'productId' => [Member::TEXT, 'productId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'environment' => [Member::TEXT, 'environment'],
    ];

    /** "unknown-product", "unknown-type", "type-mismatch", "sandbox". */
    public readonly ?string $reason;
    /** Its product. */
    public readonly ?string $productId;
    /** Its line. */
    public readonly ?string $originalTransactionId;
    /** The transaction. */
    public readonly ?string $transactionId;
    /** "Production", "Sandbox" … */
    public readonly ?string $environment;
}
