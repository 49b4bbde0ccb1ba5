<?php

declare(strict_types=1);

namespace Assay\Ledger;

use PDO;
use PDOException;

/**
 * What PDO has to say to each engine, and what its errors mean.
 *
 * @internal
 */
final class PdoEngine
{
    public const DRIVERS = ['sqlite' => 'sqlite', 'pgsql' => 'postgres', 'mysql' => 'mariadb'];
    /** The savepoint that shows whether a grant is still in the ledger's transaction. */
    public const SAVEPOINT = 'assay_grant';
    /** STO-76, where a step names none. */
    public const LIMITS = ['statementMs' => 5000, 'lockMs' => 2000];

    /** READ COMMITTED is set, not hoped for (STM-4, STM-6). */
    private const BEGIN = [
        'sqlite' => ['BEGIN IMMEDIATE'],
        'postgres' => ['BEGIN ISOLATION LEVEL READ COMMITTED'],
        'mariadb' => ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'],
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
        'mariadb' => 'SELECT @@global.read_only',
    ];
    /** What a new connection is told: a deleted row leaves no text behind (STO-93). */
    private const SETTINGS = [
        'sqlite' => ['PRAGMA synchronous = FULL', 'PRAGMA secure_delete = FAST'],
        'postgres' => [],
        'mariadb' => [
            'SET NAMES utf8mb4',
            'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
            // Over-long values are refused.
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
        ],
    ];
    /** The connection is gone: beginnings of codes. */
    private const LOST = [
        'sqlite' => [],
        'postgres' => ['08', '57P0', '25P03', 'HY000'],
        'mariadb' => ['1927', '2006', '2013', '2014', '2055', '4031'],
    ];
    /** The engine undid the whole transaction by itself: a deadlock, a full disk. */
    private const UNDONE = [
        'sqlite' => ['7', '9', '10', '11', '13'],
        'postgres' => [],
        'mariadb' => ['1205', '1213'],
    ];
    /** No server was reached (STO-77). */
    private const UNREACHED = ['2002', '2003', '2005', '2006', '2013'];
    /** libpq hides what the server said at a connect in its text. */
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

    /** How the ledger reads and writes, whatever a grant has set. */
    public function attributes(PDO $pdo): void
    {
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, false);
        $pdo->setAttribute(PDO::ATTR_ORACLE_NULLS, PDO::NULL_NATURAL);
        if ($this->name === 'postgres') {
            // One round trip, and nothing that stays in a session (PgBouncer).
            $pdo->setAttribute(PDO::PGSQL_ATTR_DISABLE_PREPARES, true);
        }
        if ($this->name === 'mariadb') {
            $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
        }
    }

    /** Prepares a new connection. */
    public function prepare(PDO $pdo): void
    {
        $this->attributes($pdo);
        array_map($pdo->exec(...), self::SETTINGS[$this->name]);
        if ((int) $pdo->query(self::STANDBY[$this->name])->fetchColumn() !== 0) {
            throw new NotPrimary('the store is a standby, or cannot be written');
        }
    }

    // ---- limits (STO-76)

    /**
     * For the session of a connection that is the ledger's alone.
     *
     * @param array{statementMs: int, lockMs: int} $limits
     */
    public function limitSession(array $limits): string
    {
        return match ($this->name) {
            'sqlite' => "PRAGMA busy_timeout = {$limits['lockMs']}",
            'postgres' => 'SET ' . implode('; SET ', self::settings($limits)),
            // MySQL, which has no max_statement_time, takes it for a comment.
            'mariadb' => vsprintf(
                'SET SESSION /*M! max_statement_time = %s, */ innodb_lock_wait_timeout = %d',
                self::seconds($limits),
            ),
        };
    }

    /**
     * The statements that begin a transaction.
     *
     * @param array{statementMs: int, lockMs: int}|null $limits of this transaction alone, which
     *     is of a connection of the host's
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
     * A statement with its own limits, on a connection of the host's.
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

    /** @return list<string> a grant that waits for something else has 15 s at least */
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

    /** Marks the open transaction; what `isMarked` needs to know it again. */
    public function mark(PDO $pdo): ?string
    {
        if ($this->name === 'postgres') {
            return (string) $pdo->query('SELECT pg_current_xact_id()')->fetchColumn();
        }
        $pdo->exec('SAVEPOINT ' . self::SAVEPOINT);

        return null;
    }

    /**
     * Whether the open transaction is still the marked one: a savepoint goes with its
     * transaction.
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

            // PostgreSQL takes no statement after one that failed; its transaction is open.
            return $code === '25P02';
        }
    }

    /** Whether the engine itself undid the transaction, with this error. */
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

    /** Whether a connection of the host's has an open transaction. */
    public function isOpen(PDO $pdo): bool
    {
        if ($this->name !== 'sqlite' || $pdo->inTransaction()) {
            // Of a connection that is lost PostgreSQL's client cannot tell.
            return $pdo->inTransaction() && ($this->name !== 'postgres'
                || $pdo->getAttribute(PDO::ATTR_CONNECTION_STATUS) !== 'Bad connection.');
        }
        // PDO does not know of those that it did not begin itself.
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

    /** As STO-71 names them: SQLSTATE of PostgreSQL, the number of the other two. */
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

        // Of an extended code the first byte is the code; 8 is a file that cannot be written.
        return ($number & 0xff) === 8 ? 'standby' : (string) ($number & 0xff);
    }

    /** The code of a connection that could not be made; "connect": nothing was reached. */
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
