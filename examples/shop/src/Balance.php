<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Difference;

/**
 * /balance: whether ledger and Apple agree, and else a line for each difference, with what it means
 * and the one button that settles it (RCN-40, RCN-60). It asks Apple nothing: `bin/shop reconcile`
 * does.
 */
final class Balance
{
    private const LIMIT = 1 << 16;
    private const ACTIONS = ['close' => Role::Support, 'sweep' => Role::Support];
    private const DAYS = 90;
    private const DAY_MS = 86_400_000;
    private const HEADS = ['What', 'Order', 'Product', 'Bought, in UTC', 'Found, in UTC', 'What to do'];
    /** By kind: the tone, what it says, and what to do. The worst first. */
    private const KINDS = [
        'paid-not-granted' => ['bad', 'Paid, and received nothing',
            'Owed. It is granted when the customer opens the app; or ask for the receipt, and grant it on the page Support.'],
        'reversal-not-given-back' => ['bad', 'Paid again after a refund, and waits', 'The sweep gives it back.'],
        'claim-left-behind' => ['bad', 'An order that stopped half-way', 'The sweep finishes it.'],
        'subscription-unowned' => ['bad', 'A subscription that no account has shown',
            'It is granted when the customer opens the app.'],
        'unknown-product' => ['bad', 'Bought, and not in the price list', 'Add the product; the next night\'s run looks again.'],
        'refund-not-taken-back' => ['wait', 'Refunded, and the goods are still there', 'The sweep takes them back.'],
        'refund-share-unknown' => ['wait', 'Apple refunded a part and did not say which', 'Decide, and close it: the customer has kept everything.'],
        'unknown-at-apple' => ['wait', 'Apple does not know this order', 'Look at it: an order of another environment, most often.'],
        'not-verified' => ['wait', 'Apple sent what could not be verified', 'Look at the log, and report it.'],
        'history-gap' => ['wait', 'Apple tells nothing of this time any more', 'Look at what you have of it.'],
    ];
    /** The kinds that the sweep settles. */
    private const SWEPT = ['reversal-not-given-back', 'claim-left-behind', 'refund-not-taken-back'];
    private const CHART = ['found' => 'c', 'closed' => 'h'];

    public function __construct(private Shop $shop)
    {
    }

    /** @throws Refused 400, 401, 403, 413 */
    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->shop->settings);
        $done = $request->method === 'POST' ? $this->done($request->form(self::LIMIT), $operator) : '';
        $lines = [...$this->shop->reconcile()->differences()];

        return Page::of('Balance', $done . $this->state($lines) . $this->lines($lines, $operator)
            . $this->chart(), $operator);
    }

    // ---- actions of the operator

    /**
     * Runs the action of a form, after its journal entry was written.
     *
     * @param array<string, string> $form
     *
     * @throws Refused 400, 403
     */
    private function done(array $form, Operator $operator): string
    {
        $form = array_map(Page::typed(...), $form);
        $end = $this->shop->journal()->asked(
            $operator,
            $form,
            self::ACTIONS,
            '',
            $form['id'] ?? '',
            $form['note'] ?? '',
        );
        [$outcome, $tone, $text] = $form['do'] === 'sweep' ? $this->swept() : $this->closed($form, $operator);
        $end($outcome);

        return Page::notice($tone, $text);
    }

    /** @return array{string, string, string} outcome, tone and text */
    private function swept(): array
    {
        $till = $this->shop->till();
        $taken = count($till->dueTakes()->takes) + $till->undoRefunded();
        $given = count($till->due()->claims);

        return ["$given given, $taken taken back", 'good', "The sweep has given $given orders, and taken $taken back."
            . ' A line goes when the next run has seen it.'];
    }

    /**
     * @param array<string, string> $form
     *
     * @return array{string, string, string}
     */
    private function closed(array $form, Operator $operator): array
    {
        $note = $form['note'] ?? '';
        if ($note === '' || preg_match('/^[0-9a-f]{64}$/D', $form['id'] ?? '') !== 1) {
            return ['incomplete', 'wait', 'A note is needed: how was it settled?'];
        }
        $outcome = $this->shop->reconcile()->close($form['id'], mb_strcut("$operator->name: $note", 0, 255));

        return match ($outcome) {
            'closed' => [$outcome, 'good', 'Closed. It opens again only if Apple says something newer.'],
            'already' => [$outcome, 'wait', 'It was closed before.'],
            default => [$outcome, 'bad', 'There is no such line.'],
        };
    }

    // ---- the page

    /** @param list<Difference> $lines */
    private function state(array $lines): string
    {
        $untilMs = $this->shop->books()->reconciled();
        $looked = $untilMs === null ? 'Nobody has looked yet: <code>bin/shop reconcile</code>, each hour.'
            : 'Looked at until ' . Page::time($untilMs) . '.';
        if ($lines === []) {
            return $untilMs === null ? "<section class=\"wait\"><h2>Not known</h2><p>$looked</p></section>"
                : "<section class=\"good\"><h2>Balanced</h2><p>The shop and Apple agree. $looked</p></section>";
        }
        $counts = array_count_values(array_map(static fn (Difference $one): string => $one->kind, $lines));
        $rows = [];
        foreach (array_intersect_key(self::KINDS, $counts) as $kind => [$tone, $says]) {
            $rows[] = ["<span class=\"$tone\">$says</span>", $counts[$kind], self::worth($lines, $kind)];
        }

        return '<section><h2>' . count($lines) . ' differences</h2>' . "<p>$looked</p>"
            . Table::of('Differences by kind', ['What', 'Lines', 'Worth'], $rows) . '</section>';
    }

    /**
     * Returns the sum of the prices of a kind in each currency, as Apple signed them.
     *
     * @param list<Difference> $lines
     */
    private static function worth(array $lines, string $kind): string
    {
        $sums = [];
        foreach ($lines as $one) {
            if ($one->kind === $kind && $one->price !== null && $one->currency !== null) {
                $sums[$one->currency] = ($sums[$one->currency] ?? 0) + $one->price;
            }
        }
        ksort($sums);
        $shown = [];
        foreach ($sums as $currency => $thousandths) {
            $shown[] = Money::price($thousandths, $currency);
        }

        return $shown === [] ? '–' : Page::text(implode(', ', $shown));
    }

    /** @param list<Difference> $lines */
    private function lines(array $lines, Operator $operator): string
    {
        $rows = [];
        foreach ($lines as $one) {
            [$tone, $says, $advice] = self::KINDS[$one->kind] ?? ['wait', $one->kind, ''];
            $order = $one->transactionId ?? $one->detail ?? '–';
            $rows[] = ["<span class=\"$tone\">$says</span>", Page::text("$one->environment $order"),
                Page::text($one->productId ?? '–'), Page::time($one->purchasedAtMs), Page::time($one->foundAtMs),
                "<p>$advice</p>" . ($operator->may(Role::Support) ? self::button($one, $operator) : '')];
        }

        return $rows === [] ? '' : '<section><h2>Each of them</h2>'
            . Table::cards('Differences, the oldest first', self::HEADS, $rows) . '</section>';
    }

    /** Returns the one button of a line: the sweep, or a person who says how it was settled. */
    private static function button(Difference $one, Operator $operator): string
    {
        $isSwept = in_array($one->kind, self::SWEPT, true);
        $fields = ['do' => $isSwept ? 'sweep' : 'close', 'id' => $one->id, 'seal' => $operator->seal()];
        $hidden = '';
        foreach ($fields as $name => $value) {
            $hidden .= "<input type=\"hidden\" name=\"$name\" value=\"" . Page::text($value) . '">';
        }
        $note = $isSwept ? '' : "<label for=\"n$one->id\">How it was settled</label>"
            . "<input id=\"n$one->id\" name=\"note\" required maxlength=\"200\">";

        return "<form method=\"post\" action=\"/balance\">$hidden$note<button>" . ($isSwept ? 'Sweep now' : 'Close')
            . '</button></form>';
    }

    private function chart(): string
    {
        $first = intdiv(Clock::ms(), self::DAY_MS) - self::DAYS + 1;
        $columns = [];
        for ($day = $first; $day < $first + self::DAYS; $day++) {
            $columns[$day * self::DAY_MS] = gmdate('j M', $day * 86_400);
        }

        return Chart::section(
            'The last ' . self::DAYS . ' days',
            $columns,
            $this->shop->books()->differences($first * self::DAY_MS),
            self::CHART,
            strval(...),
        );
    }
}
