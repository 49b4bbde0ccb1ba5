<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Engines\EngineLedgerTest;
use PDO;

/** Tests of the same shop with nginx, php-fpm and a shared engine. */
final class EnginesTest extends ShopTestCase
{
    private const DRIVERS = ['postgres' => 'pgsql', 'mariadb' => 'mysql'];

    private ?FpmShop $shop = null;

    protected function tearDown(): void
    {
        $this->shop?->stop();
        parent::tearDown();
    }

    /** @return iterable<string, array{string}> */
    public function engines(): iterable
    {
        yield 'PostgreSQL' => ['postgres'];
        yield 'MariaDB' => ['mariadb'];
    }

    /** @dataProvider engines */
    public function testBck40TheSameShopOverASharedEngine(string $engine): void
    {
        $shop = $this->behind($engine);
        $jws = self::jws(self::coins($id = self::id()));
        $this->assertSame([200, 'granted'], $shop->send($jws)->said(), $shop->log());
        $this->assertSame([200, 'already-granted'], $shop->send($jws)->said());
        $this->assertSame([409, 'refused-final'], $shop->send($jws, 'Ann')->said(), 'case tells accounts apart');
        $this->assertSame([400, 'refused-final'], $shop->send(self::forged($jws))->said());
        $receipt = self::receipt(self::coins(self::id()));
        $this->assertSame([200, 'granted'], $shop->send($receipt, 'Ann')->said());
        $this->assertSame([200, 'already-granted'], $shop->send($receipt, 'Ann')->said());
        $coins = $shop->coins();
        ksort($coins);
        $this->assertSame(['Ann' => 100, 'ann' => 100], $coins);
        $refund = self::notification('REFUND', self::coins($id, '--refunded'));
        $this->assertSame([200, 200], [$shop->notify($refund)->status, $shop->notify($refund)->status], $shop->log());
        $this->assertSame(['Ann' => 100], $shop->coins());
        $line = self::id();
        $shop->send(self::jws(self::line($line, $line)));
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $this->assertSame([409, 'refused-final'], $shop->send(self::jws(self::line(self::id(), $line)), 'bob')->said());
        $this->assertStringStartsWith('0 claims resumed', $shop->sweep());
        $page = $shop->page("/support?transaction=$id")->body;
        $this->assertStringContainsString('Apple paid it back', $page);
        $this->assertStringContainsString('8 requests.', $this->dashboard($shop));
        $this->readsOf($shop, $id);
    }

    /** Asserts that the reads are the same on each engine: an account's own, books, events, exports. */
    private function readsOf(FpmShop $shop, string $refunded): void
    {
        $this->assertSame([0, 'premium'], array_slice(array_values($shop->read('/v1/account')->members()), 0, 2), $shop->log());
        $this->assertSame([100, 'free'], array_slice(array_values($shop->read('/v1/account', 'Ann')->members()), 0, 2));
        $states = static fn (Reply $reply): array => array_column($reply->members()['orders'] ?? [], 'state');
        $found = $states($shop->read('/v1/orders'));
        sort($found);
        $this->assertSame(['granted', 'revoked'], $found);
        $this->assertSame([], $states($shop->read('/v1/orders', 'ANN')), 'case tells accounts apart');
        $last = $shop->read('/v1/orders')->members()['orders'][1];
        $place = rawurlencode("$last[purchasedAtMs].Production/$last[transactionId]");
        $this->assertSame([], $states($shop->read("/v1/orders?after=$place")));
        $this->assertSame(414, $shop->read('/v1/orders?after=' . str_repeat('1', 1 << 16))->status);
        $prices = [self::COINS => ['currency' => 'EUR', 'minor' => 99]];
        $shop->configure(['prices' => $prices]);
        $month = self::dated($shop);
        $page = $shop->page("/dashboard?$month")->body;
        $this->assertStringContainsString('<th scope="row">EUR</th><td class="n">1.98</td><td class="n">0.99</td><td class="n">0.99</td>', $page);
        $this->assertStringContainsString('1 started, 0 renewed or came back, 0 ended', $page);
        $this->assertStringContainsString("Production/$refunded", $shop->page("/events?$month")->body);
        foreach (['requests' => 1, 'money' => 3, 'subscriptions' => 29, 'orders' => 4, 'events' => 5] as $table => $least) {
            $reply = $shop->page("/export?table=$table&$month");
            $this->assertSame([200, 'text/csv; charset=utf-8'], [$reply->status, $reply->headers['content-type']], $shop->log());
            $this->assertGreaterThanOrEqual($least, substr_count($reply->body, "\r\n"), $table . $reply->body);
        }
        // A grant by hand, twice at once: one payment, one row of who did it.
        preg_match('/name="seal" value="([0-9a-f]{64})"/', $shop->page('/support')->body, $seal);
        $form = http_build_query(['do' => 'grant', 'account' => 'Zoë', 'reason' => 'ticket', 'seal' => $seal[1],
            'evidence' => self::jws(self::coins(self::id()))]);
        $replies = $shop->asOperator(array_fill(0, 3, ['/support', $form, null]));
        $this->assertSame(1, array_sum(array_map(
            static fn (Reply $reply): int => substr_count($reply->body, 'The answer is: granted'),
            $replies,
        )), $shop->log());
        $this->assertSame(100, $shop->coins()['Zoë']);
        $this->assertSame(1, (int) $shop->pdo()->query("SELECT COUNT(*) FROM shop_journal WHERE action = 'paid'")->fetchColumn());
        $this->assertSame(0, $shop->command('setup')->code);
    }

    /** @dataProvider engines */
    public function testSto35TakeBacksUnderALeaseAndAnOlderWallet(string $engine): void
    {
        $shop = $this->shop(['grants' => 'lease'], dsn: $this->database($engine));
        $pdo = $shop->pdo();
        [$first, $second] = [self::id(), self::id()];
        $signed = static fn (string $id, int $minutes, string ...$more): array
            => self::coins($id, '--signed', (string) (self::now() - 60_000 * $minutes), ...$more);
        foreach ([$first, $second] as $id) {
            $this->assertSame([200, 'granted'], $shop->send(self::jws($signed($id, 30)))->said(), $shop->log());
        }
        // The wallet of an older shop had neither column, and shorter ids.
        $pdo->exec('DROP INDEX shop_wallet_purchase' . ($engine === 'mariadb' ? ' ON shop_wallet' : ''));
        foreach (['purchase_key', 'units'] as $column) {
            $pdo->exec("ALTER TABLE shop_wallet DROP COLUMN $column");
        }
        $pdo->exec($engine === 'mariadb' ? 'ALTER TABLE shop_wallet MODIFY grant_id VARCHAR(64) NOT NULL'
            : 'ALTER TABLE shop_wallet ALTER COLUMN grant_id TYPE VARCHAR(64)');
        $this->assertSame([0, 0], [$shop->command('setup')->code, $shop->command('setup')->code]);
        $refund = self::notification('REFUND', $signed($first, 20, '--refunded'));
        $reversed = self::notification('REFUND_REVERSED', $signed($first, 10));
        foreach ([[$refund, 100], [$refund, 100], [$reversed, 200], [$refund, 200], [$reversed, 200]] as [$note, $coins]) {
            $this->assertSame(200, $shop->notify($note)->status, $shop->log());
            $this->assertSame(['ann' => $coins], $shop->coins());
        }
        // A process stored the refund of the other purchase, and crashed.
        $ledger = $shop->ledger(self::now() - 120_000);
        $refund = $ledger->verifier->verifyTransaction(self::jws($signed($second, 20, '--refunded')));
        $ledger->revoke($refund, grantMode: 'lease');
        $this->assertStringEndsWith('; 1 take-backs carried out', $shop->sweep());
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertStringEndsWith('0 with news', $shop->sweep());
    }

    /** @dataProvider engines */
    public function testW27SubmissionsAtOnce(string $engine): void
    {
        $shop = $this->behind($engine);
        $jws = self::jws(self::coins(self::id()));
        $requests = [];
        for ($number = 0; $number < 32; $number++) {
            $requests[] = ['/v1/receipts', ['evidence' => $jws], RunningShop::token($number % 2 ? 'ann' : 'bob')];
        }
        $said = array_map(static fn (Reply $reply): string => (string) $reply->said()[1], $shop->all($requests));
        $this->assertCount(1, array_keys($said, 'granted', true), implode(' ', $said));
        $this->assertSame([100], array_values($shop->coins()));
    }

    /** @dataProvider engines */
    public function testW37AStandbyIsRefused(string $engine): void
    {
        $shop = $this->behind($engine);
        $readOnly = fn (bool $is): mixed => $shop->pdo()->exec($engine === 'mariadb'
            ? 'SET GLOBAL read_only = ' . ($is ? 'ON' : 'OFF')
            : 'BEGIN READ WRITE; ALTER ROLE CURRENT_USER SET default_transaction_read_only = '
                . ($is ? 'on' : 'off') . '; COMMIT');
        $jws = self::jws(self::coins(self::id()));
        $readOnly(true);
        try {
            $this->assertSame([503, 'deferred'], $shop->send($jws)->said(), $shop->log());
            $this->assertStringContainsString('unavailable.database.standby', $shop->log());
        } finally {
            $readOnly(false);
        }
        $this->assertSame([200, 'granted'], $shop->send($jws)->said());
    }

    /** @dataProvider engines */
    public function testBck20WithoutPhpTheClientComesAgain(string $engine): void
    {
        $shop = $this->behind($engine);
        $long = json_encode(['evidence' => str_repeat('A', 6 << 20)]);
        $reply = $shop->post('/v1/receipts', $long, RunningShop::token('ann'));
        $this->assertSame([413, 'Request too large'], $reply->said());
        $shop->stopFpm();
        $reply = $shop->send('x');
        $this->assertSame([503, 'Try again later'], $reply->said());
        $this->assertSame(['5', 'application/json'], [$reply->headers['retry-after'], $reply->headers['content-type']]);
        $shop->startFpm();
        $this->assertSame([400, 'resend'], $shop->send('x')->said(), $shop->log());
    }

    /** Asserts that under overload each request is answered, or asked to retry (BCK-20). */
    public function testBck20UnderLoadEachRequestIsAnsweredOrComesAgain(): void
    {
        $shop = $this->behind('postgres');
        $jws = self::jws(self::coins(self::id()));
        $requests = array_fill(0, 400, ['/v1/receipts', ['evidence' => $jws], RunningShop::token('ann')]);
        $later = 0;
        foreach ($shop->all($requests) as $reply) {
            if ($reply->status === 503 || $reply->status === 202) {
                $this->assertGreaterThanOrEqual(1, (int) $reply->headers['retry-after']);
                $later++;
            } else {
                $this->assertSame(200, $reply->status, $reply->body);
            }
        }
        $this->assertGreaterThan(0, $later, 'the limits are never reached');
        $this->assertSame(['ann' => 100], $shop->coins());
    }

    /** Returns the dashboard; the last count may be written after the response. */
    private function dashboard(FpmShop $shop): string
    {
        for ($tried = 0; $tried < 50; $tried++) {
            $page = $shop->page('/dashboard')->body;
            if (str_contains($page, '8 requests.')) {
                break;
            }
            usleep(100_000);
        }

        return $page;
    }

    private function behind(string $engine): FpmShop
    {
        $fpm = 'php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        foreach (['nginx', $fpm] as $program) {
            if (shell_exec('PATH=$PATH:/usr/sbin command -v ' . $program) === null) {
                $this->markTestSkipped("$program is not installed");
            }
        }
        if (!getenv('ASSAY_EXTENSION_BUILT')) {
            $this->markTestSkipped('ASSAY_EXTENSION_BUILT is not set: `make check-shop`');
        }

        return $this->shop = new FpmShop(dsn: $this->database($engine));
    }

    /** Creates a new database and returns its DSN. */
    private function database(string $engine): string
    {
        $address = EngineLedgerTest::address($engine);
        $driver = self::DRIVERS[$engine];
        if (!in_array($driver, PDO::getAvailableDrivers(), true)) {
            $this->markTestSkipped("$engine: PHP has no PDO driver $driver");
        }
        $base = "$driver:host=$address[host];port=$address[port];user=$address[user]";
        $end = $driver === 'mysql' ? ';charset=utf8mb4' : '';
        $name = 'shop' . bin2hex(random_bytes(6));
        (new PDO("$base;dbname=" . ltrim($address['path'], '/') . $end))->exec("CREATE DATABASE $name");

        return "$base;dbname=$name$end";
    }
}
