<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Refusal;
use PDO;
use PDOException;
use SensitiveParameter;

/**
 * Runs database steps over PDO: SQLite, PostgreSQL, MariaDB. It uses one connection, opened at the
 * first step. An open transaction is rolled back on any failure, when this object is destroyed, and
 * when the request ends.
 *
 * Each statement and each wait for a lock has the limit of the step (STO-76). PDO cannot interrupt
 * a statement of SQLite: only the wait for a lock is limited there.
 */
final class PdoExecutor implements Executor
{
    private PdoEngine $engine;
    private ?PDO $pdo = null;
    /** Whether a transaction is open. */
    private bool $isInside = false;
    /** @var array{statementMs: int, lockMs: int}|null the limits of the session */
    private ?array $limits = null;
    private ?GuardedConnection $guard = null;
    /** The value by which the transaction of a grant is recognized. */
    private ?string $mark = null;
    /**
     * @var array<string, \PDOStatement> statements of SQLite, where preparing costs more than
     *     running
     */
    private array $prepared = [];

    /**
     * @param PDO|null $hosts the host's connection; null to open one
     * @param \Closure(): PDO $connect
     */
    private function __construct(
        string $driver,
        private \Closure $connect,
        private ?PDO $hosts = null,
        private bool $isHosts = false,
        private ?string $file = null,
    ) {
        $this->engine = PdoEngine::ofDriver($driver);
        $executor = \WeakReference::create($this);
        register_shutdown_function(static fn () => $executor->get()?->rollBack());
    }

    /**
     * Returns an executor over a connection of its own; `$dsn` is the address of the primary.
     *
     * A file of SQLite is opened, never created (STO-78): `createFile` creates it.
     *
     * @throws \ValueError for a driver without statements, and for a relative path of SQLite
     *     that does not begin with "./"
     */
    public static function to(
        string $dsn,
        ?string $user = null,
        #[SensitiveParameter] ?string $password = null,
    ): self {
        $driver = (string) strstr($dsn, ':', true);
        if (isset(PdoEngine::DRIVERS[$driver])
            && !in_array($driver, PDO::getAvailableDrivers(), true)) {
            throw new \LogicException("this PHP has no PDO driver $driver");
        }
        $options = [PDO::ATTR_TIMEOUT => (int) ceil(PdoEngine::LIMITS['statementMs'] / 1000)];
        $file = null;
        if ($driver === 'sqlite') {
            $dsn = 'sqlite:' . self::absolute(substr($dsn, strlen('sqlite:')));
            $file = $dsn === 'sqlite::memory:' ? null : substr($dsn, strlen('sqlite:'));
            $options = [PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READWRITE];
        }

        return new self(
            $driver,
            static fn (): PDO => new PDO($dsn, $user, $password, $options),
            file: $file,
        );
    }

    /**
     * Returns an executor over the host's connection. From now on the connection throws exceptions,
     * uses prepared statements and, on SQLite, has the step's limits. It must not be in a
     * transaction, nor have autocommit off: a step then throws Misuse,
     * `misuse.ledger.transaction`, and leaves the transaction unchanged.
     */
    public static function withConnection(PDO $pdo): self
    {
        return new self(
            $pdo->getAttribute(PDO::ATTR_DRIVER_NAME),
            // A lost connection of the host is never used again (STO-75).
            static fn (): PDO => throw new PDOException('the connection was lost'),
            hosts: $pdo,
            isHosts: true,
        );
    }

    public function engine(): string
    {
        return $this->engine->name;
    }

    /**
     * Returns the PDO. A declared return type would need the class when this one is preloaded.
     *
     * @return PDO
     */
    public function connection(): object
    {
        return $this->pdo ??= $this->connected();
    }

    public function run(array $step): array
    {
        $results = [];
        $isEnding = false;
        $transaction = $this->transaction($step);
        try {
            $pdo = $this->entered($transaction, self::limits($step));
            foreach ($step['calls'] as $call) {
                $results[] = $this->runCall($pdo, $call, self::limits($step));
            }
            if (in_array($transaction, ['commit', 'single'], true)) {
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

    /** Whether the transaction that was begun is still the open one. */
    public function isInside(): bool
    {
        // PDO does not know the transactions of SQLite that it did not begin itself.
        return $this->isInside
            && ($this->engine->name === 'sqlite' || $this->pdo?->inTransaction());
    }

    public function enterGrant(): object
    {
        $pdo = $this->connection();
        try {
            $this->mark = $this->engine->mark($pdo);
        } catch (PDOException) {
            // The state of the connection is checked after the grant.
            $this->mark = null;
        }

        return $this->guard = new GuardedConnection($pdo, $this->engine->name);
    }

    public function leaveGrant(?\Throwable $thrown): ?array
    {
        $wasHit = (bool) $this->guard?->close();
        $this->guard = null;
        try {
            $this->engine->attributes($this->connection());
            $isSame = $this->engine->isMarked($this->connection(), $this->mark);
        } catch (PDOException) {
            $this->giveUp();

            return ['code' => 0];
        }
        if ($isSame && !$wasHit) {
            return null;
        }
        $this->abandon();
        if (!$wasHit && $this->engine->isUndone($thrown)) {
            return null;
        }

        return self::refused('transaction', false);
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
            // The engine rolls back when the connection is closed.
            $this->giveUp();
        }
    }

    public function __destruct()
    {
        $this->rollBack();
    }

    // ---- SQLite

    /** Creates the file if it is missing; does nothing for other engines. */
    public function createFile(): void
    {
        if ($this->file !== null) {
            (new PDO("sqlite:$this->file"))->exec('PRAGMA journal_mode = WAL');
        }
    }

    /**
     * Truncates the write-ahead log, which has copies of deleted rows (STO-93), except parts that a
     * reader uses.
     */
    public function emptyLog(): void
    {
        if ($this->engine->name !== 'sqlite' || $this->isInside) {
            return;
        }
        try {
            $this->connection()->query('PRAGMA wal_checkpoint(TRUNCATE)')->fetchAll();
        } catch (PDOException) {
            // Another connection reads the log: the next checkpoint truncates it.
        }
    }

    private static function absolute(string $path): string
    {
        if (str_starts_with($path, './')) {
            return getcwd() . substr($path, 1);
        }
        if (preg_match('#^(/|:memory:$|file:|[A-Za-z]:[\\\\/])#', $path) !== 1) {
            throw new \ValueError(
                'the path of a SQLite file is absolute, or begins with "./": a relative one'
                . ' is another file in another folder',
            );
        }

        return $path;
    }

    // ---- internal

    /** @param array{statementMs: int, lockMs: int} $limits */
    private function connected(array $limits = PdoEngine::LIMITS): PDO
    {
        if ($this->hosts !== null) {
            if ($this->engine->isOpen($this->hosts)) {
                throw self::open();
            }
            $this->engine->prepare($this->hosts, $limits);

            return $this->hosts;
        }
        $pdo = ($this->connect)();
        if ($this->engine->name === 'mariadb') {
            $pdo->exec('SET SESSION autocommit = 1'); // whatever the server's default is (STM-5)
        }
        $this->engine->prepare($pdo, $limits);

        return $pdo;
    }

    /** Returns the transaction of a step, or one for a step without whose limits need one. */
    private function transaction(array $step): ?string
    {
        $needsOne = $this->isHosts && $this->engine->name === 'postgres' && !$this->isInside;

        return $step['transaction'] ?? ($needsOne ? 'single' : null);
    }

    /** Returns the connection, with the step's limits and its transaction begun. */
    private function entered(?string $transaction, array $limits): PDO
    {
        $pdo = $this->pdo ??= $this->connected($limits);
        $isSession = !$this->isHosts || $this->engine->name === 'sqlite';
        if (!$this->isInside && $this->engine->isOpen($pdo)) {
            throw self::open();
        }
        if ($isSession && $this->limits !== $limits) {
            $pdo->exec($this->engine->limitSession($limits));
            $this->limits = $limits;
        }
        $begins = in_array($transaction, ['begin', 'single'], true);
        if ($transaction === null || !$begins && $this->isInside) {
            return $pdo;
        }
        if (!$begins || $this->isInside) {
            throw new \LogicException('a transaction begins once, and not inside another one');
        }
        foreach ($this->engine->begin($isSession ? null : $limits) as $statement) {
            $pdo->exec($statement);
        }
        $this->isInside = true;

        return $pdo;
    }

    private static function open(): \Throwable
    {
        return Refusal::named(
            'misuse.ledger.transaction',
            'the connection has an open transaction of yours: end it first, or give the ledger'
            . ' a connection of its own; what you write with a claim is written in its grant',
        );
    }

    /** @return array{statementMs: int, lockMs: int} */
    private static function limits(array $step): array
    {
        return array_intersect_key($step['limits'] ?? [], PdoEngine::LIMITS) + PdoEngine::LIMITS;
    }

    /**
     * @param array{sql: string, args: list<int|string|null>, returnsRows: bool} $call
     *
     * @return object|array{rows: list<list<mixed>>}
     */
    private function runCall(PDO $pdo, array $call, array $limits): object|array
    {
        $sql = $this->isHosts ? $this->engine->limited($call['sql'], $limits) : $call['sql'];
        $statement = $this->prepared[$sql] ?? $pdo->prepare($sql);
        if ($this->engine->name === 'sqlite') {
            $this->prepared[$sql] = $statement;
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

            return $call['returnsRows']
                ? ['rows' => $statement->fetchAll(PDO::FETCH_NUM)] : new \stdClass();
        } finally {
            $statement->closeCursor();
        }
    }

    /**
     * Returns the reply with the engine's code, without its message, which may quote values
     * (EXC-22).
     *
     * @param bool $isWhole whether a rollback undoes all of the step
     *
     * @return array<string, mixed>
     */
    private function failed(PDOException $error, bool $isWhole): array
    {
        if ($this->pdo === null) {
            $code = $this->engine->codeOfConnect($error);
            if ($this->file !== null) {
                error_log("assay: the store $this->file cannot be opened (SQLite $code)");
            }

            return self::refused($code, true);
        }
        $code = $this->engine->code($error);
        if ($this->engine->isLost($code)) {
            $this->giveUp();

            return ['code' => 0];
        }
        $this->rollBack();

        return self::refused($code, $isWhole && $this->pdo !== null);
    }

    /** @return array<string, mixed> */
    private static function refused(string $code, bool $isCertain): array
    {
        $executed = $isCertain ? 'no' : 'unknown';

        return ['code' => 500, 'error' => ['code' => $code, 'executed' => $executed]];
    }

    /** Rolls back an unknown transaction; a connection of its own is not used again. */
    private function abandon(): void
    {
        $this->isInside = false;
        try {
            $this->pdo?->exec('ROLLBACK');
        } catch (PDOException) {
            // There is no open transaction any more.
        }
        if (!$this->isHosts) {
            $this->giveUp();
        }
    }

    private function giveUp(): void
    {
        $this->isInside = false;
        $this->prepared = [];
        $this->limits = null;
        $this->pdo = null;
        $this->hosts = null;
    }

    public function __debugInfo(): array
    {
        return ['engine' => $this->engine->name, 'isInside' => $this->isInside];
    }
}
