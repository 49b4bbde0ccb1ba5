<?php

declare(strict_types=1);

namespace Shop;

use PDO;
use PDOException;

/**
 * The numbers of requests by hour: triage classes and outcomes (BCK-24). They are not proven. A
 * file of this machine has them until a request that has the database open writes them, once a
 * minute, so that nonsense alone never causes a write.
 */
final class Tally
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_tally (hour VARCHAR(13) NOT NULL,'
        . ' kind VARCHAR(8) NOT NULL, name VARCHAR(40) NOT NULL, requests BIGINT NOT NULL,'
        . ' PRIMARY KEY (hour, kind, name))';
    private const ADD = 'INSERT INTO shop_tally (hour, kind, name, requests) VALUES (?, ?, ?, ?) ';
    private const FILE = 'counts';
    private const MINUTE_MS = 60_000;
    /** The limit of names in the file: enough for weeks without a database. */
    private const MOST = 10_000;

    /** @param \Closure(): PDO $pdo opens the database */
    public function __construct(private Shared $shared, private \Closure $pdo)
    {
    }

    public function createTable(): void
    {
        ($this->pdo)()->exec(self::TABLE);
    }

    /** @param string|null $class the class of triage; null if the request ended before */
    public function count(string $outcome, ?string $class): void
    {
        $hour = self::hour(Clock::ms());
        $names = ["$hour/outcome/$outcome" => 1] + ($class === null ? [] : ["$hour/triage/$class" => 1]);
        $this->add($names) || Log::line('WARN', 'a count was lost');
    }

    /**
     * Writes the counts of this machine into the database.
     *
     * @param int $olderMs the least age of the first count, in milliseconds; younger ones stay
     */
    public function write(int $olderMs = self::MINUTE_MS): void
    {
        $counts = $this->take($olderMs);
        if ($counts === []) {
            return;
        }
        try {
            $pdo = ($this->pdo)();
            $this->begin($pdo);
            $add = $pdo->prepare(self::ADD . ($this->driver($pdo) === 'mysql'
                ? 'ON DUPLICATE KEY UPDATE requests = requests + VALUES(requests)'
                : 'ON CONFLICT (hour, kind, name) DO UPDATE SET'
                    . ' requests = shop_tally.requests + excluded.requests'));
            ksort($counts); // in one order, so that two writers do not deadlock
            foreach ($counts as $name => $requests) {
                $add->execute([...explode('/', $name, 3), $requests]);
            }
            $pdo->commit();
        } catch (PDOException) {
            isset($pdo) && $pdo->inTransaction() && $pdo->rollBack();
            $this->add($counts) || Log::line('WARN', 'counts were lost');
        } finally {
            isset($pdo) && $this->driver($pdo) === 'sqlite' && $pdo->exec('PRAGMA synchronous = FULL');
        }
    }

    /**
     * Returns the counts of a span by column.
     *
     * @return array<string, array<string, array<int, int>>> kind => name => begin of a column => requests
     */
    public function of(Span $span): array
    {
        $length = $span->kind === 'day' ? strlen('2026-11-27T09') : strlen('2026-11-27');
        $read = ($this->pdo)()->prepare("SELECT kind, name, SUBSTR(hour, 1, $length), SUM(requests)"
            . ' FROM shop_tally WHERE hour >= ? AND hour < ? GROUP BY 1, 2, 3 ORDER BY 1, 2, 3');
        $read->execute([self::hour($span->fromMs), self::hour($span->toMs)]);
        $found = ['triage' => [], 'outcome' => []];
        foreach ($read->fetchAll(PDO::FETCH_NUM) as [$kind, $name, $begin, $requests]) {
            [$date, $hour] = explode('T', $begin) + [1 => '00'];
            $found[$kind][$name][1000 * (int) strtotime("$date $hour:00 UTC")] = (int) $requests;
        }

        return $found;
    }

    private static function hour(int $ms): string
    {
        return gmdate('Y-m-d\TH', intdiv($ms, 1000));
    }

    /** Begins a transaction that does not wait for the disk: a count may be lost. */
    private function begin(PDO $pdo): void
    {
        $this->driver($pdo) === 'sqlite' && $pdo->exec('PRAGMA synchronous = NORMAL');
        $pdo->beginTransaction();
        $this->driver($pdo) === 'pgsql' && $pdo->exec('SET LOCAL synchronous_commit = off');
    }

    private function driver(PDO $pdo): string
    {
        return $pdo->getAttribute(PDO::ATTR_DRIVER_NAME);
    }

    // ---- the file: {since, counts}; one write, so that a kill leaves the old or the new content

    /** @param array<string, int> $counts "hour/kind/name" => requests */
    private function add(array $counts): bool
    {
        $file = $this->shared->locked(self::FILE);
        if ($file === null) {
            return false;
        }
        $old = (string) stream_get_contents($file);
        $kept = json_decode($old, true) ?? ['since' => Clock::ms(), 'counts' => []];
        foreach ($counts as $name => $requests) {
            $kept['counts'][$name] = ($kept['counts'][$name] ?? 0) + $requests;
        }
        $text = json_encode($kept, JSON_UNESCAPED_SLASHES);
        $isKept = $text !== false && count($kept['counts']) <= self::MOST
            && rewind($file) && fwrite($file, $text) === strlen($text)
            && (strlen($old) <= strlen($text) || ftruncate($file, strlen($text)));
        fclose($file);

        return $isKept;
    }

    /** @return array<string, int> counts that were removed from the file */
    private function take(int $olderMs): array
    {
        $file = $this->shared->locked(self::FILE);
        $kept = $file === null ? null : json_decode((string) stream_get_contents($file), true);
        $isDue = $kept !== null && Clock::ms() - $kept['since'] >= $olderMs;
        $isDue && ftruncate($file, 0);
        $file === null || fclose($file);

        return $isDue ? $kept['counts'] : [];
    }
}
