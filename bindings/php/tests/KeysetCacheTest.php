<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\AssayException;
use Assay\KeysetCache;
use Assay\Sender;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Tests of key sets that are fetched on demand, from `assay mock-apple` (KST-1 … 13). */
final class KeysetCacheTest extends TestCase
{
    private const ISSUER = 'https://es256.example.com';
    private const DAY = 86_400_000;

    private static ?AppleFixture $shared = null;

    private string $folder;
    private AppleFixture $apple;
    private KeysetCache $keys;

    protected function setUp(): void
    {
        if (!AppleFixture::isThere()) {
            $this->markTestSkipped('ASSAY_CLI does not name the command line: nothing plays Apple');
        }
        $this->folder = sys_get_temp_dir() . '/assay-keys-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0700);
        $this->apple = self::$shared ??= new AppleFixture();
        $this->apple->play('clock', ['now' => 'live']);
        $this->apple->play('script', []);
        $this->apple->play('log', new \stdClass());
        $this->keys = $this->made();
    }

    protected function tearDown(): void
    {
        if (isset($this->folder)) { // the folder does not exist if the test was skipped
            array_map(unlink(...), (array) glob("$this->folder/*"));
            rmdir($this->folder);
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$shared?->stop();
        self::$shared = null;
    }

    /** Returns a cache as another PHP request makes it. */
    private function made(?callable $send = null): KeysetCache
    {
        return new KeysetCache(
            new Verifier($this->apple->said('config')),
            $this->folder,
            $send ?? new Sender($this->apple->said('hosts')),
        );
    }

    private function token(): string
    {
        return $this->apple->play('token', ['issuer' => self::ISSUER])['token'];
    }

    private function fails(): void
    {
        $this->apple->play('script', [['fault' => ['status' => 503]]]);
    }

    /** Returns the status of verifying a token. */
    private function status(KeysetCache $keys, string $token): string
    {
        try {
            $this->assertSame(self::ISSUER, $keys->verifyToken($token, self::ISSUER)->issuer);

            return 'ok';
        } catch (AssayException $refusal) {
            return $refusal->status;
        }
    }

    private function file(): string
    {
        return $this->folder . '/' . hash('sha256', self::ISSUER);
    }

    /**
     * Makes the stored key set and the attempts older by these times in milliseconds.
     *
     * @return array<string, mixed> what is stored
     */
    private function wait(int $milliseconds, int $older = 0): array
    {
        $kept = json_decode((string) file_get_contents($this->file()), true);
        $text = json_decode($kept['keyset'] ?? '{}', true);
        $kept['state']['triedAtMs'] -= $milliseconds;
        if (isset($text['triedAtMs'])) {
            $text['triedAtMs'] -= $milliseconds;
            $kept['state']['fetchedAtMs'] = $text['fetchedAtMs'] -= $older;
            $kept['keyset'] = json_encode($text);
        }
        file_put_contents($this->file(), json_encode($kept));

        return $kept;
    }

    public function testOneFetchServesAllRequests(): void
    {
        $token = $this->token();
        $this->assertSame('ok', $this->status($this->keys, $token));
        $this->assertSame('ok', $this->status($this->keys, $token));
        $this->assertSame('ok', $this->status($this->made(), $token));
        $this->assertCount(1, $this->apple->statuses());
        $this->assertSame(0, $this->wait(0)['state']['failures']);
    }

    public function testUnchangedAfterTheCooldown(): void
    {
        $old = $this->keys->keyset(self::ISSUER);
        $this->assertSame($old, $this->keys->refresh(self::ISSUER, $old)); // the cooldown
        $this->assertCount(1, $this->apple->statuses());
        $before = $this->wait(31_000);
        $keys = $this->made();
        $old = $keys->keyset(self::ISSUER);
        $new = $keys->refresh(self::ISSUER, $old);
        $this->assertNotSame($old, $new); // a set with a later time is a new one
        $after = $this->wait(0);
        $this->assertSame($before['state']['etag'], $after['state']['etag']);
        $this->assertGreaterThan($before['state']['fetchedAtMs'], $after['state']['fetchedAtMs']);
        $this->assertSame(
            array_column($old->facts()->keys, 'kid'),
            array_column($new->facts()->keys, 'kid'),
        );
        $this->assertSame([200, 304], $this->apple->statuses());
        $this->assertSame($new, $keys->keyset(self::ISSUER));
    }

    public function testRotation(): void
    {
        $first = $this->token();
        $this->assertSame('ok', $this->status($this->keys, $first));
        $this->apple->play('keys', ['issuer' => self::ISSUER, 'keys' => 'rotate']);
        $second = $this->token();
        $this->assertSame('rejected.token.unknown-key', $this->status($this->keys, $second));
        $this->assertCount(1, $this->apple->statuses()); // the cooldown
        $this->wait(31_000);
        $keys = $this->made();
        $this->assertSame('ok', $this->status($keys, $second));
        $this->assertSame('ok', $this->status($keys, $first));
        $this->assertCount(2, $this->apple->statuses());
        $this->apple->play('keys', ['issuer' => self::ISSUER, 'keys' => 'remove']);
        $this->wait(31_000);
        $keys = $this->made();
        $keys->refresh(self::ISSUER, $keys->keyset(self::ISSUER));
        $this->assertSame('rejected.token.unknown-key', $this->status($keys, $first));
        $this->assertSame('ok', $this->status($keys, $second));
    }

    public function testUnavailable(): void
    {
        $this->fails();
        $status = $this->status($this->keys, $this->token());
        $this->assertSame('unavailable.jwks.no-response', $status);
        $this->assertSame('pending.exchange.wait', $this->status($this->made(), $this->token()));
        $this->assertSame(1, $this->wait(0)['state']['failures']);
        $this->assertCount(1, $this->apple->statuses());
        $this->wait(61_000);
        $this->apple->play('script', []);
        $this->assertSame('ok', $this->status($this->keys, $this->token()));
    }

    /**
     * Asserts that an old set stays in use until its end if no newer one can be fetched (KST-5).
     */
    public function testSoftRefresh(): void
    {
        $token = $this->token();
        $this->assertSame('ok', $this->status($this->keys, $token));
        $this->wait(601_000, 2 * self::DAY);
        $this->fails();
        foreach ([null, static fn () => throw new \LogicException('odd')] as $send) {
            $this->assertSame('ok', $this->status($this->made($send), $token));
            $this->wait(601_000);
        }
        $this->assertCount(2, $this->apple->statuses());
        $this->wait(601_000, 6 * self::DAY);
        $this->assertSame('unavailable.token.keyset-too-old', $this->status($this->made(), $token));
        $this->wait(601_000);
        $this->apple->play('script', []);
        $this->assertSame('ok', $this->status($this->made(), $token));
        $this->assertSame('ok', $this->status($this->made(), $token));
        $this->assertCount(4, $this->apple->statuses());
    }

    /** Asserts that processes that ask at once send one request. */
    public function testOneFlight(): void
    {
        $this->apple->play('script', [['fault' => ['slowMs' => 300]]]);
        [$token, $children] = [$this->token(), []];
        for ($n = 0; $n < 4; $n++) {
            $children[] = $this->begun([
                $this->apple->said('config'), $this->apple->said('hosts'), $this->folder,
                $token, self::ISSUER,
            ]);
        }
        foreach ($children as [$process, $output]) {
            $this->assertNotSame('', stream_get_contents($output));
            $this->assertSame(0, proc_close($process));
        }
        $this->assertCount(1, $this->apple->statuses());
    }

    /**
     * @param list<mixed> $given
     *
     * @return array{resource, resource} a process that verifies a token, and its output
     */
    private function begun(array $given): array
    {
        $process = proc_open(
            [...Subprocess::phpCommand(), '-d', 'ffi.enable=1', __DIR__ . '/programs/token.php'],
            [['pipe', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
        );
        fwrite($pipes[0], (string) json_encode($given));
        fclose($pipes[0]);

        return [$process, $pipes[1]];
    }

    /** Asserts that one process refreshes and the others continue with the old set. */
    public function testASoftRefreshWaitsForNobody(): void
    {
        $token = $this->token();
        $this->assertSame('ok', $this->status($this->keys, $token));
        $this->wait(601_000, 2 * self::DAY);
        $lock = fopen($this->file() . '.lock', 'c');
        flock($lock, LOCK_EX);
        $this->assertSame('ok', $this->status($this->made(), $token));
        $this->assertCount(1, $this->apple->statuses());
        fclose($lock);
    }

    public function testAnOwnStore(): void
    {
        $store = [];
        $keys = new KeysetCache(
            new Verifier($this->apple->said('config')),
            $this->folder,
            new Sender($this->apple->said('hosts')),
            static function (string $issuer) use (&$store): ?string {
                return $store[$issuer] ?? null;
            },
            static function (string $issuer, string $text) use (&$store): void {
                $store[$issuer] = $text;
            },
        );
        $this->assertSame('ok', $this->status($keys, $this->token()));
        $this->assertStringContainsString('keyset', $store[self::ISSUER]);
        $this->assertFileDoesNotExist($this->file());
    }

    public function testAFolderThatIsNone(): void
    {
        $keys = new KeysetCache(new Verifier($this->apple->said('config')), "$this->folder/none");
        $this->expectException(\RuntimeException::class);
        $keys->keyset(self::ISSUER);
    }
}
