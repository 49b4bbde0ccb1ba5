<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Refusal;
use PDO;
use PDOException;

/**
 * The statements of PDO for each engine, and the meaning of its errors.
 *
 * @internal
 */
final class PdoEngine
{
    public const DRIVERS = ['sqlite' => 'sqlite', 'pgsql' => 'postgres', 'mysql' => 'mariadb'];
    /** The savepoint by which the ledger's transaction is recognized after a grant. */
    public const SAVEPOINT = 'assay_grant';
    /** The limits of a step that has none, in milliseconds (STO-76). */
    public const LIMITS = ['statementMs' => 5000, 'lockMs' => 2000];

    /**
     * The statements that begin a transaction. They set READ COMMITTED, because a server may have
     * another default (STM-4, STM-6).
     */
    private const BEGIN = [
        'sqlite' => ['BEGIN IMMEDIATE'],
        'postgres' => ['BEGIN ISOLATION LEVEL READ COMMITTED'],
        'mariadb' => ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'],
    ];
    /**
     * The queries that return 1 on a standby or a read-only connection (STO-74), and 2 on one
     * without autocommit. In the same round trip PostgreSQL's sets READ COMMITTED as the default of
     * the session, which also applies to statements outside a transaction (STO-14).
     */
    private const STANDBY = [
        'sqlite' => 'PRAGMA query_only',
        'postgres' => 'SELECT CASE WHEN pg_is_in_recovery()'
            . " OR current_setting('transaction_read_only') = 'on' THEN 1"
            . " WHEN current_setting('default_transaction_isolation') = 'read committed' THEN 0"
            . " WHEN set_config('default_transaction_isolation', 'read committed', false) = ''"
            . ' THEN 1 ELSE 0 END',
        'mariadb' => 'SELECT CASE WHEN @@global.read_only THEN 1 WHEN @@autocommit THEN 0'
            . ' ELSE 2 END',
    ];
    /**
     * The statements for a new connection. secure_delete overwrites the text of deleted rows
     * (STO-93).
     */
    private const SETTINGS = [
        'sqlite' => ['PRAGMA synchronous = FULL', 'PRAGMA secure_delete = FAST'],
        'postgres' => [],
        'mariadb' => [
            'SET NAMES utf8mb4',
            'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
            // Strict mode refuses values that are too long instead of truncating them.
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
        ],
    ];
    /** Prefixes of the codes of a lost connection. */
    private const LOST = [
        'sqlite' => [],
        'postgres' => ['08', '57P0', '25P03', 'HY000'],
        'mariadb' => ['1927', '2006', '2013', '2014', '2055', '4031'],
    ];
    /**
     * The codes after which the engine has rolled back the whole transaction: a deadlock, a full
     * disk.
     */
    private const UNDONE = [
        'sqlite' => ['7', '9', '10', '11', '13'],
        'postgres' => [],
        'mariadb' => ['1205', '1213'],
    ];
    /** The codes of a server that could not be reached (STO-77). */
    private const UNREACHED = ['2002', '2003', '2005', '2006', '2013'];
    /** libpq has the server's error at a connect only in its message. */
    private const SAID = [
        '/database ".*" does not exist/' => '3D000',
        '/password authentication failed|no password supplied/' => '28P01',
        '/role ".*" does not exist|no pg_hba\.conf entry|authentication failed/' => '28000',
        '/the database system is (starting up|shutting down|in recovery)/' => '57P03',
        '/too many clients|too many connections|remaining connection slots/' => '53300',
    ];

    public function __construct(public readonly string $name)
    {
    }

    public static function ofDriver(string $driver): self
    {
        return new self(self::DRIVERS[$driver]
            ?? throw new \ValueError("no statements for the PDO driver $driver"));
    }

    /** Sets how the ledger reads and writes, whatever a grant has set. */
    public function attributes(PDO $pdo): void
    {
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, false);
        $pdo->setAttribute(PDO::ATTR_ORACLE_NULLS, PDO::NULL_NATURAL);
        if ($this->name === 'postgres') {
            // One round trip, and no state in a session (PgBouncer).
            $pdo->setAttribute(PDO::PGSQL_ATTR_DISABLE_PREPARES, true);
        }
        if ($this->name === 'mariadb') {
            $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
        }
    }

    /**
     * Prepares a new connection. On SQLite each statement of this may have to wait for a lock,
     * unless the journal is a WAL, and a PDO waits for a minute: so the limits are set first.
     *
     * @param array{statementMs: int, lockMs: int} $limits
     */
    public function prepare(PDO $pdo, array $limits = self::LIMITS): void
    {
        $this->attributes($pdo);
        if ($this->name === 'sqlite') {
            $pdo->exec($this->limitSession($limits));
        }
        array_map($pdo->exec(...), self::SETTINGS[$this->name]);
        match ((int) $pdo->query(self::STANDBY[$this->name])->fetchColumn()) {
            0 => null,
            2 => throw Refusal::named(
                'misuse.ledger.transaction',
                'the connection has autocommit off: what the ledger stores would not be committed'
                . ' (STM-5)',
            ),
            default => throw new NotPrimary('the store is a standby, or cannot be written'),
        };
    }

    // ---- limits (STO-76)

    /**
     * Returns the statement that sets the limits of a session that only the ledger uses.
     *
     * @param array{statementMs: int, lockMs: int} $limits
     */
    public function limitSession(array $limits): string
    {
        return match ($this->name) {
            'sqlite' => "PRAGMA busy_timeout = {$limits['lockMs']}",
            'postgres' => 'SET ' . implode('; SET ', self::settings($limits)),
            // The form /*M! … is a comment to MySQL, which has no max_statement_time.
            'mariadb' => vsprintf(
                'SET SESSION /*M! max_statement_time = %s, */ innodb_lock_wait_timeout = %d',
                self::seconds($limits),
            ),
        };
    }

    /**
     * Returns the statements that begin a transaction.
     *
     * @param array{statementMs: int, lockMs: int}|null $limits the limits of this transaction, on a
     *     connection of the host; null if the session has them
     *
     * @return list<string>
     */
    public function begin(?array $limits): array
    {
        $begin = self::BEGIN[$this->name];
        if ($limits !== null && $this->name === 'postgres') {
            $begin[0] .= '; SET LOCAL ' . implode('; SET LOCAL ', self::settings($limits));
        }

        return $begin;
    }

    /**
     * Returns a statement with its own limits, for a connection of the host.
     *
     * @param array{statementMs: int, lockMs: int} $limits
     */
    public function limited(string $sql, array $limits): string
    {
        return $this->name !== 'mariadb' ? $sql : vsprintf(
            '/*M! SET STATEMENT max_statement_time=%s,innodb_lock_wait_timeout=%d FOR */ ',
            self::seconds($limits),
        ) . $sql;
    }

    /**
     * @return list<string> the idle limit is at least 15 s, because a grant may wait for something
     *     else
     */
    private static function settings(array $limits): array
    {
        return [
            "statement_timeout = {$limits['statementMs']}",
            "lock_timeout = {$limits['lockMs']}",
            'idle_in_transaction_session_timeout = ' . max(15000, $limits['statementMs']),
        ];
    }

    /** @return array{string, int} */
    private static function seconds(array $limits): array
    {
        return [sprintf('%.3F', $limits['statementMs'] / 1000),
            (int) ceil($limits['lockMs'] / 1000)];
    }

    // ---- the transaction of a grant (STO-38)

    /** Marks the open transaction, and returns what `isMarked` needs to recognize it. */
    public function mark(PDO $pdo): ?string
    {
        if ($this->name === 'postgres') {
            return (string) $pdo->query('SELECT pg_current_xact_id()')->fetchColumn();
        }
        $pdo->exec('SAVEPOINT ' . self::SAVEPOINT);

        return null;
    }

    /**
     * Whether the open transaction is still the marked one: a savepoint ends with its transaction.
     */
    public function isMarked(PDO $pdo, ?string $mark): bool
    {
        try {
            if ($this->name === 'postgres') {
                $found = $pdo->query('SELECT pg_current_xact_id_if_assigned()')->fetchColumn();

                return (string) $found === $mark;
            }
            $pdo->exec('RELEASE SAVEPOINT ' . self::SAVEPOINT);

            return true;
        } catch (PDOException $error) {
            $code = $this->code($error);
            if ($this->isLost($code)) {
                throw $error;
            }

            // PostgreSQL refuses statements after a failed one; the transaction is still open.
            return $code === '25P02';
        }
    }

    /** Whether the engine has rolled back the transaction with this error. */
    public function isUndone(?\Throwable $error): bool
    {
        for (; $error !== null; $error = $error->getPrevious()) {
            if ($error instanceof PDOException
                && in_array($this->code($error), self::UNDONE[$this->name], true)) {
                return true;
            }
        }

        return false;
    }

    /** Whether a connection of the host has an open transaction. */
    public function isOpen(PDO $pdo): bool
    {
        if ($this->name !== 'sqlite' || $pdo->inTransaction()) {
            // PostgreSQL's client cannot report the transaction of a lost connection.
            return $pdo->inTransaction() && ($this->name !== 'postgres'
                || $pdo->getAttribute(PDO::ATTR_CONNECTION_STATUS) !== 'Bad connection.');
        }
        // PDO does not know the transactions that it did not begin itself.
        $before = $pdo->getAttribute(PDO::ATTR_ERRMODE);
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        try {
            $pdo->exec('BEGIN');
            $pdo->exec('ROLLBACK');

            return false;
        } catch (PDOException $error) {
            return str_contains($error->getMessage(), 'within a transaction');
        } finally {
            $pdo->setAttribute(PDO::ATTR_ERRMODE, $before);
        }
    }

    // ---- errors

    public function isLost(string $code): bool
    {
        foreach (self::LOST[$this->name] as $beginning) {
            if (str_starts_with($code, $beginning)) {
                return true;
            }
        }

        return false;
    }

    /** Returns the code of STO-71: SQLSTATE of PostgreSQL, the number of the other two. */
    public function code(PDOException $error): string
    {
        [$state, $number] = ($error->errorInfo ?? []) + [null, null];
        if ($this->name === 'postgres') {
            return (string) ($state ?? $error->getCode());
        }
        $number = (int) ($number ?? $error->getCode());
        if ($this->name === 'mariadb') {
            return (string) $number;
        }

        // The low byte of an extended code is the code; 8 is a read-only file.
        return ($number & 0xff) === 8 ? 'standby' : (string) ($number & 0xff);
    }

    /** Returns the code of a failed connection; "connect" if no server was reached. */
    public function codeOfConnect(PDOException $error): string
    {
        $code = $this->code($error);
        if ($this->name !== 'postgres') {
            return $code === '0' || in_array($code, self::UNREACHED, true) ? 'connect' : $code;
        }
        foreach (self::SAID as $text => $state) {
            if (preg_match($text, $error->getMessage()) === 1) {
                return $state;
            }
        }

        return preg_match('/^(?!08|HY)[0-9A-Z]{5}$/', $code) === 1 ? $code : 'connect';
    }
}
