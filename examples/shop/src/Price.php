<?php

declare(strict_types=1);

namespace Shop;

/** The list price of one item: a whole number of the smallest unit of a currency, such as cents. */
final class Price
{
    public const MOST = 1_000_000_000;

    private function __construct(
        public readonly string $currency,
        public readonly int $minor,
    ) {
    }

    /** Returns the price of a setting; null if it has another form. */
    public static function of(mixed $given): ?self
    {
        $one = $given instanceof \stdClass ? get_object_vars($given) : [];
        $currency = $one['currency'] ?? null;
        $minor = $one['minor'] ?? null;
        $isPrice = is_string($currency) && preg_match('/^[A-Z]{3}$/D', $currency) === 1
            && is_int($minor) && $minor >= 0 && $minor <= self::MOST && count($one) === 2;

        return $isPrice ? new self($currency, $minor) : null;
    }
}
