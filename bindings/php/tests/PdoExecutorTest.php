<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\Misuse;
use Assay\Ledger\GuardedConnection;
use Assay\Ledger\PdoExecutor;
use PDO;
use PHPUnit\Framework\TestCase;

/** Tests of database steps over SQLite, written by hand. */
final class PdoExecutorTest extends TestCase
{
    use Refusals;

    private string $file;

    protected function setUp(): void
    {
        $this->file = (string) tempnam(sys_get_temp_dir(), 'assay-store-');
        (new PDO("sqlite:$this->file"))->exec('CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER)');
    }

    protected function tearDown(): void
    {
        array_map(unlink(...), (array) glob("$this->file*"));
    }

    private function executor(): PdoExecutor
    {
        return PdoExecutor::to("sqlite:$this->file");
    }

    /** @param list<array{0: string, 1?: list<mixed>, 2?: bool}> $calls */
    private static function step(?string $transaction, array ...$calls): array
    {
        return ['id' => 7, 'transaction' => $transaction, 'calls' => array_map(
            static fn (array $call): array =>
                ['sql' => $call[0], 'args' => $call[1] ?? [], 'returnsRows' => $call[2] ?? false],
            $calls,
        )];
    }

    private static function insert(string $key, ?int $number = 1): array
    {
        return ['INSERT INTO t (k,n) VALUES (?,?)', [$key, $number]];
    }

    /** @return list<string> what another connection reads */
    private function keys(): array
    {
        return (new PDO("sqlite:$this->file"))->query('SELECT k FROM t ORDER BY k')
            ->fetchAll(PDO::FETCH_COLUMN);
    }

    private const READ = ['SELECT k, n, NULL FROM t WHERE n = ? OR n IS NULL ORDER BY k', [1], true];

    public function testValuesKeepTheirTypes(): void
    {
        $answer = $this->executor()->run(self::step(
            null,
            self::insert("a'?"),
            self::insert('b', null),
            self::READ,
        ));
        $this->assertSame(
            '{"id":7,"code":200,"results":[{},{},{"rows":[["a\'?",1,null],["b",null,null]]}]}',
            json_encode($answer),
        );
        $none = $this->executor()->run(self::step(null, ['SELECT 1 FROM t WHERE 1 = 0', [], true]));
        $this->assertSame('[{"rows":[]}]', json_encode($none['results']));
    }

    public function testATransactionEndsAtItsCommit(): void
    {
        $executor = $this->executor();
        $executor->run(self::step('begin', self::insert('a')));
        $executor->run(self::step('within', self::insert('b')));
        $this->assertTrue($executor->isInside());
        $this->assertSame([], $this->keys());
        $this->assertSame(200, $executor->run(self::step('commit', self::insert('c')))['code']);
        $this->assertFalse($executor->isInside());
        $this->assertSame(['a', 'b', 'c'], $this->keys());
        $executor->run(self::step('begin', self::insert('d')));
        $executor->run(self::step('commit'));
        $this->assertSame(['a', 'b', 'c', 'd'], $this->keys());
    }

    /** Asserts that a whole transaction can be one step (EXC-24). */
    public function testAWholeTransactionIsOneStep(): void
    {
        $executor = $this->executor();
        $whole = fn (array ...$calls): array => $executor->run(self::step('single', ...$calls));
        $this->assertSame(200, $whole(self::insert('a'), self::insert('b'))['code']);
        $this->assertFalse($executor->isInside());
        $this->assertSame(['a', 'b'], $this->keys());
        $answer = $whole(self::insert('c'), self::insert('a'));
        $this->assertSame(['code' => '19', 'executed' => 'no'], $answer['error']);
        $this->assertFalse($executor->isInside());
        $this->assertSame(['a', 'b'], $this->keys());
        $executor->run(self::step('begin', self::insert('d')));
        $this->expectException(\LogicException::class);
        $whole(self::insert('e'));
    }

    /** Asserts that a failed commit is rolled back (EXC-24). */
    public function testACommitThatFailsIsUndone(): void
    {
        $pdo = new class ("sqlite:$this->file") extends PDO {
            public function exec(string $statement): int|false
            {
                return $statement === 'COMMIT'
                    ? throw new \PDOException('disk I/O error', 10) : parent::exec($statement);
            }
        };
        $executor = PdoExecutor::withConnection($pdo);
        $answer = $executor->run(self::step('single', self::insert('a')));
        $this->assertSame(['code' => '10', 'executed' => 'unknown'], $answer['error']);
        $this->assertFalse($executor->isInside());
        $this->assertSame([], $this->keys());
    }

    public function testAFailureUndoesTheTransaction(): void
    {
        $executor = $this->executor();
        $executor->run(self::step('begin', self::insert('a')));
        $answer = $executor->run(self::step('within', self::insert('b'), self::insert('a')));
        $this->assertSame(500, $answer['code']);
        $this->assertSame(['code' => '19', 'executed' => 'no'], $answer['error']);
        $this->assertFalse($executor->isInside());
        $this->assertSame([], $this->keys());
    }

    public function testWhatWasCarriedOutIsNotDenied(): void
    {
        $answer = $this->executor()->run(
            self::step(null, self::insert('a'), ['SELECT no FROM t']),
        );
        $this->assertSame(['code' => '1', 'executed' => 'unknown'], $answer['error']);
        $this->assertSame(['a'], $this->keys());
        $answer = $this->executor()->run(self::step(null, ['SELECT no FROM t']));
        $this->assertSame('no', $answer['error']['executed']);
    }

    public function testTheOtherWriterIsBusy(): void
    {
        $executor = $this->executor();
        $other = $this->executor();
        $other->run(self::step('begin'));
        foreach (['begin', null] as $transaction) {
            $step = self::step($transaction, self::insert('a')) + ['limits' => ['lockMs' => 1]];
            $answer = $executor->run($step);
            $this->assertSame(['code' => '5', 'executed' => 'no'], $answer['error']);
        }
        $other->rollBack();
        $this->assertSame(200, $executor->run(self::step('begin', self::insert('a')))['code']);
    }

    /** Asserts that a connection of the host, whose own patience is a minute, waits no longer. */
    public function testALockedFileIsBusyAtTheFirstStep(): void
    {
        $other = new PDO("sqlite:$this->file");
        $other->exec('BEGIN EXCLUSIVE');
        $pdo = new PDO("sqlite:$this->file");
        $begun = hrtime(true);
        $answer = PdoExecutor::withConnection($pdo)->run(
            self::step('begin', self::insert('a')) + ['limits' => ['lockMs' => 1]],
        );
        $this->assertSame(['code' => '5', 'executed' => 'no'], $answer['error']);
        $this->assertLessThan(10_000_000_000, hrtime(true) - $begun);
    }

    public function testWhatIsLeftOpenIsRolledBack(): void
    {
        $executor = $this->executor();
        $executor->run(self::step('begin', self::insert('a')));
        unset($executor);
        $this->assertSame([], $this->keys());
        $pdo = new PDO("sqlite:$this->file");
        $executor = PdoExecutor::withConnection($pdo);
        $executor->run(self::step('begin', self::insert('a')));
        $executor->rollBack();
        $executor->rollBack();
        $pdo->exec("INSERT INTO t VALUES ('own', 1)");
        $this->assertSame(['own'], $this->keys());
    }

    public function testTheEndOfARequestRollsBack(): void
    {
        $autoload = var_export(dirname(__DIR__) . '/autoload.php', true);
        $dsn = var_export("sqlite:$this->file", true);
        $begin = var_export(self::step('begin', self::insert('a')), true);
        foreach (['', 'exit(0);', 'throw new Exception("x");', 'str_repeat("x", 1 << 40);'] as $end) {
            // The host's connection, and the executor in a reference cycle, so that its destructor
            // runs too late.
            Subprocess::run([PHP_BINARY, '-d', 'display_errors=0', '-r', "
                require $autoload;
                \$pdo = new PDO($dsn, options: [PDO::ATTR_PERSISTENT => true]);
                \$ring = new stdClass;
                \$ring->own = \$ring;
                \$ring->executor = Assay\\Ledger\\PdoExecutor::withConnection(\$pdo);
                \$ring->executor->run($begin);
                $end"]);
            $this->assertSame([], $this->keys(), $end);
        }
    }

    public function testAStandbyIsRefused(): void
    {
        $pdo = new PDO("sqlite:$this->file");
        $pdo->exec('PRAGMA query_only = 1');
        $executor = PdoExecutor::withConnection($pdo);
        $answer = $executor->run(self::step('begin', self::insert('a')));
        $this->assertSame(['code' => 'standby', 'executed' => 'no'], $answer['error']);
        $read = new PDO(
            "sqlite:$this->file",
            options: [PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READONLY],
        );
        $answer = PdoExecutor::withConnection($read)->run(self::step(null, self::insert('a')));
        $this->assertSame('standby', $answer['error']['code']);
        $this->assertSame([], $this->keys());
    }

    public function testNoFileIsAnAnswer(): void
    {
        $log = ini_set('error_log', '/dev/null');
        $executor = PdoExecutor::to('sqlite:' . __DIR__);
        $answer = $executor->run(self::step(null, self::READ));
        ini_set('error_log', (string) $log);
        $this->assertSame(['code' => '14', 'executed' => 'no'], $answer['error']);
    }

    /** Asserts that a step does not create a missing file (STO-78). */
    public function testNoFileIsMadeInPassing(): void
    {
        $path = "$this->file-missing";
        $log = ini_set('error_log', "$this->file-log");
        try {
            $executor = PdoExecutor::to("sqlite:$path");
            $answer = $executor->run(self::step(null, self::READ));
        } finally {
            ini_set('error_log', (string) $log);
        }
        $this->assertSame(['code' => '14', 'executed' => 'no'], $answer['error']);
        $this->assertFileDoesNotExist($path);
        $this->assertStringContainsString($path, (string) file_get_contents("$this->file-log"));
        $executor->createFile();
        $answer = $executor->run(self::step(null, ['CREATE TABLE t (k TEXT)']));
        $this->assertSame(200, $answer['code']);
    }

    /** Asserts that a relative path is refused with a message (STO-78). */
    public function testARelativePathSaysSo(): void
    {
        $before = (string) getcwd();
        chdir(dirname($this->file));
        try {
            $executor = PdoExecutor::to('sqlite:./' . basename($this->file));
            chdir('/');
            $answer = $executor->run(self::step(null, self::READ));
            $this->assertSame(200, $answer['code']);
        } finally {
            chdir($before);
        }
        $this->expectException(\ValueError::class);
        PdoExecutor::to('sqlite:' . basename($this->file));
    }

    private const TRANSACTION = ['code' => 500,
        'error' => ['code' => 'transaction', 'executed' => 'unknown']];

    /** Asserts that a grant that ends its transaction is rolled back (STO-38). */
    public function testAGrantThatEndsItsTransactionIsUndone(): void
    {
        foreach (['COMMIT', 'rollback', ';;/**/ end', "-- x\nBEGIN", "SELECT 'a;'';'; commit",
            'SAVEPOINT assay_grant', 'RELEASE assay_grant'] as $text) {
            $executor = $this->executor();
            $executor->run(self::step('begin', self::insert('claim')));
            $guarded = $executor->enterGrant();
            $guarded->exec("INSERT INTO t VALUES ('grant', 1)");
            $this->thrown(Misuse::class, fn () => $guarded->exec($text));
            $this->assertSame(self::TRANSACTION, $executor->leaveGrant(null), $text);
            $this->assertSame([], $this->keys());
        }
        foreach ([['COMMIT'], ['COMMIT', 'BEGIN']] as $place => $ends) {
            $executor = $this->executor();
            $executor->run(self::step('begin', self::insert("claim$place")));
            $executor->enterGrant();
            array_map($executor->connection()->exec(...), $ends);
            $this->assertSame(self::TRANSACTION, $executor->leaveGrant(null));
        }
        $this->assertSame(['claim0', 'claim1'], $this->keys());
    }

    /** Asserts that texts that only resemble such statements pass (STO-38). */
    public function testTextsOfAGrant(): void
    {
        $is = GuardedConnection::endsTransaction(...);
        foreach ([
            'sqlite' => ["INSERT INTO t VALUES ('x; COMMIT')", 'ROLLBACK TO own', 'RELEASE own',
                "UPDATE t SET k = 'C:\\', n = '; END'", 'SELECT CASE 1 WHEN 1 THEN 2 END',
                'CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM t; END'],
            'postgres' => ['DO $a$ BEGIN COMMIT; END $a$', 'SELECT $$; COMMIT; $$',
                "SELECT E'\\'; COMMIT'", 'SET LOCAL search_path TO x', 'SELECT 1 AS "a; commit"'],
            'mariadb' => ["SELECT 'it\\'s; COMMIT'", "SELECT 1 # ; COMMIT\n, 2", 'SET @a = 1',
                'SELECT `; COMMIT`', 'ROLLBACK WORK TO SAVEPOINT own'],
        ] as $engine => $texts) {
            foreach ($texts as $text) {
                $this->assertFalse($is($text, $engine), $text);
            }
        }
        foreach ([
            'postgres' => ['PREPARE TRANSACTION \'a\'', 'abort', 'SELECT 1; END', "START\nTRANSACTION"],
            'mariadb' => ['SET SESSION autocommit = 1', 'SET @@autocommit=0', '/*!50000 COMMIT */',
                '/*M! COMMIT */', "# x\nCOMMIT AND CHAIN", 'XA START "a"'],
        ] as $engine => $texts) {
            foreach ($texts as $text) {
                $this->assertTrue($is($text, $engine), $text);
            }
        }
    }

    /** Asserts that an open transaction of the host is refused and left unchanged (STO-38). */
    public function testAnOpenTransactionOfTheHostsIsLeftAsItWas(): void
    {
        foreach (['BEGIN', null] as $begin) {
            $pdo = new PDO("sqlite:$this->file");
            $begin === null ? $pdo->beginTransaction() : $pdo->exec($begin);
            $pdo->exec("INSERT INTO t VALUES ('own$begin', 1)");
            foreach (['begin', 'single', null] as $transaction) {
                $refusal = $this->refused('misuse.ledger.transaction', fn () =>
                    PdoExecutor::withConnection($pdo)->run(self::step($transaction, self::insert('a'))));
                $this->assertStringContainsString('open transaction', $refusal->reason);
            }
            $begin === null ? $pdo->commit() : $pdo->exec('COMMIT');
        }
        $this->assertSame(['own', 'ownBEGIN'], $this->keys());
    }

    /** Asserts that deleted text is overwritten, and the log truncated (STO-93). */
    public function testADeletedTextIsGone(): void
    {
        $executor = $this->executor();
        $executor->createFile();
        $text = str_repeat('somebody', 40);
        $executor->run(self::step(null, self::insert($text)));
        $executor->emptyLog();
        $this->assertStringContainsString($text, (string) file_get_contents($this->file));
        $executor->run(self::step(null, ['DELETE FROM t']));
        $executor->emptyLog();
        foreach ((array) glob("$this->file*") as $file) {
            $this->assertStringNotContainsString($text, (string) file_get_contents($file));
        }
    }

    public function testATransactionIsNotPutIntoAnother(): void
    {
        $executor = $this->executor();
        $executor->run(self::step('begin'));
        $this->expectException(\LogicException::class);
        $executor->run(self::step('begin'));
    }

    public function testOtherDriversHaveNoStatements(): void
    {
        $this->expectException(\ValueError::class);
        PdoExecutor::to('oci:dbname=x');
    }

    public function testNothingIsPrinted(): void
    {
        $executor = PdoExecutor::to("sqlite:$this->file", 'user', 'secret');
        $this->assertStringNotContainsString('secret', print_r($executor, true));
    }
}
