<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Sender;
use PHPUnit\Framework\TestCase;

/** Senders against the server of faults that all bindings' tests share (PLY-7). */
final class FaultsTest extends TestCase
{
    private const NAME = 'api.storekit.apple.com';
    private const SECRETS = ['Bearer ', 'client_secret', '-----BEGIN', 'shared-secret', 'ZGV2aWNl'];
    private const GOOD = ['text' => '{"good":true}'];

    /** @var resource */
    private static $process;
    /** @var resource */
    private static $input;
    private static string $url;

    public static function setUpBeforeClass(): void
    {
        [self::$process, self::$input, self::$url] = self::server([]);
    }

    /**
     * @param list<string> $arguments
     *
     * @return array{resource, resource, string} process, its input, address
     */
    private static function server(array $arguments): array
    {
        $program = dirname(__DIR__, 2) . '/python/tests/fault_server.py';
        $process = proc_open(
            ['python3', $program, ...$arguments],
            [['pipe', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']],
            $pipes,
        );

        return [$process, $pipes[0], trim((string) fgets($pipes[1]))];
    }

    public static function tearDownAfterClass(): void
    {
        fclose(self::$input);
        proc_close(self::$process);
    }

    /** @return array<string, array{bool}> */
    public static function transports(): array
    {
        return ['curl' => [true], 'sockets' => [false]];
    }

    private static function sender(bool $curl, ?callable $log = null, ?string $url = null): Sender
    {
        if ($curl && !extension_loaded('curl')) {
            self::markTestSkipped('the extension curl is not there');
        }

        return new Sender([self::NAME => $url ?? self::$url], $log, $curl);
    }

    /** @return array<string, mixed> */
    private static function request(string $fault, array $changes = []): array
    {
        return $changes + [
            'id' => 7, 'method' => 'POST',
            'url' => 'https://' . self::NAME . "/$fault/v1?sort=a%20b&c",
            'headers' => [['Authorization', 'Bearer shared-secret'], ['X-Own', '1']],
            'body' => ['text' => '{"password":"shared-secret","device_token":"ZGV2aWNl"}'],
            'timeoutMs' => 5000, 'maxResponseBytes' => 4096, 'wantHeaders' => ['etag'],
            'secret' => ['headers.authorization', 'body'],
        ];
    }

    /** @return array<string, mixed> */
    private static function seen(): array
    {
        return json_decode((string) file_get_contents(self::$url . '/hits'), true);
    }

    /** @dataProvider transports */
    public function testAGoodAnswer(bool $curl): void
    {
        $answer = self::sender($curl)(self::request('good'));
        $this->assertSame(
            ['id' => 7, 'status' => 200, 'headers' => [['etag', '"1"']], 'body' => self::GOOD,
                'cut' => false],
            $answer,
        );
        $last = self::seen()['last'];
        $headers = array_column($last['headers'], 1, 0);
        $this->assertSame(['POST', '/good/v1?sort=a%20b&c'], [$last['method'], $last['path']]);
        $this->assertSame([self::NAME, '1'], [$headers['Host'], $headers['X-Own']]);
        $this->assertSame(self::request('good')['body']['text'], $last['body']);
        self::sender($curl)(self::request('good', ['method' => 'GET', 'body' => null]));
        $last = self::seen()['last'];
        $this->assertSame(['GET', ''], [$last['method'], $last['body']]);
    }

    /** @dataProvider transports */
    public function testHalfAnAnswerIsNone(bool $curl): void
    {
        foreach (['cut', 'reset', 'half-gzip', 'half-chunked', 'brotli'] as $fault) {
            $answer = self::sender($curl)(self::request($fault));
            $this->assertSame(['id' => 7, 'status' => 0, 'body' => null], $answer, $fault);
        }
        $gone = self::sender($curl, null, 'http://127.0.0.1:1');
        $this->assertSame(0, $gone(self::request('good'))['status']);
    }

    /** @dataProvider transports */
    public function testTheTimeIsThatOfTheWhole(bool $curl): void
    {
        foreach (['slow', 'drip', 'drip-head'] as $fault) {
            $begin = hrtime(true);
            $answer = self::sender($curl)(self::request($fault, ['timeoutMs' => 300]));
            $this->assertSame(0, $answer['status'], $fault);
            $this->assertLessThan(2e9, hrtime(true) - $begin, $fault);
        }
    }

    /** @dataProvider transports */
    public function testCodingsAndKinds(bool $curl): void
    {
        foreach (['gzip', 'chunked', 'type'] as $fault) {
            $answer = self::sender($curl)(self::request($fault));
            $this->assertSame([200, self::GOOD], [$answer['status'], $answer['body']], $fault);
        }
        foreach (['empty' => 204, 'unchanged' => 304, 'redirect' => 302] as $fault => $status) {
            $answer = self::sender($curl)(self::request($fault));
            $this->assertSame([$status, ['text' => '']], [$answer['status'], $answer['body']], $fault);
        }
        $this->assertArrayNotHasKey('target', self::seen()['hits']);
        $this->assertSame(
            ['base64' => '/wA='],
            self::sender($curl)(self::request('octets'))['body'],
        );
    }

    /** @dataProvider transports */
    public function testACertificateThatNobodyTrusts(bool $curl): void
    {
        [$process, $input, $url] = self::server(['--tls']);
        try {
            $answer = self::sender($curl, null, $url)(self::request('good'));
            $this->assertSame(0, $answer['status']);
        } finally {
            fclose($input);
            proc_close($process);
        }
    }

    /** @dataProvider transports */
    public function testWhatIsTooLongIsCut(bool $curl): void
    {
        if (function_exists('memory_reset_peak_usage')) { // since PHP 8.2
            memory_reset_peak_usage();
        }
        $before = memory_get_usage();
        foreach (['oversize', 'bomb'] as $fault) {
            $answer = self::sender($curl)(self::request($fault));
            $this->assertSame([true, null], [$answer['cut'], $answer['body']], $fault);
        }
        if (function_exists('memory_reset_peak_usage')) {
            $this->assertLessThan(8 << 20, memory_get_peak_usage() - $before);
        }
        $length = strlen(self::GOOD['text']);
        foreach ([$length => false, $length - 1 => true] as $most => $isCut) {
            $answer = self::sender($curl)(self::request('good', ['maxResponseBytes' => $most]));
            $this->assertSame($isCut, $answer['cut']);
        }
    }

    /** @dataProvider transports */
    public function testLongAnswersBecomeBase64(bool $curl): void
    {
        $answer = self::sender($curl)(self::request('long', ['maxResponseBytes' => 2 << 20]));
        $this->assertSame((1 << 20) + 2, strlen(base64_decode($answer['body']['base64'])));
    }

    /** @dataProvider transports */
    public function testNoProxyOfTheEnvironment(bool $curl): void
    {
        $names = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
        array_map(static fn (string $name) => putenv("$name=http://127.0.0.1:1"), $names);
        try {
            $this->assertSame(200, self::sender($curl)(self::request('good'))['status']);
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
        $sender(self::request('good'));
        $sender(self::request('cut'));
        $sender(self::request('good', ['secret' => ['url']]));
        $forms = ['~^POST %s/good/v1 200 \d+ ms$~', '~^POST %s/cut/v1 0 \d+ ms$~',
            '~^POST %s 200 \d+ ms$~'];
        foreach ($forms as $at => $form) {
            $this->assertMatchesRegularExpression(sprintf($form, self::NAME), $lines[$at]);
        }
        $failing = self::sender($curl, static fn () => throw new \RuntimeException('full disk'));
        try {
            $failing(self::request('good'));
            $this->fail('what the log throws is lost');
        } catch (\RuntimeException $error) {
            $lines[] = (string) $error;
        }
        $text = implode("\n", $lines) . print_r($sender, true) . var_export($sender, true);
        foreach (self::SECRETS as $secret) {
            $this->assertStringNotContainsString($secret, $text);
        }
    }
}
