<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Ledger\Ledger;
use Assay\Ledger\RedisExecutor;
use Assay\Tests\Minted;
use Assay\Tests\Refusals;
use PHPUnit\Framework\TestCase;

/** Tests of quotas, sign-ups, challenges and events over Redis. */
final class RedisLedgerTest extends TestCase
{
    use Refusals;

    private \Redis $redis;

    protected function setUp(): void
    {
        EngineLedgerTest::address('redis');
        if (!extension_loaded('redis')) {
            $this->markTestSkipped('redis: PHP has no extension redis');
        }
        $this->redis = self::connected();
        $this->redis->flushAll();
    }

    private static function connected(): \Redis
    {
        $address = EngineLedgerTest::address('redis');
        $redis = new \Redis();
        $redis->connect($address['host'], $address['port'], 5);

        return $redis;
    }

    private function ledger(): Ledger
    {
        $limits = ['quotas' => ['free' => ['free' => 99], 'premium' => ['premium' => 2]]];

        return Ledger::withConnection($this->redis, Minted::get()->configuration($limits));
    }

    public function testMeters(): void
    {
        $ledger = $this->ledger();
        $first = $ledger->consumeQuota('ann', 'premium', 'premium');
        $this->assertSame([1, 1], [$first->used, $first->left]);
        $ledger->consumeQuota('ann', 'premium', 'premium');
        $full = $this->thrown(Rejected::class, fn () => $ledger->consumeQuota('ann', 'premium', 'premium'));
        $this->assertSame(429, $full->httpStatus);
        $ledger->releaseQuota($first->ticket);
        $this->assertSame(2, $ledger->consumeQuota('ann', 'premium', 'premium')->used);
        $this->redis->script('flush');
        $this->assertSame(1, $ledger->consumeQuota('bob', 'premium', 'premium')->used);
    }

    public function testChallengesAndEvents(): void
    {
        $ledger = $this->ledger();
        $challenge = $ledger->issueChallenge('login', 'ann')->text();
        $ledger->consumeChallenge('login', 'ann', challenge: $challenge, usedBy: 'x');
        $this->assertTrue($ledger->recordEvent('NOTE#1')->ok);
        $this->assertFalse($ledger->recordEvent('NOTE#1')->ok);
        $this->expectException(Rejected::class);
        $ledger->consumeChallenge('login', 'ann', challenge: $challenge, usedBy: 'y');
    }

    public function testAPurchaseIsNotKeptHere(): void
    {
        $this->expectException(AssayException::class);
        $this->expectExceptionMessage('config.ledger.not-durable');
        $this->ledger()->claim(Minted::get()->coins(), 'ann');
    }

    public function testAReplicaIsRefused(): void
    {
        $ledger = $this->ledger();
        $this->redis->rawCommand('REPLICAOF', '127.0.0.1', '1');
        try {
            $ledger->recordEvent('NOTE#1');
            $this->fail('a replica is taken');
        } catch (Unavailable $refusal) {
            $this->assertSame('unavailable.database.standby', $refusal->status);
        } finally {
            $this->redis->rawCommand('REPLICAOF', 'NO', 'ONE');
        }
    }

    /**
     * Asserts that a connection with a late reply is not used again: the reply may still arrive on
     * it.
     */
    public function testAServerThatIsSilent(): void
    {
        $ledger = $this->ledger();
        $ledger->consumeQuota('ann', 'premium', 'premium');
        $other = self::connected();
        $this->redis->setOption(\Redis::OPT_READ_TIMEOUT, 0.2);
        $other->rawCommand('CLIENT', 'PAUSE', '700');
        foreach (['outcome-unknown', 'unreachable'] as $why) {
            $this->refused("unavailable.database.$why", fn () =>
                $ledger->consumeQuota('ann', 'premium', 'premium'));
        }
        usleep(800_000);
    }

    private const PING = ['id' => 7, 'calls' => [['command' => ['PING']]]];

    /**
     * Asserts that a server that evicts keys is refused, checked at most once a minute (STO-83).
     */
    public function testAServerThatEvictsIsRefused(): void
    {
        $port = EngineLedgerTest::address('redis')['port'];
        $answer = static function () use ($port): array {
            // Another host name, so that no other test has checked the server.
            $redis = new \Redis();
            $redis->connect('localhost', $port, 5);

            return (new RedisExecutor($redis))->run(self::PING);
        };
        $this->redis->config('SET', 'maxmemory', '200mb');
        $this->redis->config('SET', 'maxmemory-policy', 'allkeys-lru');
        try {
            foreach ([1, 2] as $ignored) {
                $this->assertSame(['code' => 'evicting', 'executed' => 'no'], $answer()['error']);
            }
            $this->redis->config('SET', 'maxmemory-policy', 'noeviction');
            $this->assertSame(200, $answer()['code']);
            $this->redis->config('SET', 'maxmemory-policy', 'allkeys-lru');
            $this->assertSame(200, $answer()['code']);
        } finally {
            $this->redis->config('SET', 'maxmemory-policy', 'noeviction');
            $this->redis->config('SET', 'maxmemory', '0');
        }
    }

    /** Asserts the code of a server that cannot be reached: nothing was sent (STO-77). */
    public function testAServerThatIsNotReachedIsNamed(): void
    {
        $this->redis->close();
        $answer = (new RedisExecutor($this->redis))->run(self::PING);
        // A closed client connects anew; one that was never connected does not.
        $this->assertSame(200, $answer['code']);
        $answer = (new RedisExecutor(new \Redis()))->run(self::PING);
        $this->assertSame(['code' => 'connect', 'executed' => 'no'], $answer['error']);
    }

    /** Asserts that a wait for a reply ends at its limit (STO-76). */
    public function testAnAnswerIsWaitedForSoLongAndNoLonger(): void
    {
        $executor = new RedisExecutor($this->redis);
        self::connected()->rawCommand('CLIENT', 'PAUSE', '700', 'WRITE');
        $answer = $executor->run(['id' => 7, 'limits' => ['statementMs' => 100],
            'calls' => [['command' => ['SET', 'a', 'b']]]]);
        $this->assertSame(['id' => 7, 'code' => 0], $answer);
        usleep(800_000);
    }
}
