<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What an Advanced Commerce transaction bought. */
final class AdvancedCommerceTransactionInfo extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'descriptors' => [Member::DETAILS, 'descriptors', AdvancedCommerceDescriptors::class],
        'estimatedTax' => [Member::INTEGER, 'estimatedTax'],
        'items' => [Member::DETAILS_LIST, 'items', AdvancedCommerceTransactionItem::class],
        'period' => [Member::TEXT, 'period'],
        'requestReferenceId' => [Member::TEXT, 'requestReferenceId'],
        'taxCode' => [Member::TEXT, 'taxCode'],
        'taxExclusivePrice' => [Member::INTEGER, 'taxExclusivePrice'],
        'taxRate' => [Member::TEXT, 'taxRate'],
    ];

    /** Texts shown. */
    public readonly ?AdvancedCommerceDescriptors $descriptors;
    /** Thousandths of the currency unit. */
    public readonly ?int $estimatedTax;
    /** @var list<AdvancedCommerceTransactionItem> The items. */
    public readonly array $items;
    /** "P1W", "P1M" … "P1Y". */
    public readonly ?string $period;
    /** UUID of the request. */
    public readonly ?string $requestReferenceId;
    /** Tax code. */
    public readonly ?string $taxCode;
    /** Thousandths of the currency unit. */
    public readonly ?int $taxExclusivePrice;
    /** Tax rate as text. */
    public readonly ?string $taxRate;
}
