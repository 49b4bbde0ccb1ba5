<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Misuse;
use Assay\Facts\VerifyReceiptAnswer;
use Assay\Sender;
use PHPUnit\Framework\TestCase;

/** Conversations over the network, against a scripted server on loopback. */
final class SenderTest extends TestCase
{
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

    /** @param list<array{int, array<string, string>, string, 3?: int}> $script */
    private function says(array $script, ?bool $curl = null): Sender
    {
        array_map(unlink(...), (array) glob("$this->folder/*"));
        $encoded = array_map(
            static fn (array $line): array =>
                [$line[0], (object) $line[1], base64_encode($line[2])] + $line,
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

    /** What Apple says in a transcript. @return list<string> */
    private static function bodies(array $case): array
    {
        $answers = array_map(
            static fn (array $step): array => json_decode(CaseTable::given($step, 'answer'), true),
            $case['steps'],
        );

        return array_column(array_column($answers, 'body'), 'text');
    }

    private static function ask(array $case, ?callable $send, float $patience = 30.0): Document
    {
        return CaseTable::get()->verifier($case['verifier'])
            ->exchange(CaseTable::given($case, 'request'))->run($send, $patience);
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
        $this->assertInstanceOf(VerifyReceiptAnswer::class, $document->facts());
        // A finished conversation is evidence.
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

    public function testRedirectsAreNotFollowed(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $document = self::ask($case, $this->says([[302, ['Location' => '/elsewhere'], '']]));
        $this->assertSame('rejected.verify-receipt.http', $document->status());
        $this->assertCount(1, $this->seen());
        $this->assertNull($document->facts());
    }

    /** @return array<string, mixed> */
    private static function request(int $most = 10, int $timeoutMs = 5000): array
    {
        return [
            'id' => 7, 'method' => 'POST', 'url' => 'https://buy.itunes.apple.com/verifyReceipt',
            'headers' => [['Content-Type', 'text/plain']], 'body' => ['base64' => 'AP8='],
            'timeoutMs' => $timeoutMs, 'maxResponseBytes' => $most, 'wantHeaders' => ['etag'],
        ];
    }

    public function testAnswers(): void
    {
        $long = '[' . str_repeat(' ', 1 << 20) . ']';
        $send = $this->says([
            [200, ['ETag' => 'x'], '0123456789'], [200, [], '01234567890'], [204, [], ''],
            [200, [], "\xff"], [200, [], "a\0"], [200, [], $long], [200, ['Content-Length' => '900'], 'half'],
            [200, [], 'late', 1000],
        ]);
        $common = ['id' => 7, 'status' => 200, 'headers' => []];
        $this->assertSame(
            ['headers' => [['etag', 'x']]] + $common
                + ['body' => ['text' => '0123456789'], 'cut' => false],
            self::ordered($send(self::request()), ['headers', 'id', 'status', 'body', 'cut']),
        );
        $this->assertSame(base64_encode("\x00\xff"), $this->seen()[0]['body']);
        $this->assertSame($common + ['body' => null, 'cut' => true], $send(self::request()));
        $this->assertSame(204, $send(self::request())['status']);
        $this->assertSame(['base64' => '/w=='], $send(self::request())['body']);
        $this->assertSame(['base64' => 'YQA='], $send(self::request())['body']);
        $this->assertSame(
            ['base64' => base64_encode($long)],
            $send(self::request(8 << 20))['body'],
        );
        $none = ['id' => 7, 'status' => 0, 'body' => null];
        $this->assertSame($none, $send(self::request(1000)));
        $this->assertSame($none, $send(self::request(1000, 200)));
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
        $send = $this->says([[200, [], ''], [200, [], '']], $curl);
        $own = ['url' => 'https://buy.itunes.apple.com/own/v1?sort=a%20b&c',
            'headers' => [['X-Own', '1']]];
        $send($own + ['body' => ['text' => '{"a":1}']] + self::request());
        $send($own + ['method' => 'GET', 'body' => null] + self::request());
        foreach ($this->seen() as $at => $seen) {
            $this->assertSame(
                [['POST', 'GET'][$at], '1', self::HOSTS[0], '/own/v1?sort=a%20b&c',
                    base64_encode(['{"a":1}', ''][$at])],
                [$seen['method'], $seen['own'], $seen['host'], $seen['path'], $seen['body']],
            );
        }
        $this->assertCount(2, $this->seen());
    }

    private static function ordered(array $found, array $names): array
    {
        return array_merge(array_flip($names), $found);
    }

    public function testNoAnswer(): void
    {
        $gone = new Sender(array_fill_keys(self::HOSTS, 'http://127.0.0.1:1'));
        $this->assertSame(0, $gone(self::request())['status']);
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
            try {
                new Sender(['example.com' => $url]);
                $this->fail("$url is taken");
            } catch (\ValueError $error) {
                $this->assertStringContainsString('this machine', $error->getMessage());
            }
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

    public function testNoSecretIsPrinted(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $exchange = CaseTable::get()->verifier($case['verifier'])
            ->exchange(CaseTable::given($case, 'request'));
        $request = json_decode(CaseTable::given($case, 'request'), true);
        $this->assertStringContainsString($request['receipt'], $exchange->document()->text());
        $printed = print_r($exchange->document(), true);
        $this->assertStringContainsString('buy.itunes.apple.com', $printed);
        $this->assertStringNotContainsString($request['receipt'], $printed);
        $this->assertStringNotContainsString($request['receipt'], print_r($exchange, true));
    }

    public function testNoConversationPrintsASecret(): void
    {
        $tokens = 0;
        foreach (CaseTable::get()->cases as $case) {
            if ($case['call'] !== 'conversation') {
                continue;
            }
            try {
                $exchange = CaseTable::get()->verifier($case['verifier'])
                    ->exchange(CaseTable::given($case, 'request'), now: $case['now']);
            } catch (AssayException) {
                continue;
            }
            $request = json_decode(CaseTable::given($case, 'request'), true);
            $printed = print_r($exchange, true) . print_r($exchange->document(), true);
            $tokens += (int) str_contains($exchange->document()->text(), 'Bearer ');
            foreach (
                ['Bearer ', 'client_secret', '-----BEGIN', $request['deviceToken'] ?? '',
                    $request['receipt'] ?? ''] as $secret
            ) {
                if (!is_string($secret) || $secret === '' || $exchange->isDone()) {
                    continue;
                }
                $this->assertStringNotContainsString($secret, $printed, $case['name']);
            }
        }
        $this->assertGreaterThan(0, $tokens);
    }
}
