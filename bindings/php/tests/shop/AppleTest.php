<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** When Apple is asked, and what an answer changes (BCK-39, STO-48, VRR-3). */
final class AppleTest extends ShopTestCase
{
    private const BUY = 'buy.itunes.apple.com /verifyReceipt';
    private const SANDBOX = 'sandbox.itunes.apple.com /verifyReceipt';

    /** @param list<string> $blocks of the played configuration that the shop has keys for */
    private function shopAt(PlayedApple $apple, array $blocks, array $settings = [], array $verifier = []): RunningShop
    {
        $minted = Minted::get()->configuration();
        foreach ($blocks as $block) {
            $verifier[$block] = $block === 'receipts'
                ? ['sharedSecrets' => $apple->configuration['receipts']['sharedSecrets']] + $minted['receipts']
                : $apple->configuration[$block];
        }

        return $this->shop($settings + ['appleHosts' => $apple->hosts], $verifier);
    }

    /** A purchase for the player and for `mint`. */
    private static function period(string $id, string $original, int $begin, int $end): array
    {
        $played = ['product' => self::PREMIUM, 'type' => 'auto-renewable',
            'environment' => 'Production', 'transactionId' => $id,
            'originalTransactionId' => $original, 'purchased' => $begin, 'expires' => $end];
        $minted = self::line($id, $original, '--purchased', (string) $begin, '--expires', (string) $end);

        return [$played, $minted];
    }

    public function testBck39AppleIsAskedOnlyNearTheEndOfASubscription(): void
    {
        $now = self::now();
        $day = 86_400_000;
        [$first, $long] = [self::id(), self::id()];
        [$played, $minted] = self::period($first, $first, $now - 29 * $day, $now + 3_600_000);
        [$other, $running] = self::period($long, $long, $now - 5 * $day, $now + 25 * $day);
        $apple = new PlayedApple($played, $other);
        $shop = $this->shopAt($apple, ['receipts']);
        $shop->send(self::jws(self::coins(self::id())));
        $shop->send(self::receipt(self::coins(self::id())));
        $this->assertSame([200, 'granted'], $shop->send(self::receipt($running))->said(), $shop->log());
        $this->assertSame([], $apple->log());
        $apple->play('renew', ['originalTransactionId' => $first]);
        $receipt = self::receipt($minted);
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
        $this->assertSame([self::BUY], $apple->log());
        // The renewal that only Apple knew of is in force.
        $this->assertGreaterThan($now + 2 * $day, $shop->ledger($now)->read('ann')->until);
        $shop->send($receipt);
        $this->assertSame([self::BUY], $apple->log(), 'once an hour');
    }

    public function testFlw8AndBck43WithoutAnAnswerTheReceiptIsPaidAndComesAgain(): void
    {
        $now = self::now();
        $id = self::id();
        [$played, $minted] = self::period($id, $id, $now - 86_400_000, $now + 3_600_000);
        $apple = new PlayedApple($played);
        $apple->play('script', [['host' => 'buy.itunes.apple.com', 'fault' => ['status' => 503]]]);
        $shop = $this->shopAt($apple, ['receipts']);
        $reply = $shop->send(self::receipt($minted));
        $this->assertSame([202, 'deferred'], $reply->said(), $shop->log());
        $this->assertGreaterThanOrEqual(1, (int) $reply->headers['retry-after']);
        $this->assertSame('premium', $shop->ledger()->read('ann')->plan);
    }

    public function testVrr3ProductionFirstAndOneHopWhereOfflineIsOff(): void
    {
        $id = '2000000' . substr(self::id(), -9);
        $sandbox = ['--type', 'consumable', '--product', self::COINS, '--environment', 'Sandbox',
            '--transaction-id', $id, '--original-transaction-id', $id];
        $apple = new PlayedApple(['product' => self::COINS, 'type' => 'consumable',
            'environment' => 'Sandbox', 'transactionId' => $id, 'originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['receipts'], ['offline' => false, 'testers' => ['app-review']]);
        $receipt = self::receipt($sandbox);
        $this->assertSame([200, 'granted'], $shop->send($receipt, 'app-review')->said(), $shop->log());
        $this->assertSame([self::BUY, self::SANDBOX], $apple->log());
        // What is not ours, or no receipt, is still not asked about.
        $shop->send(base64_encode('com.urus.iap.72519604'));
        $shop->send(self::receipt(self::coins(self::id(), '--bundle-id', 'com.example.other')));
        $this->assertCount(2, $apple->log());
        $apple->play('script', [['fault' => ['status' => 503]]]);
        $reply = $shop->send(self::receipt(self::coins(self::id())));
        $this->assertSame([503, 'deferred'], $reply->said(), $shop->log());
    }

    public function testVrr3AppleThatContradictsItselfIsDeferred(): void
    {
        $apple = new PlayedApple();
        $apple->play('script', [['fault' => ['hop' => 'always']]]);
        $shop = $this->shopAt($apple, ['receipts'], ['offline' => false]);
        $this->assertSame([503, 'deferred'], $shop->send(self::receipt(self::coins(self::id())))->said(), $shop->log());
        $this->assertLessThan(4, count($apple->log()));
    }

    public function testW35RenewalsAreSeenWithoutTheClient(): void
    {
        $now = self::now();
        $id = self::id();
        [$played, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now - 600_000);
        $apple = new PlayedApple($played);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $shop->send(self::jws($minted));
        $this->assertSame('free', $shop->ledger()->read('ann')->plan);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 1 with news', $shop->sweep(), $shop->log());
        $this->assertSame('premium', $shop->ledger()->read('ann')->plan);
        $rows = $shop->ledger()->lookup(account: 'ann')->rows;
        $this->assertSame(['granted', 'granted'], array_column($rows, 'state'));
        $this->assertStringContainsString('0 lines looked at', $shop->sweep());
    }

    public function testW33ARefundIsSeenWithoutANotification(): void
    {
        $now = self::now();
        $id = self::id();
        [$played, $minted] = self::period($id, $id, $now - 86_400_000, $now + 29 * 86_400_000);
        $apple = new PlayedApple($played);
        $goods = ['goods' => [self::COINS => 100, self::PREMIUM => 50]];
        $shop = $this->shopAt($apple, ['appStoreServerApi'], $goods);
        $shop->send(self::jws([...$minted, '--signed', (string) ($now - 60_000)]));
        $this->assertSame(['ann' => 50], $shop->coins());
        $apple->play('refund', ['transactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 with news', $shop->sweep(), $shop->log());
        $this->assertSame([], $shop->coins());
        $this->assertSame('free', $shop->ledger()->read('ann')->plan);
    }

    public function testW35AKeptReceiptIsAskedAboutWhereThereIsNoKey(): void
    {
        $now = self::now();
        $id = self::id();
        [$played, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now + 7_200_000);
        $apple = new PlayedApple($played);
        $shop = $this->shopAt($apple, ['receipts'], verifier: ['stores' => ['keepEvidence' => true]]);
        $apple->play('script', [['nth' => 1, 'fault' => ['status' => 503]], ['nth' => 2, 'fault' => ['status' => 503]]]);
        $shop->send(self::receipt($minted));
        $apple->play('script', []);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 1 with news', $shop->sweep(), $shop->log());
        $this->assertGreaterThan($now + 86_400_000, $shop->ledger()->read('ann')->until);
    }

    public function testFlw8AppleAwayChangesNothing(): void
    {
        $now = self::now();
        $id = self::id();
        [$played, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now + 60_000);
        $apple = new PlayedApple($played);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $shop->send(self::jws($minted));
        $apple->play('script', [['fault' => ['status' => 500]]]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 0 with news', $shop->sweep());
        $this->assertSame('premium', $shop->ledger()->read('ann')->plan);
    }

    public function testLst6AnOrderNumberOfApplesMail(): void
    {
        $id = self::id();
        $apple = new PlayedApple(['product' => self::COINS, 'type' => 'consumable', 'orderId' => 'MABC123456',
            'environment' => 'Production', 'transactionId' => $id, 'originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $page = fn (string $query): string => $shop->page("/support?$query")->body;
        $this->assertStringContainsString('never used', $page('order=MABC123456'), $shop->log());
        $shop->send(self::jws(self::coins($id)));
        $this->assertStringContainsString('It was delivered', $page('order=MABC123456&account=ann'));
        $this->assertStringContainsString('Used by another account', $page('order=MABC123456&account=bob'));
        $this->assertStringContainsString('Apple knows no such order', $page('order=MNONE'), $shop->log());
    }

    /** Time passes: every line's next look has come. */
    private function due(RunningShop $shop): void
    {
        $shop->pdo()->exec('UPDATE assay_line SET next_check_ms = 1');
    }
}
