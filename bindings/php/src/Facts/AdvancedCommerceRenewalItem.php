<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** One item that renews. */
final class AdvancedCommerceRenewalItem extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'sku' => [Member::TEXT, 'SKU'],
        'description' => [Member::TEXT, 'description'],
        'displayName' => [Member::TEXT, 'displayName'],
        'offer' => [Member::DETAILS, 'offer', AdvancedCommerceOffer::class],
        'price' => [Member::INTEGER, 'price'],
        'priceIncreaseInfo' => [
            Member::DETAILS, 'priceIncreaseInfo', AdvancedCommercePriceIncreaseInfo::class,
        ],
    ];

    /** The item. */
    public readonly ?string $sku;
    /** Text shown. */
    public readonly ?string $description;
    /** Name shown. */
    public readonly ?string $displayName;
    /** Discount. */
    public readonly ?AdvancedCommerceOffer $offer;
    /** Thousandths of the currency unit. */
    public readonly ?int $price;
    /** Price increase, if any. */
    public readonly ?AdvancedCommercePriceIncreaseInfo $priceIncreaseInfo;
}
