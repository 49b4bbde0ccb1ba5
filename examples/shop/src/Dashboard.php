<?php

declare(strict_types=1);

namespace Shop;

/**
 * GET /dashboard: the classes of requests beside their outcomes (BCK-24). The classes come from
 * unverified texts; only the outcomes are proven.
 */
final class Dashboard
{
    private const CLASSES = [
        'candidate' => ['b', 'a receipt that may be ours'],
        'jws' => ['a', 'a signed transaction'],
        'unconfirmed' => ['f', 'may be ours, but odd'],
        'repeated' => ['h', 'granted to its sender before'],
        'foreign' => ['e', 'of another app, or a product not in the catalogue'],
        'cracking-tool' => ['d', 'made by a cracking tool'],
        'malformed' => ['c', 'cut off, or no receipt'],
        'unsupported' => ['g', 'something else'],
    ];
    private const OUTCOMES = [
        'granted' => ['h', 'paid out'],
        'renewed' => ['b', 'a later period, paid out'],
        'unconfirmed-settled' => ['f', 'odd, and genuine'],
        'already-granted' => ['a', 'its owner again'],
        'other-account' => ['c', 'genuine, but somebody else\'s'],
        'revoked' => ['d', 'refunded before'],
        'deferred' => ['g', 'store or Apple away: will come again'],
    ];

    public function __construct(private Settings $settings, private Tally $tally)
    {
    }

    public function answer(Request $request): Answer
    {
        Operator::of($request, $this->settings);
        $day = $request->query['day'] ?? '';
        $day = preg_match('/^20[0-9]{2}-[01][0-9]-[0-3][0-9]$/', $day) === 1 ? $day : gmdate('Y-m-d');
        $this->tally->write(0);
        $found = $this->tally->day($day);
        $triage = self::ordered($found['triage'], self::CLASSES);
        $outcomes = self::ordered($found['outcome'], self::OUTCOMES);
        $all = self::sum($outcomes);

        return Page::of("Requests of $day", self::days($day, $all)
            . '<div class="pair"><section><h2>What they looked like</h2>'
            . '<p class="soft">Triage: claims, nothing of it verified.</p>'
            . self::table($triage, self::CLASSES) . '</section><section><h2>What became of them</h2>'
            . '<p class="soft">Verified outcomes, one for each request.</p>'
            . self::table($outcomes, self::OUTCOMES) . '</section></div>'
            . self::chart('Triage classes by hour', $triage, self::CLASSES)
            . self::chart('Outcomes by hour', $outcomes, self::OUTCOMES));
    }

    private static function days(string $day, int $all): string
    {
        $link = static fn (string $to, string $word): string
            => '<a href="/dashboard?day=' . gmdate('Y-m-d', (int) strtotime("$day $to UTC")) . "\">$word</a>";

        return "<p>$all requests. " . $link('-1 day', 'The day before') . ' · '
            . $link('+1 day', 'The day after') . '</p>';
    }

    /**
     * @param array<string, array<int, int>> $series
     * @param array<string, array{string, string}> $known
     *
     * @return array<string, array<int, int>> the known names first
     */
    private static function ordered(array $series, array $known): array
    {
        $ordered = [];
        foreach ([...array_keys($known), ...array_keys($series)] as $name) {
            isset($series[$name]) && $ordered[$name] = $series[$name];
        }

        return $ordered;
    }

    private static function table(array $series, array $known): string
    {
        $all = self::sum($series);
        $rows = '';
        foreach ($series as $name => $hours) {
            $count = array_sum($hours);
            [$colour, $what] = $known[$name] ?? self::other($name);
            $rows .= '<tr><td>' . Page::text($name) . " <span class=\"soft\">$what</span>"
                . Chart::bar($count, $all, $colour) . "</td><td class=\"n\">$count</td>"
                . sprintf('<td class="n">%.1f %%</td></tr>', 100 * $count / max(1, $all));
        }

        return $rows === '' ? '<p>None.</p>' : '<table><tr><th>what</th><th class="n">requests</th>'
            . "<th class=\"n\">share</th></tr>$rows</table>";
    }

    /** @return array{string, string} colour and meaning of an outcome that ends a request early */
    private static function other(string $name): array
    {
        return str_starts_with($name, 'triage ')
            ? ['e', 'never reached verification'] : ['i', 'looked at, and refused'];
    }

    private static function chart(string $title, array $series, array $known): string
    {
        $colours = [];
        foreach (array_keys($series) as $name) {
            $colours[$name] = ($known[$name] ?? self::other($name))[0];
        }

        return "<section><h2>$title</h2>" . Chart::hours($series, $colours, $title)
            . Chart::key(self::grouped($colours)) . '</section>';
    }

    /** Groups the names that share a colour into one entry of the key. */
    private static function grouped(array $colours): array
    {
        $names = [];
        foreach ($colours as $name => $colour) {
            $names[$colour][] = $name;
        }

        return array_flip(array_map(static fn (array $of): string => implode(', ', $of), $names));
    }

    private static function sum(array $series): int
    {
        return array_sum(array_map(array_sum(...), $series));
    }
}
