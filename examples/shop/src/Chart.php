<?php

declare(strict_types=1);

namespace Shop;

/** Charts as inline SVG. Their colours are classes of the page, which has light and dark ones. */
final class Chart
{
    private const HEIGHT = 160;
    private const COLUMN = 28;

    /** Returns a bar as long as its share; it scales with the page, and so has no text. */
    public static function bar(int $value, int $all, string $colour): string
    {
        $width = $all === 0 ? 0.0 : round(100 * $value / $all, 2);

        return '<svg height="10" role="presentation"><rect width="' . max($width, $value > 0 ? 0.6 : 0)
            . "%\" height=\"10\" rx=\"2\" class=\"$colour\"/></svg>";
    }

    /**
     * Returns the hours of a day as columns, each stacked by name.
     *
     * @param array<string, array<int, int>> $series name => hour => requests
     * @param array<string, string> $colours name => class
     */
    public static function hours(array $series, array $colours, string $label): string
    {
        $sums = array_map(
            static fn (int $hour): int => array_sum(array_column($series, $hour)),
            range(0, 23),
        );
        $top = max(1, ...$sums);
        $drawn = '';
        foreach (range(0, 23) as $hour) {
            $floor = (float) self::HEIGHT;
            foreach ($series as $name => $of) {
                $height = round(self::HEIGHT * ($of[$hour] ?? 0) / $top, 2);
                $floor -= $height;
                $drawn .= $height > 0 ? sprintf(
                    '<rect x="%d" y="%.2f" width="%d" height="%.2f" class="%s"/>',
                    $hour * self::COLUMN + 2,
                    $floor,
                    self::COLUMN - 4,
                    $height,
                    $colours[$name],
                ) : '';
            }
        }
        $size = sprintf('0 0 %d %d', 24 * self::COLUMN, self::HEIGHT);

        return "<svg viewBox=\"$size\" height=\"" . self::HEIGHT . '" preserveAspectRatio="none"'
            . ' role="img" aria-label="' . Page::text($label) . "\">$drawn</svg>"
            . '<p class="hours"><span>00</span><span>06</span><span>12</span><span>18</span>'
            . "<span>24 UTC</span></p><p class=\"soft\">highest column: $top an hour</p>";
    }

    /** @param array<string, string> $colours name => class */
    public static function key(array $colours): string
    {
        $drawn = '';
        foreach ($colours as $name => $colour) {
            $drawn .= '<span><svg viewBox="0 0 1 1" role="presentation">'
                . "<rect width=\"1\" height=\"1\" class=\"$colour\"/></svg>" . Page::text($name) . '</span>';
        }

        return "<p class=\"keys\">$drawn</p>";
    }
}
