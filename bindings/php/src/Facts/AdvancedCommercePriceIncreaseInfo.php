<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A price increase of one item. */
final class AdvancedCommercePriceIncreaseInfo extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'dependentSkus' => [Member::TEXTS, 'dependentSKUs'],
        'price' => [Member::INTEGER, 'price'],
        'status' => [Member::TEXT, 'status'],
    ];

    /** @var list<string> Items whose price it follows. */
    public readonly array $dependentSkus;
    /** Thousandths of the currency unit. */
    public readonly ?int $price;
    /** "SCHEDULED", "PENDING" or "ACCEPTED". */
    public readonly ?string $status;
}
