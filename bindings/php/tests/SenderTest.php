<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exception\Misuse;
use Assay\Facts\VerifyReceiptResponse;
use Assay\Sender;
use PHPUnit\Framework\TestCase;

/** Tests of exchanges over the network, with a scripted server on loopback. */
final class SenderTest extends TestCase
{
    use Refusals;

    private const HOSTS = ['buy.itunes.apple.com', 'sandbox.itunes.apple.com'];

    private string $folder;
    private WebServer $server;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/assay-apple-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $this->server = new WebServer(__DIR__ . '/programs/apple.php', ['SCRIPT' => $this->folder]);
    }

    protected function tearDown(): void
    {
        $this->server->stop();
        array_map(unlink(...), (array) glob("$this->folder/*"));
        rmdir($this->folder);
    }

    /** @param list<array{int, array<string, string>, string}> $script */
    private function says(array $script, ?bool $curl = null): Sender
    {
        array_map(unlink(...), (array) glob("$this->folder/*"));
        $encoded = array_map(
            static fn (array $line): array =>
                [$line[0], (object) $line[1], base64_encode($line[2])],
            $script,
        );
        file_put_contents("$this->folder/script", json_encode($encoded));

        return new Sender(array_fill_keys(self::HOSTS, $this->server->url()), null, $curl);
    }

    /** @return list<array<string, string>> */
    private function seen(): array
    {
        return array_map(
            static fn (string $file): array => json_decode(file_get_contents($file), true),
            (array) glob("$this->folder/seen-*"),
        );
    }

    /** Returns the bodies of Apple's responses in a transcript. @return list<string> */
    private static function bodies(array $case): array
    {
        $answers = array_map(
            static fn (array $step): array => json_decode(CaseTable::given($step, 'answer'), true),
            $case['steps'],
        );

        return array_column(array_column($answers, 'body'), 'text');
    }

    private static function ask(array $case, ?callable $send, float $maxWait = 30.0): Document
    {
        return CaseTable::get()->verifier($case['verifier'])
            ->exchange(CaseTable::given($case, 'request'))->run($send, $maxWait);
    }

    public function testAHop(): void
    {
        $case = CaseTable::get()->transcript('a Sandbox receipt at production');
        $send = $this->says(array_map(
            static fn (string $body): array => [200, [], $body],
            self::bodies($case),
        ));
        $document = self::ask($case, $send);
        $this->assertTrue($document->ok, $document->text());
        $this->assertSame(self::HOSTS, array_column($this->seen(), 'host'));
        foreach ($this->seen() as $seen) {
            $this->assertSame('/verifyReceipt', $seen['path']);
            $this->assertSame('application/json', $seen['type']);
        }
        $this->assertSame(1, $document->at('exchange.hops'));
        $this->assertInstanceOf(VerifyReceiptResponse::class, $document->facts());
        // The document of a finished exchange is evidence.
        $decision = CaseTable::get()->verifier($case['verifier'])->decide($document);
        $this->assertTrue($decision->entitled);
    }

    public function testWaits(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $good = self::bodies($case)[0];
        $begin = microtime(true);
        $document = self::ask($case, $this->says([[500, [], ''], [200, [], $good]]));
        $this->assertTrue($document->ok, $document->text());
        $this->assertGreaterThan(1.0, microtime(true) - $begin);
        $document = self::ask($case, $this->says([[429, ['Retry-After' => '60'], '']]), 10.0);
        $this->assertSame('pending.exchange.wait', $document->status());
        $this->assertSame('rate-limited', $document->at('exchange.reason'));
        $this->assertNull($document->facts());
    }

    /** @return array<string, array{bool}> */
    public static function transports(): array
    {
        return ['curl' => [true], 'sockets' => [false]];
    }

    /** @dataProvider transports */
    public function testWhatIsSent(bool $curl): void
    {
        if ($curl && !extension_loaded('curl')) {
            $this->markTestSkipped('the extension curl is not there');
        }
        $own = ['id' => 7, 'url' => 'https://buy.itunes.apple.com/own/v1?sort=a%20b&c',
            'headers' => [['X-Own', '1']], 'timeoutMs' => 5000, 'maxResponseBytes' => 10,
            'responseHeaders' => []];
        $all = [['POST', ['text' => '{"a":1}'], '{"a":1}'],
            ['POST', ['base64' => 'AP8='], "\x00\xff"], ['GET', null, '']];
        $send = $this->says([[200, [], ''], [200, [], ''], [200, [], '']], $curl);
        foreach ($all as $at => [$method, $body, $octets]) {
            $send(['method' => $method, 'body' => $body] + $own);
            $seen = $this->seen()[$at];
            $this->assertSame(
                [$method, '1', self::HOSTS[0], '/own/v1?sort=a%20b&c', base64_encode($octets)],
                [$seen['method'], $seen['own'], $seen['host'], $seen['path'], $seen['body']],
            );
        }
    }

    public function testHostsAreOfThisMachine(): void
    {
        foreach (['http://localhost:80', 'https://[::1]:443', 'http://127.1.2.3/'] as $url) {
            $this->assertInstanceOf(Sender::class, new Sender(['example.com' => $url]));
        }
        foreach (
            ['http://example.com', 'https://10.0.0.1', 'ftp://127.0.0.1', '127.0.0.1',
                'http://127.0.0.1/path', 'http://127.0.0.1.example.com'] as $url
        ) {
            $error = $this->thrown(\ValueError::class, fn () =>
                new Sender(['example.com' => $url]));
            $this->assertStringContainsString('this machine', $error->getMessage());
        }
    }

    public function testAnOwnClient(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $good = self::bodies($case)[0];
        $asked = [];
        $document = self::ask($case, static function (array $request) use ($good, &$asked): array {
            $asked[] = $request['url'];

            return ['id' => $request['id'], 'status' => 200, 'body' => ['text' => $good]];
        });
        $this->assertTrue($document->ok);
        $this->assertSame(['https://buy.itunes.apple.com/verifyReceipt'], $asked);
        $this->expectException(Misuse::class);
        self::ask($case, static fn (): array => ['id' => 0, 'status' => 200, 'body' => null]);
    }
}
