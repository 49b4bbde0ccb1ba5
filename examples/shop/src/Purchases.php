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
        $rows = [];
        foreach ($read->fetchAll(PDO::FETCH_NUM) as [$environment, $transactionId]) {
            array_push($rows, ...$this->ledger->find(
                account: $account,
                environment: $environment,
                transactionId: $transactionId,
                operatorView: true,
            )->rows);
        }

        return $rows;
    }
}
