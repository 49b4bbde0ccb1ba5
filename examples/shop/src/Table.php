<?php

declare(strict_types=1);

namespace Shop;

/** Tables of the pages. The first cell of a row is its heading. */
final class Table
{
    /**
     * Returns a table of texts and then numbers, narrow enough for a phone.
     *
     * @param list<string> $heads the names of the columns
     * @param list<list<string|int>> $rows HTML by column
     * @param int $texts the number of columns, from the left, that are no numbers
     */
    public static function of(string $caption, array $heads, array $rows, int $texts = 1): string
    {
        $head = '';
        foreach ($heads as $column => $name) {
            $head .= '<th scope="col"' . ($column < $texts ? '>' : ' class="n">') . Page::text($name) . '</th>';
        }
        $body = '';
        foreach ($rows as $row) {
            $body .= '<tr>';
            foreach ($row as $column => $cell) {
                $body .= match (true) {
                    $column === 0 => "<th scope=\"row\">$cell</th>",
                    $column < $texts => "<td>$cell</td>",
                    default => "<td class=\"n\">$cell</td>",
                };
            }
            $body .= '</tr>';
        }

        return '<table><caption class="sr">' . Page::text($caption) . "</caption><thead><tr>$head</tr></thead>"
            . "<tbody>$body</tbody></table>";
    }

    /**
     * Returns a table whose rows become cards on a phone. The roles keep it a table for screen
     * readers, for which a table that is drawn as blocks is none.
     *
     * @param list<string> $heads the names of the columns
     * @param list<list<string>> $rows HTML by column
     */
    public static function cards(string $caption, array $heads, array $rows): string
    {
        $head = '';
        foreach ($heads as $name) {
            $head .= '<th scope="col" role="columnheader">' . Page::text($name) . '</th>';
        }
        $body = '';
        foreach ($rows as $row) {
            $body .= '<tr role="row">';
            foreach ($row as $column => $cell) {
                $name = $cell === '' ? ''
                    : '<span class="name" aria-hidden="true">' . Page::text($heads[$column]) . '</span>';
                $body .= $column === 0 ? "<th scope=\"row\" role=\"rowheader\">$cell</th>"
                    : "<td role=\"cell\">$name$cell</td>";
            }
            $body .= '</tr>';
        }

        return '<table class="cards" role="table"><caption class="sr">' . Page::text($caption) . '</caption>'
            . "<thead role=\"rowgroup\"><tr role=\"row\">$head</tr></thead><tbody role=\"rowgroup\">$body</tbody></table>";
    }
}
