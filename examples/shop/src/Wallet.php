<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Grant;
use Assay\Ledger\Take;
use PDO;

/**
 * The coins of each account: one row for what a grant gave, and one for what a take-back left. So
 * each grant id and each take id counts once, however often it comes. A row that no longer counts
 * stays, with a time in `revoked_ms`: a late payment under its id finds the row.
 */
final class Wallet
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_wallet ('
        . 'grant_id VARCHAR(128) NOT NULL PRIMARY KEY, account VARCHAR(255) NOT NULL,'
        . ' product VARCHAR(255) NOT NULL, quantity BIGINT NOT NULL, coins BIGINT NOT NULL,'
        . ' granted_ms BIGINT NOT NULL, revoked_ms BIGINT, purchase_key VARCHAR(160),'
        . ' units BIGINT)';
    private const ROW = 'shop_wallet (grant_id, purchase_key, account, product, quantity, units,'
        . ' coins, granted_ms, revoked_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
    /** The columns that the tables of an older shop lack. */
    private const ADDED = ['purchase_key' => 'VARCHAR(160)', 'units' => 'BIGINT'];
    /** The number of ledger rows that are processed at once. */
    private const PAGE = 1000;
    /** The statements that widen an older shop's column: a take id is longer than a grant id. */
    private const WIDENED = [
        'pgsql' => 'ALTER TABLE shop_wallet ALTER COLUMN grant_id TYPE VARCHAR(128)',
        'mysql' => 'ALTER TABLE shop_wallet MODIFY grant_id VARCHAR(128) NOT NULL',
    ];

    /**
     * @param array<string, int> $goods coins of a unit, by product; other products have none
     * @param string $ledger the ledger's table of purchases (docs/spec/ledger-statements.md)
     */
    public function __construct(
        private PDO $pdo,
        private array $goods,
        private string $ledger = 'assay_purchase',
    ) {
    }

    /** Creates the table, or changes that of an older shop; after a crash it continues. */
    public function createTable(): void
    {
        // By default MariaDB regards accounts that differ only in case as equal.
        $this->pdo->exec(self::TABLE . ($this->isMySql() ? ' COLLATE utf8mb4_bin' : ''));
        $missing = array_diff_key(self::ADDED, array_flip($this->columns()));
        if ($missing !== [] && isset(self::WIDENED[$this->driver()])) {
            $this->pdo->exec(self::WIDENED[$this->driver()]);
        }
        foreach ($missing as $name => $type) {
            $this->pdo->exec("ALTER TABLE shop_wallet ADD COLUMN $name $type");
        }
        $this->pdo->exec('CREATE INDEX IF NOT EXISTS shop_wallet_purchase ON shop_wallet'
            . ' (purchase_key)');
        $this->pdo->exec('CREATE INDEX IF NOT EXISTS shop_wallet_account ON shop_wallet (account)');
        $this->nameOldPayments();
    }

    /**
     * Pays a grant, inside the transaction of the claim or after it; both may be repeated.
     *
     * @param PDO|null $pdo the connection of that transaction; null after it
     * @param (\Closure(PDO, Grant, string): void)|null $audit writes who paid by hand, once for a
     *     grant id, in the transaction of the payment
     */
    public function pay(Grant $grant, ?PDO $pdo = null, ?\Closure $audit = null): void
    {
        $coins = ($this->goods[$grant->product] ?? 0) * $grant->units;
        is_int($coins) || throw new \UnexpectedValueException('more coins than a number holds');
        $row = [$grant->grantId, $grant->purchaseKey, $grant->account,
            $grant->product, $grant->quantity, $grant->units, $coins, Clock::ms(), null];
        if ($audit === null) {
            $this->insert($pdo ?? $this->pdo, $row);

            return;
        }
        $this->together($pdo, function (PDO $pdo) use ($row, $grant, $coins, $audit): void {
            $this->insert($pdo, $row) && $audit($pdo, $grant, "$grant->units units, $coins coins");
        });
    }

    /**
     * Applies what Apple took back (STO-35), inside the transaction of the refund or in its own.
     * The row of the take id has what is left of the purchase, and replaces all that the purchase
     * gave before. It uses the price at which coins were paid, because the catalogue may no longer
     * have the product.
     *
     * @param PDO|null $pdo the connection of that transaction; null after it
     */
    public function takeBack(Take $take, ?PDO $pdo = null): void
    {
        $this->together($pdo, fn (PDO $pdo) => $this->replaceBy($take, $pdo));
    }

    /**
     * Runs changes in the transaction of a claim or a refund; in one of their own if none is open,
     * as under a lease.
     *
     * @param \Closure(PDO): void $changes
     */
    private function together(?PDO $pdo, \Closure $changes): void
    {
        if ($pdo !== null && $pdo->inTransaction()) {
            $changes($pdo);

            return;
        }
        $this->pdo->beginTransaction();
        try {
            $changes($this->pdo);
            $this->pdo->commit();
        } finally {
            $this->pdo->inTransaction() && $this->pdo->rollBack();
        }
    }

    /** Undoes a grant that was refunded or superseded before its completion (STO-26). */
    public function undo(Grant $grant): void
    {
        $now = Clock::ms();
        $this->insert($this->pdo, [$grant->grantId, $grant->purchaseKey, '', '', 0, 0, 0, $now, $now]);
        $this->pdo->prepare('UPDATE shop_wallet SET revoked_ms = ? WHERE grant_id = ?'
            . ' AND revoked_ms IS NULL')->execute([$now, $grant->grantId]);
    }

    /**
     * Undoes payments whose claim was refunded. Under a lease a process may crash between a payment
     * and its completion, and the refund arrive before the claim is resumed: the ledger then counts
     * nothing as granted.
     */
    public function undoRefunded(): int
    {
        $read = $this->pdo->query("SELECT w.grant_id FROM $this->ledger AS l JOIN shop_wallet AS w"
            . ' ON w.purchase_key = l.purchase_key'
            . " WHERE l.state = 'revoked' AND l.granted_units = 0 AND w.revoked_ms IS NULL");
        $left = $read->fetchAll(PDO::FETCH_COLUMN);
        $undo = $this->pdo->prepare('UPDATE shop_wallet SET revoked_ms = ? WHERE grant_id = ?'
            . ' AND revoked_ms IS NULL');
        foreach ($left as $grantId) {
            $undo->execute([Clock::ms(), $grantId]);
        }

        return count($left);
    }

    /** Removes the account from its rows, which stay for what they paid (STO-93). */
    public function forget(string $account): void
    {
        $this->pdo->prepare("UPDATE shop_wallet SET account = '' WHERE account = ?")
            ->execute([$account]);
    }

    public function coins(string $account): int
    {
        $read = $this->pdo->prepare('SELECT COALESCE(SUM(coins), 0) FROM shop_wallet'
            . ' WHERE account = ? AND revoked_ms IS NULL');
        $read->execute([$account]);

        return (int) $read->fetchColumn();
    }

    /** Converts payments of an older shop, which had only the grant id, and an item as the unit. */
    private function nameOldPayments(): void
    {
        $this->pdo->exec('UPDATE shop_wallet SET units = quantity WHERE units IS NULL');
        $name = $this->pdo->prepare('UPDATE shop_wallet SET purchase_key = ? WHERE grant_id = ?'
            . ' AND purchase_key IS NULL');
        $isOld = $this->pdo->query('SELECT 1 FROM shop_wallet WHERE purchase_key IS NULL LIMIT 1');
        $read = $this->pdo->prepare("SELECT purchase_key, grant_id FROM $this->ledger"
            . ' WHERE purchase_key > ? ORDER BY purchase_key LIMIT ' . self::PAGE);
        $last = '';
        for ($rows = $isOld->fetchAll(); $rows !== [];) {
            $read->execute([$last]);
            $rows = $read->fetchAll(PDO::FETCH_NUM);
            $last = end($rows)[0] ?? $last;
            $this->pdo->beginTransaction();
            foreach ($rows as $row) {
                $name->execute($row);
            }
            $this->pdo->commit();
        }
        $this->pdo->exec("UPDATE shop_wallet SET purchase_key = '' WHERE purchase_key IS NULL");
    }

    private function replaceBy(Take $take, PDO $pdo): void
    {
        $now = Clock::ms();
        $isFirst = $this->insert($pdo, [$take->takeId, $take->purchaseKey, $take->account,
            $take->product, $take->quantity, 0, 0, $now, $now]);
        if (!$isFirst) {
            return;
        }
        $read = $pdo->prepare('SELECT account, units, coins FROM shop_wallet'
            . ' WHERE purchase_key = ? AND revoked_ms IS NULL');
        $read->execute([$take->purchaseKey]);
        $given = $read->fetchAll(PDO::FETCH_NUM);
        if ($given === []) {
            return;
        }
        $units = array_sum(array_column($given, 1));
        $coins = array_sum(array_column($given, 2));
        $left = max(0, $units - $take->units);
        $pdo->prepare('UPDATE shop_wallet SET revoked_ms = ? WHERE purchase_key = ?'
            . ' AND revoked_ms IS NULL')->execute([$now, $take->purchaseKey]);
        $pdo->prepare('UPDATE shop_wallet SET account = ?, units = ?, coins = ?, revoked_ms = ?'
            . ' WHERE grant_id = ?')->execute([$given[0][0], $left,
                $left === 0 ? 0 : $coins - intdiv($coins, $units) * $take->units,
                $left === 0 ? $now : null, $take->takeId]);
    }

    /**
     * @param list<int|string|null> $values
     *
     * @return bool whether no row had this id
     */
    private function insert(PDO $pdo, array $values): bool
    {
        $insert = $pdo->prepare($this->isMySql() ? 'INSERT IGNORE INTO ' . self::ROW
            : 'INSERT INTO ' . self::ROW . ' ON CONFLICT DO NOTHING');
        $insert->execute($values);

        return $insert->rowCount() === 1;
    }

    /** @return list<string> the existing columns of the table */
    private function columns(): array
    {
        $row = $this->pdo->query('SELECT w.* FROM (SELECT 1 AS one) AS one'
            . ' LEFT JOIN shop_wallet AS w ON 1 = 0');

        return array_keys($row->fetch(PDO::FETCH_ASSOC));
    }

    private function isMySql(): bool
    {
        return $this->driver() === 'mysql';
    }

    private function driver(): string
    {
        return $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME);
    }
}
