<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;
use GuzzleHttp\Client;
use GuzzleHttp\Exception\ConnectException;
use GuzzleHttp\Handler\MockHandler;
use GuzzleHttp\HandlerStack;
use GuzzleHttp\Middleware;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Request;
use GuzzleHttp\Psr7\Response;
use GuzzleHttp\Psr7\Uri;
use Psr\Http\Message\RequestInterface;
use Psr\Log\Test\TestLogger;
use Shop\Log;
use Shop\PsrSender;
use Shop\Settings;
use Shop\Shop;

/** Tests of the shop with the host's own HTTP client (PSR-18) and logger (PSR-3). */
final class PsrTest extends ShopTestCase
{
    public static function setUpBeforeClass(): void
    {
        foreach (['GuzzleHttp', 'Psr/Log'] as $folder) {
            $file = "/usr/share/php/$folder/autoload.php";
            is_file($file) ? require_once $file
                : self::markTestSkipped("$file: php-guzzlehttp-guzzle and php-psr-log are not installed");
        }
    }

    protected function tearDown(): void
    {
        Log::to(null);
        parent::tearDown();
    }

    private static function sender(callable $handler): PsrSender
    {
        $factory = new HttpFactory();

        return new PsrSender(new Client(['handler' => $handler]), $factory, $factory);
    }

    public function testAppleIsAskedByTheClientOfTheHost(): void
    {
        $id = self::id();
        $apple = new MockApple(['product' => self::COINS, 'type' => 'consumable', 'environment' => 'Production',
            'transactionId' => $id, 'originalTransactionId' => $id]);
        $stack = HandlerStack::create();
        $here = new Uri($apple->url);
        $stack->push(Middleware::mapRequest(static fn (RequestInterface $request): RequestInterface => $request
            ->withUri($request->getUri()->withScheme('http')->withHost($here->getHost())->withPort($here->getPort()))
            ->withHeader('Host', $request->getUri()->getHost())));
        $minted = Minted::get()->configuration();
        $settings = new Settings((string) json_encode([
            'verifier' => ['receipts' => ['sharedSecrets' => $apple->configuration['receipts']['sharedSecrets']]
                + $minted['receipts']] + $minted,
            'database' => ['dsn' => 'sqlite::memory:'], 'bearer' => ['keys' => __FILE__], 'goods' => [self::COINS => 100],
        ]));
        $shop = new Shop($settings, self::sender($stack));
        $proof = $shop->apple(10_000)->judged(self::receipt(self::coins($id)));
        $this->assertSame($id, $proof->evidence[0]->facts()->transactions[0]->transactionId);
        $this->assertSame(['buy.itunes.apple.com /verifyReceipt'], $apple->log());
    }

    public function testABodyIsReadUpToItsLimitAndAFailureIsNoResponse(): void
    {
        $sent = [];
        $history = Middleware::history($sent);
        $mock = new MockHandler([
            new Response(200, ['Retry-After' => '7', 'X-Other' => 'y'], '{"a":1}'),
            new Response(200, [], str_repeat('x', 101)),
            new Response(200, [], "a\0b"),
            new Response(302, ['Location' => 'https://elsewhere.example/'], ''),
            new ConnectException('refused', new Request('POST', 'https://x.example')),
        ]);
        $stack = new HandlerStack($mock);
        $stack->push($history);
        $sender = self::sender($stack);
        $request = ['id' => 'r1', 'method' => 'POST', 'url' => 'https://buy.itunes.apple.com/verifyReceipt',
            'headers' => [['Content-Type', 'application/json']], 'body' => ['base64' => base64_encode('{"r":1}')],
            'timeoutMs' => 1000, 'maxResponseBytes' => 100, 'responseHeaders' => ['retry-after']];
        $this->assertSame(['id' => 'r1', 'status' => 200, 'headers' => [['retry-after', '7']],
            'body' => ['text' => '{"a":1}'], 'truncated' => false], $sender($request));
        $this->assertSame(['{"r":1}', 'application/json', 'POST'], [(string) $sent[0]['request']->getBody(),
            $sent[0]['request']->getHeaderLine('Content-Type'), $sent[0]['request']->getMethod()]);
        $this->assertSame([null, true], array_values(array_intersect_key($sender($request), ['body' => 0, 'truncated' => 0])));
        $this->assertSame(['base64' => base64_encode("a\0b")], $sender($request)['body']);
        $this->assertSame(302, $sender($request)['status']);
        $this->assertSame(['id' => 'r1', 'status' => 0, 'body' => null], $sender($request));
        $this->assertCount(5, $sent, 'no redirect is followed');
    }

    public function testLinesGoToTheLoggerOfTheHost(): void
    {
        $logger = new TestLogger();
        Log::to($logger);
        Log::line('WARN', "a\nb {account} \"q\"");
        Log::line('INFO', 'REFUND');
        Log::fault(new \DomainException('shop: grants is not …'));
        $this->assertSame(
            [['warning', 'a\nb (account) \"q\"'], ['info', 'REFUND'], ['error', 'shop: grants is not \u2026']],
            array_map(static fn (array $one): array => [$one['level'], $one['message']], $logger->records),
        );
    }
}
