<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A discount on one item. */
final class AdvancedCommerceOffer extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'periodCount' => [Member::INTEGER, 'periodCount'],
        'price' => [Member::INTEGER, 'price'],
        'period' => [Member::TEXT, 'period'],
        'reason' => [Member::TEXT, 'reason'],
    ];

    /** How many periods, 1 to 12. */
    public readonly ?int $periodCount;
    /** Thousandths of the currency unit. */
    public readonly ?int $price;
    /** "P3D", "P1W" … "P1Y". */
    public readonly ?string $period;
    /** "ACQUISITION", "WIN_BACK" or "RETENTION". */
    public readonly ?string $reason;
}
