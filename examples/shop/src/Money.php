<?php

declare(strict_types=1);

namespace Shop;

/** Sums of money as text. They are whole numbers of the smallest unit, and never floating point. */
final class Money
{
    /** Digits behind the point, of the currencies that do not have two (ISO 4217). */
    private const DIGITS = ['BIF' => 0, 'CLP' => 0, 'DJF' => 0, 'GNF' => 0, 'ISK' => 0, 'JPY' => 0,
        'KMF' => 0, 'KRW' => 0, 'PYG' => 0, 'RWF' => 0, 'UGX' => 0, 'UYI' => 0, 'VND' => 0, 'VUV' => 0,
        'XAF' => 0, 'XOF' => 0, 'XPF' => 0, 'BHD' => 3, 'IQD' => 3, 'JOD' => 3, 'KWD' => 3, 'LYD' => 3,
        'OMR' => 3, 'TND' => 3];

    /** Returns the number without its currency: -1.09. */
    public static function number(int $minor, string $currency): string
    {
        $digits = self::DIGITS[$currency] ?? 2;
        $text = str_pad(ltrim((string) $minor, '-'), $digits + 1, '0', STR_PAD_LEFT);

        return ($minor < 0 ? '-' : '') . substr($text, 0, strlen($text) - $digits)
            . ($digits === 0 ? '' : '.' . substr($text, -$digits));
    }

    /** Returns a price of Apple's, in thousandths of the currency unit: "9.99 USD". */
    public static function price(int $thousandths, string $currency): string
    {
        return sprintf('%d.%02d', intdiv($thousandths, 1000), intdiv($thousandths % 1000, 10)) . " $currency";
    }

    public static function text(int $minor, string $currency): string
    {
        return self::number($minor, $currency) . " $currency";
    }

    /** @throws \UnexpectedValueException if a number does not hold the product */
    public static function times(int $minor, int $count): int
    {
        $product = $minor * $count;

        return is_int($product) ? $product
            : throw new \UnexpectedValueException('more money than a number holds');
    }
}
