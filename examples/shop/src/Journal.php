<?php

declare(strict_types=1);

namespace Shop;

use PDO;

/** What operators did: who, when, to what, why, and what came of it; looking is doing, too. */
final class Journal
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_journal ('
        . 'account VARCHAR(255) NOT NULL, at_ms BIGINT NOT NULL, id VARCHAR(32) NOT NULL,'
        . ' operator VARCHAR(255) NOT NULL, action VARCHAR(16) NOT NULL,'
        . ' subject VARCHAR(255) NOT NULL, reason VARCHAR(255) NOT NULL,'
        . ' outcome VARCHAR(64) NOT NULL, PRIMARY KEY (account, at_ms, id))';
    private const SHOWN = 20;

    public function __construct(private PDO $pdo)
    {
    }

    public function createTable(): void
    {
        $isMySql = $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql';
        $this->pdo->exec(self::TABLE . ($isMySql ? ' COLLATE utf8mb4_bin' : ''));
    }

    /**
     * Written before it is done: what a process did that died stands here, too.
     *
     * @param string $account asked about or acted for; empty: none was named
     * @param string $subject a transaction, an order, a purchase key
     *
     * @return \Closure(string): void takes the outcome, when it is known
     */
    public function begun(
        Operator $operator,
        string $action,
        string $account,
        string $subject = '',
        string $reason = '',
    ): \Closure {
        $id = bin2hex(random_bytes(16));
        $values = [$account, Clock::ms(), $id, $operator->name, $action, $subject, $reason];
        $this->pdo->prepare('INSERT INTO shop_journal (account, at_ms, id, operator, action, subject,'
            . " reason, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, 'begun')")
            ->execute(array_map(self::fitting(...), $values));

        return function (string $outcome) use ($values): void {
            $this->pdo->prepare('UPDATE shop_journal SET outcome = ? WHERE account = ? AND at_ms = ?'
                . ' AND id = ?')->execute(array_map(
                    self::fitting(...),
                    [mb_strcut($outcome, 0, 64), ...array_slice($values, 0, 3)],
                ));
        };
    }

    /**
     * The newest entries.
     *
     * @param string|null $account null: of all
     *
     * @return list<array<string, string|int>> at_ms, operator, action, account, subject, reason, outcome
     */
    public function newest(?string $account): array
    {
        $read = $this->pdo->prepare('SELECT at_ms, operator, action, account, subject, reason, outcome'
            . ' FROM shop_journal' . ($account === null ? '' : ' WHERE account = ?')
            . ' ORDER BY at_ms DESC, id LIMIT ' . self::SHOWN);
        $read->execute($account === null ? [] : [self::fitting($account)]);

        return $read->fetchAll(PDO::FETCH_ASSOC);
    }

    /** That something was done stays; for whom and why does not (STO-93). */
    public function forget(string $account): void
    {
        $this->pdo->prepare("UPDATE shop_journal SET account = '', subject = '', reason = ''"
            . ' WHERE account = ?')->execute([self::fitting($account)]);
    }

    /** What was typed may be longer than its column, or no text: the first part of it stands. */
    private static function fitting(string|int $value): string|int
    {
        return is_int($value) ? $value : mb_strcut(mb_scrub(strtr($value, "\0", ' ')), 0, 255);
    }
}
