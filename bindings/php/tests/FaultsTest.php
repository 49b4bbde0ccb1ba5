<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Sender;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Tests of senders against `assay mock-apple` and its faults (PLY-7). */
final class FaultsTest extends TestCase
{
    use Refusals;

    private const NAME = 'api.storekit.apple.com';
    private const SECRETS = ['Bearer ', 'client_secret', '-----BEGIN', 'shared-secret', 'ZGV2aWNl'];
    private const LONGEST_NS = 2e9;

    private static ?AppleFixture $apple = null;

    protected function setUp(): void
    {
        if (!AppleFixture::isThere()) {
            $this->markTestSkipped('ASSAY_CLI does not name the command line: nothing plays Apple');
        }
        self::$apple ??= new AppleFixture();
    }

    public static function tearDownAfterClass(): void
    {
        self::$apple?->stop();
        self::$apple = null;
    }

    /** @return array<string, array{bool}> */
    public static function transports(): array
    {
        return ['curl' => [true], 'sockets' => [false]];
    }

    private static function sender(bool $curl, ?callable $log = null): Sender
    {
        if ($curl && !extension_loaded('curl')) {
            self::markTestSkipped('the extension curl is not there');
        }

        return new Sender(self::$apple->said('hosts'), $log, $curl);
    }

    /** @return array<string, mixed> the response that a sender returns for a fault */
    private static function sent(Sender $sender, string $name, array $changes = []): array
    {
        $test = self::$apple->answer($name);
        self::$apple->play('script', $test['rules']);

        return $sender($changes + $test['request']);
    }

    /** @dataProvider transports */
    public function testTheFaults(bool $curl): void
    {
        foreach (self::$apple->said('answers') as $test) {
            $begin = hrtime(true);
            $found = self::sent(self::sender($curl), $test['name']);
            $took = hrtime(true) - $begin;
            $wanted = $test['status'] === 0 ? ['id' => 7, 'status' => 0, 'body' => null] : [
                'id' => 7, 'status' => $test['status'], 'headers' => $test['headers'],
                'body' => $test['body'], 'truncated' => $test['truncated'],
            ];
            $this->assertSame($wanted, $found, $test['name']);
            if ($test['late']) {
                $this->assertLessThan(self::LONGEST_NS, $took, $test['name']);
            }
        }
    }

    /** @dataProvider transports */
    public function testExchanges(bool $curl): void
    {
        $sender = self::sender($curl);
        $verifier = new Verifier(self::$apple->said('config'));
        foreach (self::$apple->said('exchanges') as $test) {
            self::$apple->play('script', $test['rules']);
            $now = self::$apple->said('now');
            $exchange = $verifier->exchange($test['request'], now: $now);
            $requests = 0;
            while (!$exchange->isDone()) {
                $open = $exchange->payload();
                if ($open['step'] === 'wait') { // the clock is moved instead of waiting
                    $now = $open['notBeforeMs'];
                    $exchange->step('{}', $now);
                } else {
                    $requests++;
                    $exchange->step($sender($open['http']), $now);
                }
            }
            $this->assertSame(
                [$test['status'], $test['requests']],
                [$exchange->document()->status(), $requests],
                $test['name'],
            );
        }
    }

    /** @dataProvider transports */
    public function testNobodyListens(bool $curl): void
    {
        $gone = new Sender([self::NAME => 'http://127.0.0.1:1'], null, $curl);
        $this->assertSame(0, self::sent($gone, 'good')['status']);
    }

    /** @dataProvider transports */
    public function testCertificates(bool $curl): void
    {
        self::sender($curl);
        $apple = new AppleFixture('--tls');
        $request = ['method' => 'GET', 'url' => 'https://appleid.apple.com/auth/keys',
            'headers' => [], 'body' => null, 'maxResponseBytes' => 1 << 16]
            + self::$apple->answer('good')['request'];
        try {
            foreach ([
                [$apple->said('url'), $apple->said('ca'), 200], [$apple->said('url'), null, 0],
                [$apple->said('expiredUrl'), $apple->said('ca'), 0],
            ] as [$url, $roots, $status]) {
                $sender = new Sender(['appleid.apple.com' => $url], null, $curl, $roots);
                $this->assertSame($status, $sender($request)['status'], "$url, $roots");
            }
        } finally {
            $apple->stop();
        }
    }

    /** @dataProvider transports */
    public function testABombTakesNoMemory(bool $curl): void
    {
        if (!function_exists('memory_reset_peak_usage')) { // since PHP 8.2
            $this->markTestSkipped('this PHP does not measure a peak anew');
        }
        foreach (['oversized', 'a bomb'] as $name) {
            memory_reset_peak_usage();
            $before = memory_get_usage();
            self::sent(self::sender($curl), $name);
            $this->assertLessThan(8 << 20, memory_get_peak_usage() - $before);
        }
    }

    /** @dataProvider transports */
    public function testNoProxyOfTheEnvironment(bool $curl): void
    {
        $names = ['http_proxy', 'https_proxy', 'all_proxy'];
        $names = [...$names, ...array_map(strtoupper(...), $names)];
        array_map(static fn (string $name) => putenv("$name=http://127.0.0.1:1"), $names);
        try {
            $this->assertSame(200, self::sent(self::sender($curl), 'good')['status']);
        } finally {
            array_map(putenv(...), $names);
        }
    }

    /** @dataProvider transports */
    public function testNoSecretIsLoggedOrPrinted(bool $curl): void
    {
        $lines = [];
        $sender = self::sender($curl, static function (string $line) use (&$lines): void {
            $lines[] = $line;
        });
        self::sent($sender, 'good');
        self::sent($sender, 'cut');
        self::sent($sender, 'good', ['sensitivePaths' => ['url']]);
        $forms = ['~^POST %s/v1/own 200 \d+ ms$~', '~^POST %s/v1/own 0 \d+ ms$~',
            '~^POST %s 200 \d+ ms$~'];
        foreach ($forms as $at => $form) {
            $this->assertMatchesRegularExpression(sprintf($form, self::NAME), $lines[$at]);
        }
        $failing = self::sender($curl, static fn () => throw new \RuntimeException('full disk'));
        $error = $this->thrown(\RuntimeException::class, fn () => self::sent($failing, 'good'));
        $lines[] = (string) $error;
        $text = implode("\n", $lines) . print_r($sender, true) . var_export($sender, true);
        foreach (self::SECRETS as $secret) {
            $this->assertStringNotContainsString($secret, $text);
        }
    }
}
