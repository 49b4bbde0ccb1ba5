<?php

declare(strict_types=1);

namespace Shop;

use PDO;

/**
 * Sums of the ledger for the dashboard: what was bought and paid back, which subscriptions began,
 * renewed and ended. Sandbox purchases cost nothing, and are left out. Each is one read, so that
 * nothing is kept beside the ledger that a killed process could leave wrong.
 */
final class Books
{
    /** The indexes of the ledger's tables that the reads here need. */
    private const INDEXES = [
        'shop_purchase_bought' => 'purchase (purchased_at_ms)',
        'shop_purchase_refunded' => 'purchase (revoked_at_ms)',
        'shop_subscription_ends' => 'subscription (expires_at_ms)',
        'shop_subscription_refunded' => 'subscription (revoked_at_ms)',
    ];
    /** A period of grace is shorter than this many milliseconds. */
    private const GRACE_MS = 60 * 86_400_000;
    /** Milliunits of a whole purchase (docs/spec/ledger-statements.md, STM-2). */
    private const WHOLE = 100_000;

    /** @param string $prefix that of the ledger's tables */
    public function __construct(private PDO $pdo, private Settings $settings, private string $prefix)
    {
    }

    public function createIndexes(): void
    {
        foreach (self::INDEXES as $name => $columns) {
            $this->pdo->exec("CREATE INDEX IF NOT EXISTS $name ON $this->prefix$columns");
        }
    }

    /** @return list<Sale> what was bought, by column and product */
    public function bought(Span $span): array
    {
        return $this->sales($span, 'purchased_at_ms', (string) self::WHOLE);
    }

    /** @return list<Sale> what Apple paid back, by column and product */
    public function refunded(Span $span): array
    {
        return $this->sales($span, 'revoked_at_ms', 'COALESCE(revocation_percentage, ' . self::WHOLE . ')');
    }

    /**
     * Returns what became of subscriptions, by what and column: "started", "renewed" (or came
     * back), "ended" at the end of a period, "refunded".
     *
     * @return array<string, array<int, int>>
     */
    public function subscriptions(Span $span): array
    {
        $now = Clock::ms();
        $isFirst = 'CASE WHEN transaction_id = original_transaction_id THEN 1 ELSE 0 END';
        $ended = "revoked_at_ms IS NULL AND expires_at_ms <= $now"
            . " AND (grace_expires_at_ms IS NULL OR grace_expires_at_ms <= $now)";
        $found = ['started' => [], 'renewed' => [], 'ended' => [], 'refunded' => []];
        $reads = [
            ['purchase', 'purchased_at_ms', $isFirst, '1 = 1', ['renewed', 'started']],
            ['subscription', 'expires_at_ms', '0', $ended, ['ended']],
            ['subscription', 'revoked_at_ms', '0', '1 = 1', ['refunded']],
        ];
        foreach ($reads as [$table, $time, $which, $condition, $names]) {
            foreach ($this->counted($span, $table, $time, $which, $condition) as [$begin, $product, $at, $count]) {
                if ($this->settings->type((string) $product) === 'auto-renewable') {
                    $name = $names[(int) $at];
                    $found[$name][(int) $begin] = ($found[$name][(int) $begin] ?? 0) + (int) $count;
                }
            }
        }

        return $found;
    }

    /** @return array<string, array{int, int}> plan => subscriptions that are active now, of them renewing */
    public function active(): array
    {
        $now = Clock::ms();
        $read = $this->rows("SELECT product, plan, COUNT(*), SUM(is_renewing) FROM {$this->prefix}subscription"
            . " WHERE environment = 'Production' AND revoked_at_ms IS NULL AND deactivated_at_ms IS NULL"
            . ' AND expires_at_ms > ' . ($now - self::GRACE_MS)
            . " AND (expires_at_ms > $now OR grace_expires_at_ms > $now) GROUP BY 1, 2 ORDER BY 2, 1");
        $found = [];
        foreach ($read as [$product, $plan, $count, $renewing]) {
            if ($this->settings->type((string) $product) === 'auto-renewable') {
                $so = $found[(string) $plan] ?? [0, 0];
                $found[(string) $plan] = [$so[0] + (int) $count, $so[1] + (int) $renewing];
            }
        }

        return $found;
    }

    /** Returns until when ledger and Apple were compared, in milliseconds since 1970; null if never. */
    public function reconciled(): ?int
    {
        [[$untilMs]] = $this->rows("SELECT MAX(until_ms) FROM {$this->prefix}run WHERE done_at_ms IS NOT NULL");

        return $untilMs === null ? null : (int) $untilMs;
    }

    /**
     * Returns how many differences between ledger and Apple were found and closed, by day.
     *
     * @return array{found: array<int, int>, closed: array<int, int>} begin of the day => number
     */
    public function differences(int $fromMs): array
    {
        $found = ['found' => [], 'closed' => []];
        foreach (['found' => 'found_at_ms', 'closed' => 'closed_at_ms'] as $name => $time) {
            $read = $this->rows("SELECT $time - $time % 86400000, COUNT(*) FROM {$this->prefix}difference"
                . " WHERE $time >= $fromMs GROUP BY 1 ORDER BY 1");
            foreach ($read as [$begin, $count]) {
                $found[$name][(int) $begin] = (int) $count;
            }
        }

        return $found;
    }

    /** @return list<Sale> */
    private function sales(Span $span, string $time, string $part): array
    {
        $column = $span->column($time);
        $read = $this->rows("SELECT $column, product, SUM(quantity), SUM(quantity * $part)"
            . " FROM {$this->prefix}purchase WHERE environment = 'Production'"
            . " AND $time >= $span->fromMs AND $time < $span->toMs GROUP BY 1, 2 ORDER BY 1, 2");
        $sales = [];
        foreach ($read as [$begin, $product, $items, $parts]) {
            $price = $this->settings->prices[(string) $product] ?? null;
            // Rounded to the nearest unit, once for a product in a column.
            $minor = $price === null ? null
                : intdiv(Money::times($price->minor, (int) $parts) + intdiv(self::WHOLE, 2), self::WHOLE);
            $sales[] = new Sale((int) $begin, (string) $product, (int) $items, $price?->currency, $minor);
        }

        return $sales;
    }

    /** @return list<array<int, string|int|null>> begin of the column, product, which, number */
    private function counted(Span $span, string $table, string $time, string $which, string $condition): array
    {
        $column = $span->column($time);

        return $this->rows("SELECT $column, product, $which, COUNT(*) FROM $this->prefix$table"
            . " WHERE environment = 'Production' AND $time >= $span->fromMs AND $time < $span->toMs"
            . " AND $condition GROUP BY 1, 2, 3");
    }

    /** @return list<array<int, string|int|null>> */
    private function rows(string $text): array
    {
        $read = $this->pdo->query($text);

        return $read === false ? [] : $read->fetchAll(PDO::FETCH_NUM);
    }
}
