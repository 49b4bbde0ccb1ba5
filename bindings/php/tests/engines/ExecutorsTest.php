<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

use Assay\Exception\Misuse;
use Assay\Ledger\PdoExecutor;
use Assay\Tests\Refusals;
use PDO;
use PHPUnit\Framework\TestCase;

/** Tests of PdoExecutor with failures of PostgreSQL and MariaDB. */
final class ExecutorsTest extends TestCase
{
    use Refusals;

    private const DRIVERS = ['postgres' => 'pgsql', 'mariadb' => 'mysql'];

    /** @return array<string, array{string}> */
    public function engines(): array
    {
        return ['postgres' => ['postgres'], 'mariadb' => ['mariadb']];
    }

    private static function dsn(string $name, array $other = []): string
    {
        $address = $other + EngineLedgerTest::address($name);
        $database = ltrim($address['path'], '/');

        return self::DRIVERS[$name] . ":host={$address['host']};port={$address['port']};"
            . "dbname=$database;user={$address['user']}";
    }

    /** Creates the table `t` with one row, and returns another connection. */
    private static function prepared(string $name): PDO
    {
        if (!in_array(self::DRIVERS[$name], PDO::getAvailableDrivers(), true)) {
            self::markTestSkipped("PHP has no PDO driver for $name");
        }
        $pdo = new PDO(self::dsn($name));
        $pdo->exec('DROP TABLE IF EXISTS t');
        $pdo->exec('CREATE TABLE t (k VARCHAR(20) PRIMARY KEY, n INTEGER)');
        $pdo->exec("INSERT INTO t VALUES ('row', 0)");

        return $pdo;
    }

    private static function step(?string $transaction, string ...$statements): array
    {
        return ['id' => 7, 'transaction' => $transaction,
            'limits' => ['statementMs' => 300, 'lockMs' => 100],
            'calls' => array_map(
                static fn (string $sql): array =>
                    ['sql' => $sql, 'args' => [], 'returnsRows' => str_starts_with($sql, 'SELECT')],
                $statements,
            )];
    }

    private static function insert(string $key): string
    {
        return "INSERT INTO t (k, n) VALUES ('$key', 1)";
    }

    /** @return list<string> */
    private static function keys(PDO $pdo): array
    {
        return $pdo->query('SELECT k FROM t ORDER BY k')->fetchAll(PDO::FETCH_COLUMN);
    }

    private static function end(string $name, PDO $admin, PDO $ended): void
    {
        $id = $ended->query($name === 'postgres'
            ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()')->fetchColumn();
        $admin->exec($name === 'postgres' ? "SELECT pg_terminate_backend($id)" : "KILL $id");
    }

    private const TRANSACTION = ['code' => 500,
        'error' => ['code' => 'transaction', 'executed' => 'unknown']];

    /**
     * Asserts that a grant that ends its transaction is rolled back (STO-38).
     *
     * @dataProvider engines
     */
    public function testAGrantThatEndsItsTransactionIsUndone(string $name): void
    {
        $admin = self::prepared($name);
        $tries = [
            static fn (PDO $pdo) => $pdo->commit(),
            static fn (PDO $pdo) => $pdo->rollBack(),
            static fn (PDO $pdo) => $pdo->beginTransaction(),
            static fn (PDO $pdo) => $pdo->setAttribute(PDO::ATTR_AUTOCOMMIT, 1),
            static fn (PDO $pdo) => $pdo->exec(' /* x */ commit'),
            static fn (PDO $pdo) => $pdo->query('COMMIT'),
            static fn (PDO $pdo) => $pdo->prepare('ROLLBACK'),
            static fn (PDO $pdo) => $pdo->exec('SELECT 1; COMMIT; BEGIN'),
        ];
        foreach ($tries as $place => $try) {
            foreach ([PdoExecutor::to(self::dsn($name)),
                PdoExecutor::withConnection(new PDO(self::dsn($name)))] as $executor) {
                $executor->run(self::step('begin', self::insert('claim')));
                $guarded = $executor->enterGrant();
                $guarded->exec(self::insert('grant'));
                $refusal = $this->thrown(Misuse::class, fn () => $try($guarded));
                $this->assertSame(
                    self::TRANSACTION,
                    $executor->leaveGrant($refusal),
                );
                $this->assertFalse($executor->isInside());
                $this->assertSame(['row'], self::keys($admin));
                $answer = $executor->run(self::step(null, 'SELECT k FROM t'));
                $this->assertSame([['row']], $answer['results'][0]['rows'] ?? $answer);
            }
        }
    }

    /**
     * Asserts that another transaction is detected, even if no statement ended the first (STO-38).
     *
     * @dataProvider engines
     */
    public function testATransactionThatIsAnotherOneIsSeen(string $name): void
    {
        $admin = self::prepared($name);
        foreach ([['COMMIT'], ['COMMIT', 'BEGIN'], ['ROLLBACK', 'BEGIN']] as $place => $ends) {
            $pdo = new PDO(self::dsn($name));
            $executor = PdoExecutor::withConnection($pdo);
            $executor->run(self::step('begin', self::insert("claim$place")));
            $executor->enterGrant();
            array_map($pdo->exec(...), $ends);
            $this->assertSame(self::TRANSACTION, $executor->leaveGrant(null), $ends[0]);
            $this->assertFalse($pdo->inTransaction());
        }
        $this->assertSame(['claim0', 'claim1', 'row'], self::keys($admin));
    }

    /**
     * Asserts that a grant may use savepoints, a failed statement and other attributes.
     *
     * @dataProvider engines
     */
    public function testAGrantHasSavepointsOfItsOwn(string $name): void
    {
        $admin = self::prepared($name);
        $executor = PdoExecutor::to(self::dsn($name));
        $executor->run(self::step('begin', self::insert('claim')));
        $guarded = $executor->enterGrant();
        $guarded->exec('SAVEPOINT own');
        $guarded->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
        $this->assertFalse($guarded->exec(self::insert('row')));
        $guarded->exec('ROLLBACK TO SAVEPOINT own');
        $guarded->exec("INSERT INTO t (k, n) VALUES ('; COMMIT; --', 2)");
        $this->assertTrue($guarded->inTransaction());
        $this->assertNull($executor->leaveGrant(null));
        $this->assertSame(200, $executor->run(self::step('commit'))['code']);
        $this->assertSame(['; COMMIT; --', 'claim', 'row'], self::keys($admin));
        $answer = $executor->run(self::step('begin', 'SELECT nothing FROM t'));
        $this->assertSame(500, $answer['code'], 'the errors of the ledger are seen');
        $this->expectException(\LogicException::class);
        $guarded->exec(self::insert('late'));
    }

    /**
     * Asserts that a layer that commits by itself, as Doctrine's EntityManager, gets a savepoint
     * (STO-38).
     *
     * @dataProvider engines
     */
    public function testALayerThatCommitsByItselfHasASavepoint(string $name): void
    {
        $admin = self::prepared($name);
        $executor = PdoExecutor::to(self::dsn($name));
        foreach (['rollBack', 'commit'] as $place => $end) {
            $executor->run(self::step('begin', self::insert("claim$place")));
            $guarded = $executor->enterGrant();
            $layer = $guarded->nested();
            $this->assertFalse($layer->inTransaction());
            $layer->beginTransaction();
            $this->assertTrue($layer->inTransaction());
            $layer->exec(self::insert("$end$place"));
            $layer->{$end}();
            $this->assertNull($executor->leaveGrant(null));
            $this->assertSame(200, $executor->run(self::step('commit'))['code']);
        }
        $this->assertSame(['claim0', 'claim1', 'commit1', 'row'], self::keys($admin));
        foreach (['commit', 'rollBack'] as $end) {
            $executor->run(self::step('begin', self::insert('late')));
            $layer = $executor->enterGrant()->nested();
            $refusal = $this->thrown(Misuse::class, fn () => $layer->{$end}());
            $this->assertSame(self::TRANSACTION, $executor->leaveGrant($refusal));
        }
    }

    /**
     * Asserts that a session that ends inside a grant is reported as lost (STO-39).
     *
     * @dataProvider engines
     */
    public function testASessionThatIsLostInAGrantIsNoFault(string $name): void
    {
        $admin = self::prepared($name);
        $executor = PdoExecutor::to(self::dsn($name));
        $executor->run(self::step('begin', self::insert('claim')));
        $guarded = $executor->enterGrant();
        self::end($name, $admin, $guarded);
        $this->assertSame(['code' => 0], $executor->leaveGrant(null));
        $this->assertFalse($executor->isInside());
        $this->assertSame(200, $executor->run(self::step('begin', self::insert('a')))['code']);
        $executor->rollBack();
        $this->assertSame(['row'], self::keys($admin));
    }

    /**
     * Asserts that a wait for a lock ends at its limit (STO-76).
     *
     * @dataProvider engines
     */
    public function testALockIsWaitedForSoLongAndNoLonger(string $name): void
    {
        $admin = self::prepared($name);
        $admin->exec('BEGIN');
        $admin->exec("UPDATE t SET n = 1 WHERE k = 'row'");
        $step = self::step(null, "UPDATE t SET n = 2 WHERE k = 'row'");
        // MariaDB's limits are in seconds.
        $step['limits'] = $name === 'postgres' ? ['lockMs' => 100] : ['lockMs' => 1000];
        $code = $name === 'postgres' ? '55P03' : '1205';
        foreach (['begin', null] as $transaction) {
            $step['transaction'] = $transaction;
            foreach ([PdoExecutor::to(self::dsn($name)),
                PdoExecutor::withConnection(new PDO(self::dsn($name)))] as $executor) {
                $answer = $executor->run($step);
                $this->assertSame(['code' => $code, 'executed' => 'no'], $answer['error'] ?? $answer);
            }
        }
        $admin->exec('ROLLBACK');
    }

    /**
     * Asserts that a statement ends at its limit, and that a connection of the host has its own
     * limits afterwards (STO-76).
     *
     * @dataProvider engines
     */
    public function testAStatementRunsSoLongAndNoLonger(string $name): void
    {
        self::prepared($name);
        [$slow, $ask, $code] = $name === 'postgres'
            ? ['SELECT CAST(pg_sleep(20) AS TEXT)', 'SHOW statement_timeout', '57014']
            : ['SELECT SLEEP(20), k FROM t', 'SELECT @@max_statement_time', '1969'];
        $hosts = new PDO(self::dsn($name));
        $before = $hosts->query($ask)->fetchColumn();
        foreach ([PdoExecutor::to(self::dsn($name)), PdoExecutor::withConnection($hosts)] as $executor) {
            foreach (['begin', null] as $transaction) {
                $answer = $executor->run(self::step($transaction, $slow));
                $this->assertSame(['code' => $code, 'executed' => 'no'], $answer['error'] ?? $answer);
            }
        }
        $this->assertSame($before, $hosts->query($ask)->fetchColumn());
    }

    /**
     * Asserts the code of a connection that cannot be made (STO-77).
     *
     * @dataProvider engines
     */
    public function testAConnectionThatIsNotMadeIsNamed(string $name): void
    {
        self::prepared($name);
        $isPostgres = $name === 'postgres';
        foreach ([
            'closed port' => [['host' => '127.0.0.1', 'port' => 1], 'connect'],
            'unknown host' => [['host' => 'assay.invalid'], 'connect'],
            'no database' => [['path' => '/none'], $isPostgres ? '3D000' : '1049'],
            'no user' => [['user' => 'nobody'], $isPostgres ? '28000' : '1045'],
        ] as $what => [$other, $code]) {
            $answer = PdoExecutor::to(self::dsn($name, $other))->run(self::step(null));
            $this->assertSame(['code' => $code, 'executed' => 'no'], $answer['error'], $what);
        }
    }

    /**
     * Asserts that a transaction begun by the host, as Laravel's DB::transaction and Doctrine do,
     * is refused and left unchanged (STO-38).
     *
     * @dataProvider engines
     */
    public function testAnOpenTransactionOfTheHostsIsLeftAsItWas(string $name): void
    {
        $admin = self::prepared($name);
        foreach (['begin', 'single', null] as $transaction) {
            $pdo = new PDO(self::dsn($name), options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);
            $pdo->beginTransaction();
            $pdo->exec(self::insert((string) $transaction));
            $refusal = $this->refused('misuse.ledger.transaction', fn () =>
                PdoExecutor::withConnection($pdo)->run(self::step($transaction, self::insert('a'))));
            $this->assertStringContainsString('open transaction of yours', $refusal->reason);
            $this->assertTrue($pdo->inTransaction());
            $this->assertSame(PDO::ERRMODE_SILENT, $pdo->getAttribute(PDO::ATTR_ERRMODE));
            $pdo->commit();
        }
        $this->assertSame(['', 'begin', 'row', 'single'], self::keys($admin));
    }

    /**
     * Asserts that what is stored outside a transaction is committed: on a connection of the ledger
     * whatever the server's default is, and one of the host's that does not commit is refused
     * (STM-5).
     */
    public function testWithoutAutocommitNothingIsStored(): void
    {
        $admin = self::prepared('mariadb');
        $pdo = new PDO(self::dsn('mariadb'), options: [PDO::ATTR_AUTOCOMMIT => false]);
        $refusal = $this->refused('misuse.ledger.transaction', fn () =>
            PdoExecutor::withConnection($pdo)->run(self::step(null, self::insert('host'))));
        $this->assertStringContainsString('autocommit', $refusal->reason);
        $admin->exec('SET GLOBAL autocommit = 0');
        try {
            $executor = PdoExecutor::to(self::dsn('mariadb'));
            $this->assertSame(200, $executor->run(self::step(null, self::insert('own')))['code']);
        } finally {
            $admin->exec('SET GLOBAL autocommit = 1');
        }
        unset($executor);
        $this->assertSame(['own', 'row'], self::keys($admin));
    }
}
