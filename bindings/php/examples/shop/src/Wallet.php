<?php

declare(strict_types=1);

namespace Shop;

use Assay\Store\Grant;
use PDO;

/**
 * The coins of each account, one row a grant, so that a grant id counts once however often it
 * comes. A grant that was taken back keeps its row, and a late payment under it finds that.
 */
final class Wallet
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_wallet ('
        . 'grant_id VARCHAR(64) NOT NULL PRIMARY KEY, account VARCHAR(255) NOT NULL,'
        . ' product VARCHAR(255) NOT NULL, quantity BIGINT NOT NULL, coins BIGINT NOT NULL,'
        . ' granted_ms BIGINT NOT NULL, revoked_ms BIGINT)';
    private const ROW = 'shop_wallet (grant_id, account, product, quantity, coins, granted_ms,'
        . ' revoked_ms) VALUES (?, ?, ?, ?, ?, ?, ?)';

    /** @param array<string, int> $goods coins by product; another product has none */
    public function __construct(private PDO $pdo, private array $goods)
    {
    }

    public function createTable(): void
    {
        // MariaDB takes accounts that differ in case for one, unless it is told.
        $this->pdo->exec(self::TABLE . ($this->isMySql() ? ' COLLATE utf8mb4_bin' : ''));
    }

    /**
     * Runs inside the transaction of the claim, or after it: in both it may come again.
     *
     * @param PDO|null $pdo the connection of that transaction; null: after it
     */
    public function pay(Grant $grant, ?PDO $pdo = null): void
    {
        $coins = ($this->goods[$grant->product] ?? 0) * $grant->quantity;
        is_int($coins) || throw new \UnexpectedValueException('more coins than a number holds');
        $this->insert([$grant->grantId, $grant->account, $grant->product, $grant->quantity,
            $coins, Clock::ms(), null], $pdo);
    }

    public function takeBack(string $grantId): void
    {
        $now = Clock::ms();
        $this->insert([$grantId, '', '', 0, 0, $now, $now]);
        $this->pdo->prepare('UPDATE shop_wallet SET revoked_ms = ? WHERE grant_id = ?'
            . ' AND revoked_ms IS NULL')->execute([$now, $grantId]);
    }

    /** The rows stay, for what they paid out: nobody's name is in them (STO-93). */
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

    /** @param list<int|string|null> $values */
    private function insert(array $values, ?PDO $pdo = null): void
    {
        ($pdo ?? $this->pdo)->prepare($this->isMySql() ? 'INSERT IGNORE INTO ' . self::ROW
            : 'INSERT INTO ' . self::ROW . ' ON CONFLICT DO NOTHING')->execute($values);
    }

    private function isMySql(): bool
    {
        return $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql';
    }
}
