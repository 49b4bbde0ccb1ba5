<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What an Advanced Commerce subscription renews into. */
final class AdvancedCommerceRenewalInfo extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'consistencyToken' => [Member::TEXT, 'consistencyToken'],
        'descriptors' => [Member::DETAILS, 'descriptors', AdvancedCommerceDescriptors::class],
        'items' => [Member::DETAILS_LIST, 'items', AdvancedCommerceRenewalItem::class],
        'period' => [Member::TEXT, 'period'],
        'requestReferenceId' => [Member::TEXT, 'requestReferenceId'],
        'taxCode' => [Member::TEXT, 'taxCode'],
    ];

    /** Token for changes. */
    public readonly ?string $consistencyToken;
    /** Texts shown. */
    public readonly ?AdvancedCommerceDescriptors $descriptors;
    /** @var list<AdvancedCommerceRenewalItem> The items. */
    public readonly array $items;
    /** "P1W", "P1M" … "P1Y". */
    public readonly ?string $period;
    /** UUID of the request. */
    public readonly ?string $requestReferenceId;
    /** Tax code. */
    public readonly ?string $taxCode;
}
