<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** One item that was bought. Decide by `sku`; it is revoked on its own. */
final class AdvancedCommerceTransactionItem extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'sku' => [Member::TEXT, 'SKU'],
        'description' => [Member::TEXT, 'description'],
        'displayName' => [Member::TEXT, 'displayName'],
        'offer' => [Member::DETAILS, 'offer', AdvancedCommerceOffer::class],
        'price' => [Member::INTEGER, 'price'],
        'refunds' => [Member::DETAILS_LIST, 'refunds', AdvancedCommerceRefund::class],
        'revocationDate' => [Member::TIME, 'revocationDate'],
        'revocationAt' => [Member::MOMENT, 'revocationDate'],
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
    /** @var list<AdvancedCommerceRefund> Refunds of this item. */
    public readonly array $refunds;
    /** When this item was revoked. Milliseconds since 1970 UTC. */
    public readonly ?int $revocationDate;
    /** `revocationDate` in UTC. */
    public readonly ?DateTimeImmutable $revocationAt;
}
