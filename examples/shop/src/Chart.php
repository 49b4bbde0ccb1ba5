<?php

declare(strict_types=1);

namespace Shop;

/** Charts as inline SVG. Their colours are classes of the page, which has light and dark ones. */
final class Chart
{
    private const HEIGHT = 160;
    private const COLUMN = 28;
    /** The limit of names below a chart: more would not fit on a phone. */
    private const NAMES = 6;

    /** Returns a bar as long as its share; it scales with the page, and so has no text. */
    public static function bar(int $value, int $all, string $colour): string
    {
        $width = $all === 0 ? 0 : intdiv(10_000 * $value, $all);

        return '<svg height="10" aria-hidden="true"><rect width="' . self::hundredths(max($width, $value > 0 ? 60 : 0))
            . "%\" height=\"10\" rx=\"2\" class=\"$colour\"/></svg>";
    }

    /**
     * Returns a section with columns over time, each stacked by name, and the same as a table.
     *
     * @param array<int, string> $columns their names by begin, as of Span
     * @param array<string, array<int, int>> $series name => begin of a column => number
     * @param array<string, string> $colours name => class
     * @param \Closure(int): string $shown returns the text of a number
     */
    public static function section(
        string $title,
        array $columns,
        array $series,
        array $colours,
        \Closure $shown,
    ): string {
        $sums = [];
        foreach (array_keys($columns) as $begin) {
            $sums[$begin] = array_sum(array_column($series, $begin));
        }
        $top = max([1, ...$sums]);
        $most = $columns[array_search(max($sums), $sums, true)];
        $label = max($sums) === 0 ? "$title: none" : "$title: the most, {$shown($top)}, at $most. The table has all.";
        $rows = [];
        foreach ($columns as $begin => $name) {
            $rows[] = [Page::text($name), ...array_map(
                static fn (array $of): string => Page::text($shown($of[$begin] ?? 0)),
                array_values($series),
            )];
        }

        return '<section><h2>' . Page::text($title) . '</h2>'
            . self::columns(array_keys($columns), $series, $colours, $top, $label)
            . self::names($columns) . '<p class="soft">Highest column: ' . Page::text($shown($top)) . '</p>'
            . self::key($colours)
            . '<details><summary>The same as a table</summary>'
            . Table::of($title, ['UTC', ...array_keys($series)], $rows) . '</details></section>';
    }

    /**
     * @param list<int> $begins
     * @param array<string, array<int, int>> $series
     * @param array<string, string> $colours
     */
    private static function columns(array $begins, array $series, array $colours, int $top, string $label): string
    {
        $drawn = '';
        foreach ($begins as $number => $begin) {
            $floor = 100 * self::HEIGHT;
            foreach ($series as $name => $of) {
                $height = self::share(max(0, $of[$begin] ?? 0), $top);
                $floor -= $height;
                $drawn .= $height > 0 ? sprintf(
                    '<rect x="%d" y="%s" width="%d" height="%s" class="%s"/>',
                    $number * self::COLUMN + 2,
                    self::hundredths($floor),
                    self::COLUMN - 4,
                    self::hundredths($height),
                    $colours[$name],
                ) : '';
            }
        }
        $size = sprintf('0 0 %d %d', count($begins) * self::COLUMN, self::HEIGHT);

        return "<svg viewBox=\"$size\" height=\"" . self::HEIGHT . '" preserveAspectRatio="none"'
            . ' role="img" aria-label="' . Page::text($label) . "\">$drawn</svg>";
    }

    /** Returns the height of a value in hundredths; large sums of money are divided first. */
    private static function share(int $value, int $top): int
    {
        $height = 100 * self::HEIGHT;

        return $value > intdiv(PHP_INT_MAX, $height) ? intdiv($value, max(1, intdiv($top, $height)))
            : intdiv($value * $height, $top);
    }

    private static function hundredths(int $value): string
    {
        return sprintf('%d.%02d', intdiv($value, 100), $value % 100);
    }

    /** @param array<int, string> $columns */
    private static function names(array $columns): string
    {
        $step = intdiv(count($columns) + self::NAMES - 1, self::NAMES);
        $shown = '';
        foreach (array_values($columns) as $number => $name) {
            $shown .= $number % $step === 0 ? '<span>' . Page::text($name) . '</span>' : '';
        }

        return "<p class=\"hours\">$shown<span>UTC</span></p>";
    }

    /** @param array<string, string> $colours name => class */
    private static function key(array $colours): string
    {
        $drawn = '';
        foreach ($colours as $name => $colour) {
            $drawn .= '<span><svg viewBox="0 0 1 1" aria-hidden="true">'
                . "<rect width=\"1\" height=\"1\" class=\"$colour\"/></svg>" . Page::text($name) . '</span>';
        }

        return "<p class=\"keys\">$drawn</p>";
    }
}
