<?php

declare(strict_types=1);

namespace Shop;

/** What was bought, or paid back, of one product in one column of a span. */
final class Sale
{
    /**
     * @param int $begin the begin of the column, in milliseconds since 1970 UTC
     * @param string|null $currency null if the product has no price
     * @param int|null $minor the money, in the smallest unit of the currency
     */
    public function __construct(
        public readonly int $begin,
        public readonly string $product,
        public readonly int $items,
        public readonly ?string $currency,
        public readonly ?int $minor,
    ) {
    }
}
