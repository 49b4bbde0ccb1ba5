<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Store\Ledger;
use Assay\Tests\Minted;
use PHPUnit\Framework\TestCase;

/** Quotas, sign-ups, challenges and `once` over Redis. */
final class RedisLedgerTest extends TestCase
{
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
        $limits = ['limits' => ['free' => ['free' => 99], 'premium' => ['premium' => 2]]];

        return Ledger::over($this->redis, Minted::get()->configuration($limits));
    }

    public function testMeters(): void
    {
        $ledger = $this->ledger();
        $first = $ledger->take('ann', 'premium', 'premium');
        $this->assertSame([1, 1], [$first->used, $first->left]);
        $ledger->take('ann', 'premium', 'premium');
        try {
            $ledger->take('ann', 'premium', 'premium');
            $this->fail('more than the limit');
        } catch (Rejected $full) {
            $this->assertSame(429, $full->httpStatus);
        }
        $ledger->refund($first->ticket);
        $this->assertSame(2, $ledger->take('ann', 'premium', 'premium')->used);
        $this->redis->script('flush');
        $this->assertSame(1, $ledger->take('bob', 'premium', 'premium')->used);
    }

    public function testChallengesAndOnce(): void
    {
        $ledger = $this->ledger();
        $challenge = $ledger->challenge('login', 'ann')->text();
        $ledger->consume('login', 'ann', challenge: $challenge, by: 'x');
        $this->assertTrue($ledger->once('NOTE#1'));
        $this->assertFalse($ledger->once('NOTE#1'));
        $this->expectException(Rejected::class);
        $ledger->consume('login', 'ann', challenge: $challenge, by: 'y');
    }

    public function testAPurchaseIsNotKeptHere(): void
    {
        $this->expectException(AssayException::class);
        $this->expectExceptionMessage('config.store.not-durable');
        $this->ledger()->claim(Minted::get()->coins(), 'ann');
    }

    public function testAReplicaIsRefused(): void
    {
        $ledger = $this->ledger();
        $this->redis->rawCommand('REPLICAOF', '127.0.0.1', '1');
        try {
            $ledger->once('NOTE#1');
            $this->fail('a replica is taken');
        } catch (Unavailable $refusal) {
            $this->assertSame('unavailable.store.standby', $refusal->status);
        } finally {
            $this->redis->rawCommand('REPLICAOF', 'NO', 'ONE');
        }
    }

    /** A connection that was too late is not used again: an answer may still come on it. */
    public function testAServerThatIsSilent(): void
    {
        $ledger = $this->ledger();
        $ledger->take('ann', 'premium', 'premium');
        $other = self::connected();
        $this->redis->setOption(\Redis::OPT_READ_TIMEOUT, 0.2);
        $other->rawCommand('CLIENT', 'PAUSE', '700');
        foreach ([1, 2] as $try) {
            try {
                $ledger->take('ann', 'premium', 'premium');
                $this->fail("try $try was answered");
            } catch (Unavailable $refusal) {
                $this->assertSame('unavailable.store.unclear', $refusal->status);
            }
        }
        usleep(800_000);
    }
}
