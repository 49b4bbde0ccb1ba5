<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** Tests of what an account reads of itself (BCK-39): coins, plan, orders. */
final class ReadsTest extends ShopTestCase
{
    public function testBck39AnAccountReadsItsCoinsPlanAndOrders(): void
    {
        $shop = $this->shop(verifier: ['ledger' => ['forgetKey' => base64_encode(random_bytes(32))]]);
        $now = self::now();
        [$kept, $back, $line] = [self::id(), self::id(), self::id()];
        $shop->send(self::jws(self::coins($kept, '--quantity', '2', '--purchased', (string) ($now - 3000))));
        $shop->send(self::jws(self::coins($back, '--purchased', (string) ($now - 2000))));
        $shop->send(self::jws(self::line(
            $line,
            $line,
            '--purchased',
            (string) ($now - 1000),
            '--expires',
            (string) ($now + 86_400_000),
        )));
        $shop->notify(self::notification('REFUND', self::coins($back, '--refunded', '--purchased', (string) ($now - 2000))));
        $reply = $shop->read('/v1/account');
        $this->assertSame(200, $reply->status, $shop->log());
        $this->assertSame(['application/json', 'no-store'], [$reply->headers['content-type'], $reply->headers['cache-control']]);
        $this->assertSame(['coins' => 200, 'plan' => 'premium', 'planExpiresAtMs' => $now + 86_400_000], $reply->members());
        $found = $shop->read('/v1/orders')->members();
        $this->assertNull($found['next']);
        $this->assertSame([[$line, 'granted', 1], [$back, 'revoked', 1], [$kept, 'granted', 2]], array_map(
            static fn (array $one): array => [$one['transactionId'], $one['state'], $one['quantity']],
            $found['orders'],
        ));
        $this->assertSame(['environment', 'transactionId', 'product', 'quantity', 'state', 'purchasedAtMs',
            'grantedAtMs', 'refundedAtMs'], array_keys($found['orders'][0]));
        $this->assertIsInt($found['orders'][1]['refundedAtMs']);
        // Nobody else sees any of it, whatever the query says.
        foreach (['/v1/account?account=ann', '/v1/orders?account=ann&owner=ann', '/v1/orders'] as $path) {
            $mine = $shop->read($path, 'bob')->members();
            $this->assertSame([0, []], [$mine['coins'] ?? 0, $mine['orders'] ?? []], $path);
        }
        $this->assertSame('free', $shop->read('/v1/account', 'bob')->members()['plan']);
        $this->assertSame(0, $shop->command('forget', 'ann')->code);
        $this->assertSame(['coins' => 0, 'plan' => 'free', 'planExpiresAtMs' => null], $shop->read('/v1/account')->members());
        $this->assertSame(['orders' => [], 'next' => null], $shop->read('/v1/orders')->members());
    }

    public function testBck39WhoMayNotRead(): void
    {
        $shop = $this->shop();
        foreach (['/v1/account', '/v1/orders'] as $path) {
            $this->assertSame([401, 'Unauthorized'], $shop->read($path, null)->said());
            $this->assertSame(401, $shop->page($path)->status, 'an operator\'s login');
            $this->assertSame([405, 'GET'], [$shop->post($path, '{}', RunningShop::token('ann'))->status,
                $shop->post($path, '{}', RunningShop::token('ann'))->headers['allow']]);
            $expired = RunningShop::token('ann', '--life', '1', '--now', '2020-01-01');
            $handle = curl_init($shop->url($path));
            curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => ["Authorization: Bearer $expired"]]);
            curl_exec($handle);
            $this->assertSame(401, curl_getinfo($handle, CURLINFO_RESPONSE_CODE));
        }
        $places = ['0', '-1', '2', 'x', '1.', '.Production/1', '1.Production', '1.Production/1 ', '1.Production/1%0A', '99999999999999999.Production/1',
            "1.Production/1' OR '1'='1", '1.x/' . str_repeat('1', 128), '%00', '%FF', '1%27%20OR%201=1--'];
        foreach ($places as $place) {
            $path = '/v1/orders?after=' . strtr($place, [' ' => '%20', "'" => '%27']);
            $this->assertSame([400, 'No such page'], $shop->read($path)->said(), $place);
        }
        $this->assertSame(200, $shop->read('/v1/orders?after[]=1')->status, 'no text is no place');
        // A query of 10 MB ends that request alone.
        $this->assertStringNotContainsString('"orders"', $shop->raw('/v1/orders?after=' . str_repeat('1', 10 << 20)));
        $this->assertSame(200, $shop->read('/v1/orders')->status);
    }

    public function testBck39PagesLoseAndRepeatNoOrder(): void
    {
        $shop = $this->shop();
        $shop->send(Minted::get()->mint('app-receipt', '--purchases', '60', ...self::line($id = self::id(), $id)), 'many');
        $shop->send(self::jws(self::coins(self::id())), 'else');
        $ids = [];
        $place = '';
        do {
            $page = $shop->read('/v1/orders' . ($place === '' ? '' : '?after=' . rawurlencode($place)), 'many')->members();
            $this->assertLessThanOrEqual(50, count($page['orders']));
            array_push($ids, ...array_column($page['orders'], 'transactionId'));
            // What is bought in between moves nothing.
            $place === '' && $shop->send(self::jws(self::coins(self::id())), 'many');
            $place = (string) $page['next'];
        } while ($place !== '');
        $this->assertCount(60, $ids);
        $this->assertCount(60, array_unique($ids));
        // A place among another account's orders leads to one's own orders alone.
        $other = $shop->read('/v1/orders', 'else')->members()['orders'][0];
        $place = rawurlencode("$other[purchasedAtMs].Production/$other[transactionId]");
        $mine = $shop->read("/v1/orders?after=$place", 'many')->members()['orders'];
        $this->assertNotSame([], $mine);
        $this->assertSame([], array_diff(array_column($mine, 'transactionId'), $ids));
        // Orders of one millisecond are told apart by their keys.
        $shop->pdo()->exec("UPDATE assay_purchase SET purchased_at_ms = 5 WHERE owner = 'many'");
        $first = $shop->read('/v1/orders', 'many')->members();
        $second = $shop->read('/v1/orders?after=' . rawurlencode($first['next']), 'many')->members();
        $both = [...$first['orders'], ...$second['orders']];
        $this->assertCount(61, array_unique(array_column($both, 'transactionId')));
        $this->assertNull($second['next']);
        $shop->pdo()->exec('UPDATE assay_purchase SET purchased_at_ms = claimed_at_ms - CAST(transaction_id AS INTEGER) % 1000');
        $dates = array_column($shop->read('/v1/orders', 'many')->members()['orders'], 'purchasedAtMs');
        $sorted = $dates;
        rsort($sorted);
        $this->assertSame($sorted, $dates);
    }

    /** Asserts that a subscriber is not told "free" because the database is away (BCK-20). */
    public function testBck20WithoutTheDatabaseNothingIsSaid(): void
    {
        $shop = $this->shop();
        $shop->send(self::jws(self::line($id = self::id(), $id)));
        $shop->loseDatabase();
        foreach (['/v1/account', '/v1/orders'] as $path) {
            $reply = $shop->read($path);
            $this->assertSame([503, 'Try again later'], $reply->said(), $shop->log());
            $this->assertSame('5', $reply->headers['retry-after']);
            $this->assertSame(401, $shop->read($path, null)->status);
        }
        $shop->findDatabase();
        $this->assertSame('premium', $shop->read('/v1/account')->members()['plan']);
    }

    public function testAClaimThatIsNotPaidYetIsShownAsOne(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000))),
            'ann',
        );
        $this->assertSame(0, $shop->read('/v1/account')->members()['coins']);
        $order = $shop->read('/v1/orders')->members()['orders'][0];
        $this->assertSame(['claimed', null], [$order['state'], $order['grantedAtMs']]);
        $shop->sweep();
        $this->assertSame(100, $shop->read('/v1/account')->members()['coins']);
        $this->assertSame('granted', $shop->read('/v1/orders')->members()['orders'][0]['state']);
    }
}
