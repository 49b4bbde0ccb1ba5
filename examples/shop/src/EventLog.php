<?php

declare(strict_types=1);

namespace Shop;

use PDO;

/**
 * What happened, the newest first: Apple's notifications, the acts of operators, purchases and
 * refunds. Only the notifications have rows of their own, one for each however often Apple sends
 * it; the rest is read where it is.
 */
final class EventLog
{
    public const COLUMNS = ['time', 'what', 'who', 'account', 'subject', 'why', 'outcome'];
    public const PAGE = 50;
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_event (id VARCHAR(64) NOT NULL PRIMARY KEY,'
        . ' at_ms BIGINT NOT NULL, what VARCHAR(96) NOT NULL, subject VARCHAR(160) NOT NULL,'
        . ' outcome VARCHAR(64) NOT NULL)';
    private const KEPT_MS = 400 * 86_400_000;

    /** @param string $prefix that of the ledger's tables */
    public function __construct(private PDO $pdo, private string $prefix)
    {
    }

    public function createTable(): void
    {
        $this->pdo->exec(self::TABLE . ($this->isMySql() ? ' COLLATE utf8mb4_bin' : ''));
        $this->pdo->exec('CREATE INDEX IF NOT EXISTS shop_event_at ON shop_event (at_ms)');
    }

    /**
     * Writes a notification, before Apple is told that it arrived: if the process dies here, Apple
     * sends it again, and the same id is written once.
     */
    public function received(string $id, string $what, string $subject, string $outcome): void
    {
        $this->pdo->prepare('INSERT INTO shop_event (id, at_ms, what, subject, outcome) VALUES (?, ?, ?, ?, ?) '
            . ($this->isMySql() ? 'ON DUPLICATE KEY UPDATE id = id' : 'ON CONFLICT DO NOTHING'))
            ->execute([self::cut($id, 64), Clock::ms(), self::cut($what, 96), self::cut($subject, 160),
                self::cut($outcome, 64)]);
    }

    /** Deletes notifications of more than 400 days ago. */
    public function deleteOld(): void
    {
        $this->pdo->prepare('DELETE FROM shop_event WHERE at_ms < ?')->execute([Clock::ms() - self::KEPT_MS]);
    }

    /**
     * Returns the events of a span.
     *
     * @param int $page from 1
     *
     * @return list<list<string>> by COLUMNS
     */
    public function of(Span $span, int $most = self::PAGE, int $page = 1): array
    {
        $within = static fn (string $time): string => "$time >= $span->fromMs AND $time < $span->toMs";
        $read = $this->pdo->query('SELECT at_ms, what, who, account, subject, why, outcome FROM ('
            . "SELECT at_ms, what, '' AS who, '' AS account, subject, '' AS why, outcome, id"
            . " FROM shop_event WHERE {$within('at_ms')} UNION ALL"
            . ' SELECT at_ms, action, operator, account, subject, reason, outcome, id'
            . " FROM shop_journal WHERE {$within('at_ms')} UNION ALL"
            . " SELECT purchased_at_ms, 'bought', '', owner, purchase_key, product, state, purchase_key"
            . " FROM {$this->prefix}purchase WHERE {$within('purchased_at_ms')} UNION ALL"
            . " SELECT revoked_at_ms, 'refunded', '', owner, purchase_key, product, state, purchase_key"
            . " FROM {$this->prefix}purchase WHERE {$within('revoked_at_ms')}) AS events"
            . sprintf(' ORDER BY at_ms DESC, what, id LIMIT %d OFFSET %d', $most, $most * ($page - 1)));
        $events = [];
        foreach ($read === false ? [] : $read->fetchAll(PDO::FETCH_NUM) as $row) {
            $texts = array_map(strval(...), $row);
            $texts[0] = gmdate('Y-m-d\TH:i:s\Z', intdiv((int) $row[0], 1000));
            $events[] = array_values($texts);
        }

        return $events;
    }

    private static function cut(string $text, int $most): string
    {
        return mb_strcut(mb_scrub(strtr($text, "\0", ' ')), 0, $most);
    }

    private function isMySql(): bool
    {
        return $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql';
    }
}
