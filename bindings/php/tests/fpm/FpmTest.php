<?php

declare(strict_types=1);

namespace Assay\Tests\Fpm;

use Assay\Tests\CaseTable;
use PHPUnit\Framework\TestCase;

/** Tests with real prefork servers: php-fpm and php-cgi, by FastCGI on a Unix socket. */
final class FpmTest extends TestCase
{
    private const WORKERS = 3;
    private const REQUESTS = 60;
    private const AT_ONCE = 6;

    private ?FastCgiServer $server = null;

    protected function tearDown(): void
    {
        $this->server?->stop();
    }

    /** @return iterable<string, array{string}> */
    public function ways(): iterable
    {
        yield 'preloaded FFI' => ['ffi'];
        yield 'extension' => ['extension'];
    }

    /** @dataProvider ways */
    public function testFpmAnswersAllAtOnceAndAfterAReload(string $way): void
    {
        $this->server = FastCgiServer::fpm(self::WORKERS, $this->lines($way));
        $first = $this->ask($way);
        $this->assertCount(self::WORKERS, $first, 'every worker has answered');

        $this->server->reload();
        $second = $this->ask($way);
        $this->assertCount(self::WORKERS, $second, 'every worker of the reload has answered');
        $this->assertSame([], array_intersect($first, $second), 'the workers are new ones');
        $this->assertSame($second, $this->ask($way), 'they stay alive');
        $log = $this->server->log();
        $this->assertStringNotContainsString('exited on signal', $log);
        $this->assertStringNotContainsString('exited with code', $log);
    }

    public function testTheLinesOfTheExample(): void
    {
        $file = dirname(__DIR__, 2) . '/examples/fpm/php.ini';
        $this->server = FastCgiServer::fpmWithFile(self::WORKERS, $file);
        $this->assertCount(self::WORKERS, $this->ask('ffi scope ASSAY'));
    }

    /** @dataProvider ways */
    public function testCgiWithChildren(string $way): void
    {
        $this->server = FastCgiServer::cgi(self::WORKERS, $this->lines($way));
        $this->assertNotSame([], $this->ask($way));
    }

    /**
     * Asserts that the extension frees its handles after a fatal error, when PHP calls no
     * destructor.
     */
    public function testFatalErrorsLeaveNothingInTheExtension(): void
    {
        $this->server = FastCgiServer::fpm(1, $this->lines('extension'));
        $resident = function (): int {
            $this->server->requests('verify.php', array_fill(0, 3, []));

            return $this->read($this->server->request('verify.php', []))['resident'];
        };
        $before = $resident();
        for ($done = 0; $done < self::REQUESTS; $done++) {
            $answer = $this->server->request('verify.php', ['fatal' => '1']);
            $this->assertStringContainsString('Allowed memory size', $answer);
        }
        $this->assertLessThan(1 << 20, $resident() - $before);
    }

    public function testWithoutTheLinesTheyAreNamed(): void
    {
        $lines = $this->lines('ffi');
        foreach (
            [
                'opcache.preload' => ['opcache.preload', 'opcache.preload_user'],
                'ffi.preload' => ['ffi.preload', 'opcache.preload', 'opcache.preload_user'],
            ] as $named => $left
        ) {
            $this->server = FastCgiServer::fpm(1, array_diff_key($lines, array_flip($left)));
            $answer = $this->server->request('verify.php', []);
            $this->server->stop();
            $this->assertStringContainsString('LoadError: assay: FFI is not allowed', $answer);
            $this->assertStringContainsString("$named=", $answer);
            $this->assertSame(
                in_array('ffi.preload', $left, true),
                str_contains($answer, 'ffi.preload='),
            );
        }
    }

    public function testClassesAloneArePreloaded(): void
    {
        $lines = $this->lines('ffi');
        unset($lines['ffi.preload']);
        $this->server = FastCgiServer::fpm(1, $lines);
        $answer = $this->server->request('verify.php', []);
        $this->assertSame('ffi libassay.so.0', $this->read($answer)['library']);
    }

    /** @return array<string, string> */
    private function lines(string $way): array
    {
        if ($way === 'ffi') {
            return FastCgiServer::preloadLines();
        }
        $extension = getenv('ASSAY_EXTENSION_BUILT');
        if (!$extension) {
            $this->markTestSkipped('ASSAY_EXTENSION_BUILT is not set: `make check-php-fpm`');
        }

        return ['extension' => FastCgiServer::shared($extension)];
    }

    /**
     * Sends many requests at once, genuine and forged, and checks every response.
     *
     * @return list<int> the workers that responded
     */
    private function ask(string $way): array
    {
        $case = CaseTable::get()->accepted('transaction');
        $product = CaseTable::get()->verifier($case['verifier'])
            ->verifyTransaction(CaseTable::evidence($case), $case['now'])->productId;
        $workers = [];
        for ($done = 0; $done < self::REQUESTS; $done += self::AT_ONCE) {
            $queries = [];
            for ($index = 0; $index < self::AT_ONCE; $index++) {
                $queries[] = ['forged' => (string) ($index % 3 === 2)];
            }
            foreach ($this->server->requests('verify.php', $queries) as $index => $text) {
                $answer = $this->read($text);
                $this->assertStringStartsWith($way, $answer['library']);
                if ($queries[$index]['forged']) {
                    $this->assertSame('rejected.jws.signature', $answer['status']);
                } else {
                    $this->assertSame($product, $answer['product'] ?? $answer);
                }
                $workers[$answer['worker']] = true;
            }
        }
        ksort($workers);

        return array_keys($workers);
    }

    /** @return array<string, mixed> the JSON of an HTTP response */
    private function read(string $answer): array
    {
        $body = explode("\r\n\r\n", $answer, 2)[1] ?? '';
        $found = json_decode($body, true);
        $this->assertIsArray($found, $answer);

        return $found;
    }
}
