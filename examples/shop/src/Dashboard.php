<?php

declare(strict_types=1);

namespace Shop;

/**
 * GET /dashboard: the requests, the revenue and the subscriptions of a day, week or month (BCK-24).
 * The looks of requests come from unverified texts; only the outcomes are proven.
 */
final class Dashboard
{
    private const CATEGORIES = [
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
        'no-receipt' => ['e', 'no token, or no receipt in it'],
    ];
    private const SUBSCRIPTIONS = ['started' => 'b', 'renewed' => 'h', 'ended' => 'c', 'refunded' => 'i'];

    public function __construct(private Settings $settings, private Tally $tally, private \Closure $books)
    {
    }

    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->settings);
        $span = Span::of($request->query);
        $this->tally->write(0);
        $found = $this->tally->of($span);
        $books = ($this->books)();
        $all = self::sum($found['outcome']);

        return Page::of('Requests of ' . $span->title(), Page::choice('/dashboard', $span)
            . $this->classes($span, $found['outcome'], $all)
            . '<div class="pair"><section><h2>What they looked like</h2>'
            . '<p class="soft">Triage: claims, nothing of it verified.</p>'
            . self::table('Categories of triage', $found['triage'], self::CATEGORIES)
            . '</section><section><h2>What became of them</h2>'
            . '<p class="soft">Verified outcomes, one for each request.</p>'
            . self::table('Outcomes', $found['outcome'], self::OUTCOMES) . '</section></div>'
            . $this->money($span, $books->bought($span), $books->refunded($span))
            . $this->subscriptions($span, $books)
            . self::exports($span, $operator), $operator);
    }

    // ---- requests

    /** @param array<string, array<int, int>> $outcomes */
    private function classes(Span $span, array $outcomes, int $all): string
    {
        $series = array_fill_keys(array_column(RequestClass::cases(), 'value'), []);
        $none = 0;
        foreach ($outcomes as $outcome => $counts) {
            $class = RequestClass::of($outcome);
            $none += $class === null ? array_sum($counts) : 0;
            foreach ($class === null ? [] : $counts as $begin => $count) {
                $series[$class->value][$begin] = ($series[$class->value][$begin] ?? 0) + $count;
            }
        }
        $known = [];
        foreach (RequestClass::cases() as $class) {
            $known[$class->value] = [$class->colour(), $class->meaning()];
        }

        return '<section><h2>Classes</h2>' . "<p>$all requests. $none of them are of no class: they had no"
            . ' receipt or token, or will come again.</p>'
            . self::table('Requests by class', $series, $known) . '</section>'
            . Chart::section(
                'Classes over time',
                $span->columns(),
                $series,
                array_map(static fn (array $of): string => $of[0], $known),
                strval(...),
            );
    }

    /**
     * @param array<string, array<int, int>> $series name => begin of a column => number
     * @param array<string, array{string, string}> $known colour and meaning by name
     */
    private static function table(string $caption, array $series, array $known): string
    {
        $all = self::sum($series);
        $rows = [];
        foreach ([...array_intersect_key($known, $series), ...$series] as $name => $_) {
            $count = array_sum($series[$name]);
            [$colour, $what] = $known[$name] ?? self::other($name);
            $rows[] = [Page::text($name) . " <span class=\"soft\">$what</span>"
                . Chart::bar($count, $all, $colour), $count, self::share($count, $all)];
        }

        return $rows === [] ? '<p>None.</p>' : Table::of($caption, ['What', 'Requests', 'Share'], $rows);
    }

    /** @return array{string, string} colour and meaning of an outcome that ends a request early */
    private static function other(string $name): array
    {
        return str_starts_with($name, 'triage ')
            ? ['e', 'never reached verification'] : ['i', 'looked at, and refused'];
    }

    /** @param array<string, array<int, int>> $series */
    private static function sum(array $series): int
    {
        return (int) array_sum(array_map(array_sum(...), $series));
    }

    private static function share(int $part, int $all): string
    {
        $tenths = $all === 0 ? 0 : intdiv(1000 * $part + intdiv($all, 2), $all);

        return sprintf('%d.%d %%', intdiv($tenths, 10), $tenths % 10);
    }

    // ---- money

    /**
     * @param list<Sale> $bought
     * @param list<Sale> $refunded
     */
    private function money(Span $span, array $bought, array $refunded): string
    {
        $items = [];
        $byCurrency = [];
        foreach (['bought' => $bought, 'refunded' => $refunded] as $what => $sales) {
            foreach ($sales as $sale) {
                $items[$sale->product][$what] = ($items[$sale->product][$what] ?? 0) + $sale->items;
                if ($sale->currency !== null) {
                    $sum = &$byCurrency[$sale->currency][$what][$sale->begin];
                    $sum = ($sum ?? 0) + (int) $sale->minor;
                    unset($sum);
                }
            }
        }
        ksort($items);
        ksort($byCurrency);
        $rows = [];
        foreach ($items as $product => $counts) {
            $price = $this->settings->prices[$product] ?? null;
            $rows[] = [Page::text($product), $price === null ? 'no price' : Money::text($price->minor, $price->currency),
                $counts['bought'] ?? 0, $counts['refunded'] ?? 0];
        }
        $tables = $rows === [] ? '<p>Nothing was bought or refunded.</p>'
            : Table::of('Items by product', ['Product', 'List price', 'Bought', 'Refunded'], $rows);

        return '<section><h2>Revenue and refunds</h2><p class="soft">Purchases of Production by the date of the'
            . ' purchase, refunds by the date of the refund, at the list prices of the settings: trials, offers,'
            . ' taxes and Apple\'s share are not in the ledger.</p>' . $tables . self::sums($byCurrency)
            . '</section>' . self::moneyCharts($span, $byCurrency);
    }

    /** @param array<string, array<string, array<int, int>>> $byCurrency currency => what => begin => money */
    private static function sums(array $byCurrency): string
    {
        $rows = [];
        foreach ($byCurrency as $currency => $of) {
            $gross = array_sum($of['bought'] ?? []);
            $back = array_sum($of['refunded'] ?? []);
            $rows[] = [$currency, ...array_map(
                static fn (int $minor): string => Money::number($minor, $currency),
                [$gross, $back, $gross - $back],
            )];
        }

        return $rows === [] ? '' : Table::of('Money by currency', ['Currency', 'Revenue', 'Refunds', 'Left'], $rows);
    }

    /** @param array<string, array<string, array<int, int>>> $byCurrency */
    private static function moneyCharts(Span $span, array $byCurrency): string
    {
        $charts = '';
        foreach ($byCurrency as $currency => $of) {
            $charts .= Chart::section(
                "Revenue and refunds in $currency",
                $span->columns(),
                ['revenue' => $of['bought'] ?? [], 'refunds' => $of['refunded'] ?? []],
                ['revenue' => 'h', 'refunds' => 'i'],
                static fn (int $minor): string => Money::number($minor, $currency),
            );
        }

        return $charts;
    }

    // ---- subscriptions

    private function subscriptions(Span $span, Books $books): string
    {
        $found = $books->subscriptions($span);
        $sums = array_map(array_sum(...), $found);
        $due = $sums['renewed'] + $sums['ended'];
        $rows = [];
        foreach ($books->active() as $plan => [$count, $renewing]) {
            $rows[] = [Page::text($plan), $count, $renewing, $count - $renewing];
        }
        $active = $rows === [] ? '<p>None is active now.</p>'
            : Table::of('Subscriptions that are active now', ['Plan now', 'Active', 'Will renew', 'Will not'], $rows);

        return '<section><h2>Subscriptions</h2>' . "<p>$sums[started] started, $sums[renewed] renewed or came back,"
            . " $sums[ended] ended, $sums[refunded] were refunded. Of $due that were due, "
            . self::share($sums['renewed'], $due) . ' renewed, and ' . self::share($sums['ended'], $due)
            . ' ended (churn).</p>' . $active . '</section>'
            . Chart::section('Renewals and churn', $span->columns(), $found, self::SUBSCRIPTIONS, strval(...));
    }

    private static function exports(Span $span, Operator $operator): string
    {
        $links = '';
        foreach (Export::TABLES as $table => $role) {
            $query = Page::text(http_build_query(['table' => $table, 'day' => $span->date(), 'span' => $span->kind]));
            $links .= $operator->may($role) ? "<li><a href=\"/export?$query\">$table</a></li>" : '';
        }

        return "<section><h2>Export as CSV</h2><ul>$links</ul></section>";
    }
}
