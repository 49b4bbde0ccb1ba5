<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

use Assay\Exception\Unavailable;
use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Tests\LedgerTest;
use Assay\Tests\Minted;
use PDO;

/**
 * The ledger's tests over an engine from the environment: ASSAY_STORE_POSTGRES has the address of a
 * PostgreSQL server (Tests/Stores/with_engines.py). Each test has its own database.
 */
abstract class EngineLedgerTest extends LedgerTest
{
    protected const NAME = '';
    protected const DRIVER = '';

    private string $database = '';

    /**
     * @return array<string, mixed> parts of the engine's address; the test is skipped without one
     */
    public static function address(string $name): array
    {
        $variable = 'ASSAY_STORE_' . strtoupper($name);
        $url = getenv($variable);
        if ($url === false) {
            $why = getenv("{$variable}_MISSING") ?: "$variable is not set";
            self::markTestSkipped("$name: $why");
        }

        return (array) parse_url($url);
    }

    protected function prepare(): void
    {
        self::address(static::NAME);
        if (!in_array(static::DRIVER, PDO::getAvailableDrivers(), true)) {
            self::markTestSkipped(static::NAME . ': PHP has no PDO driver ' . static::DRIVER);
        }
        $name = 'shop' . bin2hex(random_bytes(6));
        $this->pdo()->exec("CREATE DATABASE $name");
        $this->database = $name;
    }

    protected function tearDown(): void
    {
    }

    protected function dsn(): string
    {
        $address = self::address(static::NAME);
        $database = $this->database ?: ltrim($address['path'], '/');
        $end = static::DRIVER === 'mysql' ? ';charset=utf8mb4' : '';

        return static::DRIVER . ":host={$address['host']};port={$address['port']};"
            . "dbname=$database;user={$address['user']}$end";
    }

    abstract protected function readOnly(bool $is): void;

    public function testAStandbyIsRefused(): void
    {
        $this->ledger();
        $jws = Minted::get()->coins();
        $this->readOnly(true);
        try {
            Ledger::open($this->dsn(), Minted::get()->configuration())
                ->claim($jws, 'ann', self::pay(...));
            $this->fail('a standby is taken');
        } catch (Unavailable $refusal) {
            $this->assertSame('unavailable.database.standby', $refusal->status);
        } finally {
            $this->readOnly(false);
        }
        $this->assertSame([], $this->coins());
    }

    /**
     * Asserts that statements outside a transaction run at READ COMMITTED, whatever the role's
     * default is (STO-14).
     */
    public function testTheIsolationIsSet(): void
    {
        $this->ledger();
        $pdo = new PDO($this->dsn());
        $isPostgres = static::DRIVER === 'pgsql';
        $pdo->exec($isPostgres
            ? 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE'
            : 'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE');
        Ledger::withConnection($pdo, Minted::get()->configuration())->recordEvent('NOTE#isolation');
        $found = $pdo->query($isPostgres
            ? 'SHOW default_transaction_isolation' : 'SELECT @@tx_isolation')->fetchColumn();
        $this->assertSame($isPostgres ? 'read committed' : 'READ-COMMITTED', $found);
    }

    /** Asserts that a claim whose session ends inside the grant is retried or deferred (STO-39). */
    public function testASessionThatIsLostInItsGrantIsNoFault(): void
    {
        $ledger = $this->ledger();
        $asked = static::DRIVER === 'pgsql' ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()';
        $end = static::DRIVER === 'pgsql' ? 'SELECT pg_terminate_backend(%d)' : 'KILL %d';
        foreach ([1 => 'granted', 2 => 'granted', 99 => 'deferred'] as $times => $answer) {
            $calls = 0;
            $grant = function (Grant $grant, PDO $pdo) use (&$calls, $times, $asked, $end): void {
                self::pay($grant, $pdo);
                if (++$calls <= $times) {
                    $id = (int) $pdo->query($asked)->fetchColumn();
                    $this->pdo()->exec(sprintf($end, $id));
                }
            };
            $claimed = $ledger->claim(Minted::get()->coins(), "ann$times", $grant);
            $this->assertSame($answer, $claimed->clientResult, $claimed->status);
            $this->assertSame(min($times + 1, 3), $calls);
        }
        $this->assertSame(
            [503, 'unavailable.database.outcome-unknown', 1000],
            [$claimed->httpStatus, $claimed->status, $claimed->document()->at('exchange.retryAfterMs')],
        );
        $this->assertSame(['ann1' => 100, 'ann2' => 100], $this->coins());
    }

    /** Asserts that a wait for a lock ends at its limit (STO-76). */
    public function testALockThatIsHeldIsContention(): void
    {
        $ledger = $this->ledger(['statementMs' => 1000, 'lockMs' => 100, 'requestMs' => 10000]);
        $jws = Minted::get()->coins();
        $other = $this->pdo();
        $other->exec(static::DRIVER === 'pgsql'
            ? 'BEGIN; LOCK TABLE assay_purchase' : 'LOCK TABLES assay_purchase WRITE');
        $this->refused('unavailable.database.contention', fn () =>
            $ledger->claim($jws, 'ann', self::pay(...)));
        $other->exec(static::DRIVER === 'pgsql' ? 'ROLLBACK' : 'UNLOCK TABLES');
        $this->assertSame('granted', $ledger->claim($jws, 'ann', self::pay(...))->clientResult);
    }

    /** Asserts the status of an engine that cannot be reached, and of a failed connect (STO-77). */
    public function testAnEngineThatIsNotReachedIsNamed(): void
    {
        $parts = ['port=1;' => 'unreachable', 'dbname=none;' => 'statement-failed'];
        foreach ($parts as $part => $why) {
            $name = strstr($part, '=', true);
            $dsn = preg_replace("/$name=[^;]*;/", $part, $this->dsn(), -1, $count);
            $this->assertSame(1, $count);
            $this->refused("unavailable.database.$why", fn () =>
                Ledger::open($dsn, Minted::get()->configuration())->recordEvent('NOTE#1'));
        }
    }
}
