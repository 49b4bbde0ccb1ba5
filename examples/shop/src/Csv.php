<?php

declare(strict_types=1);

namespace Shop;

/** Comma-separated values (RFC 4180), in which no program for tables finds a formula. */
final class Csv
{
    /** What begins a formula, if a cell begins with it. */
    private const FORMULA = '/^[=+\-@|%\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]/u';
    private const NUMBER = '/^-?[0-9]+(\.[0-9]+)?$/D';

    /**
     * @param list<string> $heads
     * @param iterable<list<string|int|null>> $rows
     */
    public static function of(array $heads, iterable $rows): string
    {
        $text = self::line($heads);
        foreach ($rows as $row) {
            $text .= self::line($row);
        }

        return $text;
    }

    /** @param list<string|int|null> $cells */
    private static function line(array $cells): string
    {
        return implode(',', array_map(self::cell(...), $cells)) . "\r\n";
    }

    private static function cell(string|int|null $value): string
    {
        $text = mb_scrub((string) $value);
        $isFormula = preg_match(self::FORMULA, ltrim($text)) === 1 && preg_match(self::NUMBER, $text) !== 1;
        // A cell stays on its line, so that a reader of lines sees every row once.
        $text = (string) preg_replace('/\p{Cc}/u', ' ', $text);

        return '"' . str_replace('"', '""', ($isFormula ? "'" : '') . $text) . '"';
    }
}
