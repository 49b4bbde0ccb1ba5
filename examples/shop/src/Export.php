<?php

declare(strict_types=1);

namespace Shop;

/** GET /export: a table of a day, week or month as CSV. Who exported which is in the journal. */
final class Export
{
    /** The tables, and the role that each needs: the last two name accounts. */
    public const TABLES = ['requests' => Role::Reader, 'money' => Role::Reader,
        'subscriptions' => Role::Reader, 'orders' => Role::Admin, 'events' => Role::Admin];
    /** The limit of rows; a longer table is refused and never cut. */
    public const MOST = 10_000;

    public function __construct(private Shop $shop)
    {
    }

    /** @throws Refused 400, 401, 403 */
    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->shop->settings);
        $subject = trim(implode(' ', array_map(
            static fn (string $name): string => $request->query[$name] ?? '',
            ['table', 'span', 'day'],
        )));

        return $this->shop->journal()->kept($operator, 'export', $subject, function () use ($request, $operator): array {
            $table = $request->query['table'] ?? '';
            $operator->needs(self::TABLES[$table] ?? throw new Refused(400, 'No such table'));
            $span = Span::of($request->query);
            [$heads, $rows] = $this->table($table, $span);
            if (count($rows) > self::MOST) {
                throw new Refused(400, 'More than ' . self::MOST . ' rows: take a shorter span');
            }

            return [count($rows) . ' rows', new Answer(200, Csv::of($heads, $rows), [
                'Content-Type' => 'text/csv; charset=utf-8',
                'Content-Disposition' => "attachment; filename=\"shop-$table-$span->kind-{$span->date()}.csv\"",
                'X-Content-Type-Options' => 'nosniff',
            ])];
        });
    }

    /** @return array{list<string>, list<list<string|int|null>>} heads and rows */
    private function table(string $name, Span $span): array
    {
        return match ($name) {
            'requests' => $this->requests($span),
            'money' => $this->money($span),
            'subscriptions' => $this->subscriptions($span),
            'orders' => [Purchases::COLUMNS, $this->shop->purchases()->of($span, self::MOST + 1)],
            default => [EventLog::COLUMNS, $this->shop->events()->of($span, self::MOST + 1)],
        };
    }

    /** @return array{list<string>, list<list<string|int>>} */
    private function requests(Span $span): array
    {
        $this->shop->tally()->write(0);
        $rows = [];
        foreach ($this->shop->tally()->of($span) as $kind => $series) {
            foreach ($series as $name => $counts) {
                $class = $kind === 'outcome' ? RequestClass::of($name)?->value : null;
                foreach ($counts as $begin => $count) {
                    $rows[] = [self::time($begin), $kind, $name, (string) $class, $count];
                }
            }
        }

        return [['begin', 'kind', 'name', 'class', 'requests'], $rows];
    }

    /** @return array{list<string>, list<list<string|int>>} */
    private function money(Span $span): array
    {
        $books = $this->shop->books();
        $rows = [];
        foreach (['bought' => $books->bought($span), 'refunded' => $books->refunded($span)] as $what => $sales) {
            foreach ($sales as $sale) {
                $money = $sale->currency === null ? '' : Money::number(
                    $what === 'refunded' ? -(int) $sale->minor : (int) $sale->minor,
                    $sale->currency,
                );
                $rows[] = [self::time($sale->begin), $what, $sale->product, $sale->items, $money, (string) $sale->currency];
            }
        }

        return [['begin', 'what', 'product', 'items', 'money', 'currency'], $rows];
    }

    /** @return array{list<string>, list<list<string|int>>} */
    private function subscriptions(Span $span): array
    {
        $found = $this->shop->books()->subscriptions($span);
        $rows = [];
        foreach (array_keys($span->columns()) as $begin) {
            $rows[] = [self::time($begin), ...array_map(
                static fn (array $of): int => $of[$begin] ?? 0,
                array_values($found),
            )];
        }

        return [['begin', ...array_keys($found)], $rows];
    }

    private static function time(int $ms): string
    {
        return gmdate('Y-m-d\TH:i:s\Z', intdiv($ms, 1000));
    }
}
