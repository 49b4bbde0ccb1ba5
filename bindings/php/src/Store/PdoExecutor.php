<?php

declare(strict_types=1);

namespace Assay\Store;

use PDO;
use PDOException;
use SensitiveParameter;

/**
 * Carries out statements over PDO: SQLite, PostgreSQL, MariaDB. One connection, made at the
 * first step. What is open is rolled back on any failure, when this object goes, and when the
 * request ends.
 */
final class PdoExecutor implements Executor
{
    private const DIALECTS = ['sqlite' => 'sqlite', 'pgsql' => 'postgres', 'mysql' => 'mysql'];
    /** READ COMMITTED is set, not hoped for (STM-4, STM-6). */
    private const BEGIN = [
        'sqlite' => ['BEGIN IMMEDIATE'],
        'postgres' => ['BEGIN ISOLATION LEVEL READ COMMITTED'],
        'mysql' => ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'],
    ];
    /**
     * 1 on a standby or a connection that only reads (STO-74). PostgreSQL's statements outside
     * a transaction run under what the role says: READ COMMITTED from here on, where it says
     * otherwise (STO-14), in the same round trip.
     */
    private const STANDBY = [
        'sqlite' => 'PRAGMA query_only',
        'postgres' => 'SELECT CASE WHEN pg_is_in_recovery()'
            . " OR current_setting('transaction_read_only') = 'on' THEN 1"
            . " WHEN current_setting('default_transaction_isolation') = 'read committed' THEN 0"
            . " WHEN set_config('default_transaction_isolation', 'read committed', false) = ''"
            . ' THEN 1 ELSE 0 END',
        'mysql' => 'SELECT @@global.read_only',
    ];
    /** The connection is gone: beginnings of codes. */
    private const LOST = [
        'sqlite' => [],
        'postgres' => ['08', '57P0', 'HY000'],
        'mysql' => ['2006', '2013', '2014', '2055', '4031'],
    ];
    /** MariaDB: over-long values are refused, and a lock is given up before the client is. */
    private const SESSION = [
        'SET NAMES utf8mb4',
        'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
        'SET SESSION innodb_lock_wait_timeout = 5',
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    ];

    private readonly string $dialect;
    private ?PDO $pdo = null;
    /** Whether a transaction is open. */
    private bool $isInside = false;
    /** @var array<string, \PDOStatement> of SQLite, where preparing costs more than running */
    private array $prepared = [];

    /** @param \Closure(): PDO $connect */
    private function __construct(string $driver, private \Closure $connect)
    {
        $this->dialect = self::DIALECTS[$driver]
            ?? throw new \ValueError("no statements for the PDO driver $driver");
        $executor = \WeakReference::create($this);
        register_shutdown_function(static fn () => $executor->get()?->rollBack());
    }

    /** Over a connection of its own: give it the address of the primary. */
    public static function to(
        string $dsn,
        ?string $user = null,
        #[SensitiveParameter] ?string $password = null,
    ): self {
        $driver = (string) strstr($dsn, ':', true);
        if (isset(self::DIALECTS[$driver]) && !in_array($driver, PDO::getAvailableDrivers(), true)) {
            throw new \LogicException("this PHP has no PDO driver $driver");
        }

        return new self(
            $driver,
            static fn (): PDO => new PDO($dsn, $user, $password),
        );
    }

    /** Over the host's connection, which throws exceptions and prepares itself from now on. */
    public static function over(PDO $pdo): self
    {
        $once = [$pdo];

        return new self(
            $pdo->getAttribute(PDO::ATTR_DRIVER_NAME),
            // A connection that was given up is not taken again (STO-75).
            static function () use (&$once): PDO {
                return array_pop($once) ?? throw new PDOException('the connection was lost');
            },
        );
    }

    public function dialect(): string
    {
        return $this->dialect;
    }

    /**
     * Said here only: a return type would need the class when this one is preloaded.
     *
     * @return PDO
     */
    public function connection(): object
    {
        return $this->pdo ??= $this->connected();
    }

    public function carryOut(array $step): array
    {
        $results = [];
        $isEnding = false;
        try {
            $pdo = $this->connection();
            $this->enter($pdo, $step['transaction']);
            foreach ($step['run'] as $call) {
                $results[] = $this->run($pdo, $call);
            }
            if (in_array($step['transaction'], ['commit', 'whole'], true)) {
                $isEnding = true;
                $pdo->exec('COMMIT');
                $this->isInside = false;
            }
        } catch (NotPrimary) {
            return ['id' => $step['id']] + self::refused('standby', true);
        } catch (PDOException $error) {
            $isWhole = $results === [] || $this->isInside;

            return ['id' => $step['id']] + $this->failed($error, $isWhole && !$isEnding);
        }

        return ['id' => $step['id'], 'code' => 200, 'results' => $results];
    }

    public function isInside(): bool
    {
        // PDO does not know of SQLite's transactions that it did not begin itself.
        return $this->isInside && ($this->dialect === 'sqlite' || $this->pdo?->inTransaction());
    }

    public function rollBack(): void
    {
        if (!$this->isInside) {
            return;
        }
        $this->isInside = false;
        try {
            $this->pdo?->exec('ROLLBACK');
        } catch (PDOException) {
            // The engine undoes it when the connection is closed.
            $this->giveUp();
        }
    }

    public function __destruct()
    {
        $this->rollBack();
    }

    private function connected(): PDO
    {
        $pdo = ($this->connect)();
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, false);
        if ($this->dialect === 'postgres') {
            // One round trip, and nothing that stays in a session (PgBouncer).
            $pdo->setAttribute(PDO::PGSQL_ATTR_DISABLE_PREPARES, true);
        }
        if ($this->dialect === 'mysql') {
            $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
            array_map($pdo->exec(...), self::SESSION);
        }
        if ((int) $pdo->query(self::STANDBY[$this->dialect])->fetchColumn() !== 0) {
            throw new NotPrimary('the store is a standby, or cannot be written');
        }

        return $pdo;
    }

    private function enter(PDO $pdo, ?string $transaction): void
    {
        $begins = in_array($transaction, ['begin', 'whole'], true);
        if ($transaction === null || !$begins && $this->isInside) {
            return;
        }
        if (!$begins || $this->isInside || $pdo->inTransaction()) {
            throw new \LogicException('a transaction begins once, and not inside another one');
        }
        foreach (self::BEGIN[$this->dialect] as $statement) {
            $pdo->exec($statement);
        }
        $this->isInside = true;
    }

    /**
     * @param array{sql: string, args: list<int|string|null>, rows: bool} $call
     *
     * @return object|array{rows: list<list<mixed>>}
     */
    private function run(PDO $pdo, array $call): object|array
    {
        $statement = $this->prepared[$call['sql']] ?? $pdo->prepare($call['sql']);
        if ($this->dialect === 'sqlite') {
            $this->prepared[$call['sql']] = $statement;
        }
        foreach ($call['args'] as $place => $value) {
            $statement->bindValue($place + 1, $value, match (true) {
                $value === null => PDO::PARAM_NULL,
                is_int($value) => PDO::PARAM_INT,
                default => PDO::PARAM_STR,
            });
        }
        try {
            $statement->execute();

            return $call['rows']
                ? ['rows' => $statement->fetchAll(PDO::FETCH_NUM)] : new \stdClass();
        } finally {
            $statement->closeCursor();
        }
    }

    /**
     * What the engine said. Its text is left out: it may quote values (EXC-22).
     *
     * @param bool $isWhole nothing of the step stays once it is undone
     *
     * @return array<string, mixed>
     */
    private function failed(PDOException $error, bool $isWhole): array
    {
        $isConnected = $this->pdo !== null;
        $code = $this->code($error);
        foreach ($isConnected ? self::LOST[$this->dialect] : [] as $lost) {
            if (str_starts_with($code, $lost)) {
                $this->giveUp();

                return ['code' => 0];
            }
        }
        $this->rollBack();
        $isUndone = !$isConnected || $isWhole && $this->pdo !== null;

        return self::refused($code, $isUndone);
    }

    /** @return array<string, mixed> */
    private static function refused(string $code, bool $isCertain): array
    {
        $executed = $isCertain ? 'no' : 'unknown';

        return ['code' => 500, 'error' => ['code' => $code, 'executed' => $executed]];
    }

    /** As STO-71 names them: SQLSTATE of PostgreSQL, the number of the other two. */
    private function code(PDOException $error): string
    {
        [$state, $number] = ($error->errorInfo ?? []) + [null, null];
        if ($this->dialect === 'postgres') {
            return (string) ($state ?? ($this->pdo === null ? '08001' : $error->getCode()));
        }
        $number = (int) ($number ?? $error->getCode());
        if ($this->dialect === 'mysql') {
            return (string) $number;
        }

        // Of an extended code the first byte is the code; 8 is a file that cannot be written.
        return ($number & 0xff) === 8 ? 'standby' : (string) ($number & 0xff);
    }

    private function giveUp(): void
    {
        $this->isInside = false;
        $this->prepared = [];
        $this->pdo = null;
    }

    public function __debugInfo(): array
    {
        return ['dialect' => $this->dialect, 'isInside' => $this->isInside];
    }
}
