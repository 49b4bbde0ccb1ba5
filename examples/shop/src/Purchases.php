<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Ledger;
use Assay\Ledger\LedgerPurchase as Row;
use PDO;

/**
 * All purchases of an account, in pages, because `find` returns only the newest 50. Claimed
 * purchases that are not granted come first.
 */
final class Purchases
{
    public const PAGE = 50;
    /** The columns of an export. */
    public const COLUMNS = ['purchased', 'environment', 'transaction', 'product', 'quantity', 'state',
        'account', 'granted', 'refunded'];
    private const PLACE = '/^([0-9]{1,16})\.([A-Za-z]{1,32}\/[\x21-\x7e]{1,127})$/D';

    /** @param string $prefix that of the ledger's tables (docs/spec/ledger-statements.md) */
    public function __construct(private PDO $pdo, private Ledger $ledger, private string $prefix)
    {
    }

    /** @return array<string, int> the number of the account's purchases by state */
    public function states(string $account): array
    {
        $read = $this->pdo->prepare('SELECT state, COUNT(*) FROM ' . $this->prefix
            . 'purchase WHERE owner = ? GROUP BY state');
        $read->execute([$account]);

        return array_map(intval(...), $read->fetchAll(PDO::FETCH_KEY_PAIR));
    }

    /**
     * @param int $page from 1
     *
     * @return list<Row>
     */
    public function page(string $account, int $page): array
    {
        $read = $this->pdo->prepare('SELECT environment, transaction_id'
            . " FROM {$this->prefix}purchase WHERE owner = ? ORDER BY"
            . " CASE state WHEN 'claimed' THEN 0 ELSE 1 END, purchased_at_ms DESC, purchase_key"
            . sprintf(' LIMIT %d OFFSET %d', self::PAGE, self::PAGE * ($page - 1)));
        $read->execute([$account]);

        return $this->found($read->fetchAll(PDO::FETCH_NUM), $account);
    }

    /**
     * Returns the oldest claims of all accounts whose lease is over and that no sweep has resumed.
     *
     * @return list<Row>
     */
    public function waiting(): array
    {
        $read = $this->pdo->prepare("SELECT environment, transaction_id FROM {$this->prefix}purchase"
            . " WHERE state = 'claimed' AND lease_expires_at_ms < ? AND owner <> ''"
            . ' ORDER BY lease_expires_at_ms, purchase_key LIMIT ' . self::PAGE);
        $read->execute([Clock::ms()]);

        return $this->found($read->fetchAll(PDO::FETCH_NUM), null);
    }

    /**
     * @param list<array<int, string>> $purchases environment and transaction id
     *
     * @return list<Row>
     */
    private function found(array $purchases, ?string $account): array
    {
        $rows = [];
        foreach ($purchases as [$environment, $transactionId]) {
            array_push($rows, ...$this->ledger->find(
                account: $account,
                environment: $environment,
                transactionId: $transactionId,
                operatorView: true,
            )->rows);
        }

        return $rows;
    }

    /**
     * Returns a place in the orders of an account: what an earlier page returned as `next`.
     *
     * @return array{int, string}|null the date of a purchase and its key; null for another text
     */
    public static function place(string $text): ?array
    {
        return preg_match(self::PLACE, $text, $found) === 1 ? [(int) $found[1], $found[2]] : null;
    }

    /**
     * Returns one page of an account's orders for the account itself: without notes, and without
     * what the ledger keeps for itself. Orders that come in between move no row to another page.
     *
     * @param array{int, string}|null $place the last order of the page before
     *
     * @return array{orders: list<array<string, string|int|null>>, next: string|null}
     */
    public function own(string $account, ?array $place): array
    {
        $read = $this->pdo->prepare('SELECT environment, transaction_id, product, quantity, state,'
            . ' purchased_at_ms, granted_at_ms, revoked_at_ms, purchase_key'
            . " FROM {$this->prefix}purchase WHERE owner = ?" . ($place === null ? ''
                : ' AND purchased_at_ms <= ? AND (purchased_at_ms < ? OR purchase_key > ?)')
            . ' ORDER BY purchased_at_ms DESC, purchase_key LIMIT ' . (self::PAGE + 1));
        $read->execute([$account, ...($place === null ? [] : [$place[0], $place[0], $place[1]])]);
        $rows = $read->fetchAll(PDO::FETCH_NUM);
        $last = count($rows) > self::PAGE ? $rows[self::PAGE - 1] : null;
        $orders = array_map(static fn (array $row): array => [
            'environment' => $row[0],
            'transactionId' => $row[1],
            'product' => $row[2],
            'quantity' => (int) $row[3],
            'state' => $row[4],
            'purchasedAtMs' => (int) $row[5],
            'grantedAtMs' => $row[6] === null ? null : (int) $row[6],
            'refundedAtMs' => $row[7] === null ? null : (int) $row[7],
        ], array_slice($rows, 0, self::PAGE));

        return ['orders' => $orders, 'next' => $last === null ? null : "$last[5].$last[8]"];
    }

    /** @return list<list<string|int|null>> the orders of a span, of all accounts, by COLUMNS */
    public function of(Span $span, int $most): array
    {
        $read = $this->pdo->query('SELECT purchased_at_ms, environment, transaction_id, product, quantity, state,'
            . " owner, granted_at_ms, revoked_at_ms FROM {$this->prefix}purchase"
            . " WHERE purchased_at_ms >= $span->fromMs AND purchased_at_ms < $span->toMs"
            . " ORDER BY purchased_at_ms, purchase_key LIMIT $most");
        $rows = $read === false ? [] : $read->fetchAll(PDO::FETCH_NUM);

        return array_map(static function (array $row): array {
            foreach ([0, 7, 8] as $time) {
                $row[$time] = $row[$time] === null ? null
                    : gmdate('Y-m-d\TH:i:s\Z', intdiv((int) $row[$time], 1000));
            }

            return $row;
        }, $rows);
    }
}
