<?php

declare(strict_types=1);

namespace Shop;

use PDO;
use PDOException;

/** How many requests were what, by hour: triage classes and outcomes (BCK-24). Not proof. */
final class Tally
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_tally (hour VARCHAR(13) NOT NULL,'
        . ' kind VARCHAR(8) NOT NULL, name VARCHAR(40) NOT NULL, requests BIGINT NOT NULL,'
        . ' PRIMARY KEY (hour, kind, name))';
    private const ADD = 'INSERT INTO shop_tally (hour, kind, name, requests) VALUES (?, ?, ?, 1) ';

    public function __construct(private PDO $pdo)
    {
    }

    public function createTable(): void
    {
        $this->pdo->exec(self::TABLE);
    }

    /** @param string|null $class of triage; null: it never came to it */
    public function count(string $outcome, ?string $class): void
    {
        try {
            $this->begin();
            $add = $this->pdo->prepare(self::ADD . ($this->driver() === 'mysql'
                ? 'ON DUPLICATE KEY UPDATE requests = requests + 1'
                : 'ON CONFLICT (hour, kind, name) DO UPDATE SET requests = shop_tally.requests + 1'));
            $hour = gmdate('Y-m-d\TH');
            $add->execute([$hour, 'outcome', $outcome]);
            $class === null || $add->execute([$hour, 'triage', $class]);
            $this->pdo->commit();
        } catch (PDOException) {
            error_log('[WARN] a count was lost');
        }
    }

    /** Nobody waits for the disk here: a count may be lost, a claim may not. */
    private function begin(): void
    {
        $this->driver() === 'sqlite' && $this->pdo->exec('PRAGMA synchronous = NORMAL');
        $this->pdo->beginTransaction();
        $this->driver() === 'pgsql' && $this->pdo->exec('SET LOCAL synchronous_commit = off');
    }

    private function driver(): string
    {
        return $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME);
    }

    /** @return array<string, array<string, array<int, int>>> kind => name => hour => requests */
    public function day(string $day): array
    {
        $read = $this->pdo->prepare('SELECT kind, name, hour, requests FROM shop_tally'
            . ' WHERE hour >= ? AND hour <= ? ORDER BY kind, name, hour');
        $read->execute(["{$day}T00", "{$day}T23"]);
        $found = ['triage' => [], 'outcome' => []];
        foreach ($read->fetchAll(PDO::FETCH_NUM) as [$kind, $name, $hour, $requests]) {
            $found[$kind][$name][(int) substr($hour, -2)] = (int) $requests;
        }

        return $found;
    }
}
