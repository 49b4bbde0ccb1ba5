<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** Tests of when Apple is asked, and what its response changes (BCK-39, STO-48, VRR-3). */
final class AppleTest extends ShopTestCase
{
    private const BUY = 'buy.itunes.apple.com /verifyReceipt';
    private const SANDBOX = 'sandbox.itunes.apple.com /verifyReceipt';

    /** @param list<string> $blocks blocks of the mock's configuration, with their keys */
    private function shopAt(MockApple $apple, array $blocks, array $settings = [], array $verifier = []): RunningShop
    {
        $minted = Minted::get()->configuration();
        foreach ($blocks as $block) {
            $verifier[$block] = $block === 'receipts'
                ? ['sharedSecrets' => $apple->configuration['receipts']['sharedSecrets']] + $minted['receipts']
                : $apple->configuration[$block];
        }

        return $this->shop($settings + ['appleHosts' => $apple->hosts], $verifier);
    }

    /** Returns a purchase for mock Apple, and the options of the same purchase for `mint`. */
    private static function period(string $id, string $original, int $begin, int $end): array
    {
        $mocked = ['product' => self::PREMIUM, 'type' => 'auto-renewable',
            'environment' => 'Production', 'transactionId' => $id,
            'originalTransactionId' => $original, 'purchased' => $begin, 'expires' => $end];
        $minted = self::line($id, $original, '--purchased', (string) $begin, '--expires', (string) $end);

        return [$mocked, $minted];
    }

    public function testBck39AppleIsAskedOnlyNearTheEndOfASubscription(): void
    {
        $now = self::now();
        $day = 86_400_000;
        [$first, $long] = [self::id(), self::id()];
        [$mocked, $minted] = self::period($first, $first, $now - 29 * $day, $now + 3_600_000);
        [$other, $running] = self::period($long, $long, $now - 5 * $day, $now + 25 * $day);
        $apple = new MockApple($mocked, $other);
        $shop = $this->shopAt($apple, ['receipts']);
        $shop->send(self::jws(self::coins(self::id())));
        $shop->send(self::receipt(self::coins(self::id())));
        $this->assertSame([200, 'granted'], $shop->send(self::receipt($running))->said(), $shop->log());
        $this->assertSame([], $apple->log());
        $apple->play('renew', ['originalTransactionId' => $first]);
        $receipt = self::receipt($minted);
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
        $this->assertSame([self::BUY], $apple->log());
        // The renewal that only Apple knew is in force.
        $this->assertGreaterThan($now + 2 * $day, $shop->ledger($now)->getPlan('ann')->expiresAtMs);
        $shop->send($receipt);
        $this->assertSame([self::BUY], $apple->log(), 'once an hour');
    }

    public function testFlw8AndBck43WithoutAnAnswerTheReceiptIsPaidAndComesAgain(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 86_400_000, $now + 3_600_000);
        $apple = new MockApple($mocked);
        $apple->play('script', [['host' => 'buy.itunes.apple.com', 'fault' => ['status' => 503]]]);
        $shop = $this->shopAt($apple, ['receipts']);
        $reply = $shop->send(self::receipt($minted));
        $this->assertSame([202, 'deferred'], $reply->said(), $shop->log());
        $this->assertGreaterThanOrEqual(1, (int) $reply->headers['retry-after']);
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    /** Asserts that a call without a response releases its unit, and is repeated (BCK-43). */
    public function testBck43AQuestionWithoutAnAnswerIsGivenBack(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 31 * 86_400_000, $now - 3_600_000);
        $apple = new MockApple($mocked);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['receipts']);
        $receipt = self::receipt($minted);
        $faults = [['status' => 503], ['status' => 500], ['status' => 302, 'redirect' => 'http://127.0.0.1:9/'],
            ['status' => 403, 'body' => '<html>'], ['status' => 200, 'body' => '<html>'], ['reset' => true],
            ['appleStatus' => 21005], ['appleStatus' => 21004]];
        foreach ($faults as $fault) {
            $apple->play('script', [['fault' => $fault]]);
            $this->assertSame([202, 'deferred'], $shop->send($receipt)->said(), json_encode($fault) . $shop->log());
            $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
        }
        $apple->play('script', []);
        $asked = count($apple->log());
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $this->assertSame([200, 'already-granted'], $shop->send($receipt)->said());
        $this->assertCount($asked + 1, $apple->log(), 'an answer counts for the hour');
    }

    /** @param \Closure(): mixed $what runs while Apple accepts connections and does not respond */
    private function inSilence(\Closure $what): mixed
    {
        $silent = stream_socket_server('tcp://127.0.0.1:0');
        try {
            return $what('http://' . stream_socket_get_name($silent, false));
        } finally {
            fclose($silent);
        }
    }

    public function testBck43WhileAppleIsSilentNobodyQueuesForIt(): void
    {
        $now = self::now();
        $secrets = (new MockApple())->configuration['receipts']['sharedSecrets'];
        $receipts = Minted::get()->configuration()['receipts'] + ['sharedSecrets' => $secrets];
        $this->inSilence(function (string $url) use ($now, $receipts): void {
            $shop = $this->shop(
                ['appleHosts' => ['buy.itunes.apple.com' => $url]],
                ['receipts' => $receipts],
            );
            for ($customer = 0; $customer < 4; $customer++) {
                [, $minted] = self::period($id = self::id(), $id, $now - 86_400_000, $now + 3_600_000);
                $reply = $shop->send(self::receipt($minted), "customer-$customer");
                $this->assertSame([202, 'deferred'], $reply->said(), $shop->log());
                // What the receipt proves is in force all the same, and the outcome stays open.
                $this->assertSame('premium', $shop->ledger()->getPlan("customer-$customer")->plan);
            }
            $this->assertSame(2, substr_count($shop->log(), 'POST buy.itunes.apple.com/verifyReceipt 0 '), $shop->log());
            $this->assertSame(2, substr_count($shop->log(), 'not asked'), $shop->log());
            $left = $shop->pdo()->query("SELECT SUM(used) FROM assay_quota WHERE scope LIKE '%ASK#%'")->fetchColumn();
            $this->assertSame(0, (int) $left);
            $this->assertSame([200, 'granted'], $shop->send(self::jws(self::coins(self::id())))->said());
        });
    }

    /** Asserts that after one call without a response the next one is made (BCK-43). */
    public function testBck43AfterOneQuestionInSilenceTheNextIsAsked(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 31 * 86_400_000, $now - 3_600_000);
        $apple = new MockApple($mocked);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['receipts']);
        $settings = ['appleHosts' => $apple->hosts, 'verifier' => $shop->configuration()];
        $receipt = self::receipt($minted);
        $this->inSilence(function (string $url) use ($shop, $settings, $receipt): void {
            $shop->configure(['appleHosts' => ['buy.itunes.apple.com' => $url]] + $settings);
            $this->assertSame([202, 'deferred'], $shop->send($receipt)->said(), $shop->log());
        });
        $shop->configure($settings);
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $this->assertSame([], glob("$shop->folder/assay-shop-*/*-silence"), 'an answer ends it');
    }

    /** Asserts that of four workers at most two wait for Apple (BCK-43). */
    public function testBck43OnlyAFewRequestsAreInAQuestionAtOnce(): void
    {
        $this->inSilence(function (string $url): void {
            $shop = $this->shop(['offline' => false, 'appleHosts' => ['buy.itunes.apple.com' => $url]], workers: 4);
            $requests = [];
            for ($number = 0; $number < 8; $number++) {
                $requests[] = ['/v1/receipts', ['evidence' => self::receipt(self::coins(self::id()))],
                    RunningShop::token('ann')];
            }
            foreach ($shop->all($requests) as $reply) {
                $this->assertSame([503, 'deferred'], $reply->said(), $shop->log());
            }
            $asked = substr_count($shop->log(), 'POST buy.itunes.apple.com/verifyReceipt 0 ');
            $this->assertGreaterThanOrEqual(1, $asked);
            $this->assertLessThanOrEqual(3, $asked, $shop->log());
        });
    }

    public function testBck43AnAnswerInApplesPlaceIsNoWordOnTheReceipt(): void
    {
        $id = self::id();
        $apple = new MockApple(['product' => self::COINS, 'type' => 'consumable',
            'environment' => 'Production', 'transactionId' => $id, 'originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['receipts'], ['offline' => false]);
        $receipt = self::receipt(self::coins($id));
        foreach ([302, 307, 400, 401, 403, 404, 407, 413, 451] as $status) {
            $apple->play('script', [['fault' => ['status' => $status, 'body' => 'a proxy']
                + ($status < 400 ? ['redirect' => 'http://127.0.0.1:9/'] : [])]]);
            $this->assertSame([503, 'deferred'], $shop->send($receipt)->said(), "$status {$shop->log()}");
        }
        foreach (
            [['oversize' => 9 << 20], ['bom' => true], ['duplicate' => 'status'], ['appleStatus' => 21004],
            ['appleStatus' => 29999], ['appleStatus' => 21100]] as $fault
        ) {
            $apple->play('script', [['fault' => $fault]]);
            $this->assertSame([503, 'deferred'], $shop->send($receipt)->said(), json_encode($fault) . $shop->log());
        }
        // Status 21002 is no proof of fraud, unless the signature is invalid (VRR-7).
        $apple->play('script', [['fault' => ['appleStatus' => 21002]]]);
        $this->assertSame([503, 'deferred'], $shop->send($receipt)->said(), $shop->log());
        $forged = self::forgedReceipt(self::receipt(self::coins(self::id())));
        $this->assertSame([400, 'refused-final'], $shop->send($forged)->said(), $shop->log());
        $apple->play('script', [['fault' => ['appleStatus' => 21003]]]);
        $this->assertSame([400, 'refused-final'], $shop->send($receipt)->said(), $shop->log());
        $apple->play('script', []);
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
    }

    /** Asserts that the sweep stops asking a silent Apple; subscriptions stay due (BCK-43). */
    public function testBck43TheSweepIsNotHeldUpForEachLine(): void
    {
        $now = self::now();
        $apple = new MockApple();
        $apple->play('script', [['fault' => ['refuse' => true]]]);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        for ($number = 0; $number < 5; $number++) {
            [, $minted] = self::period($id = self::id(), $id, $now - 30 * 86_400_000, $now + 60_000);
            $shop->send(self::jws($minted));
        }
        $this->due($shop);
        $this->assertStringContainsString('3 lines looked at, 0 with news', $shop->sweep(), $shop->log());
    }

    public function testVrr3ProductionFirstAndOneHopWhereOfflineIsOff(): void
    {
        $id = '2000000' . substr(self::id(), -9);
        $sandbox = ['--type', 'consumable', '--product', self::COINS, '--environment', 'Sandbox',
            '--transaction-id', $id, '--original-transaction-id', $id];
        $apple = new MockApple(['product' => self::COINS, 'type' => 'consumable',
            'environment' => 'Sandbox', 'transactionId' => $id, 'originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['receipts'], ['offline' => false, 'testers' => ['app-review']]);
        $receipt = self::receipt($sandbox);
        $this->assertSame([200, 'granted'], $shop->send($receipt, 'app-review')->said(), $shop->log());
        $this->assertSame([self::BUY, self::SANDBOX], $apple->log());
        // Apple is still not asked about what is of another app, or no receipt.
        $shop->send(base64_encode('com.urus.iap.72519604'));
        $shop->send(self::receipt(self::coins(self::id(), '--bundle-id', 'com.example.other')));
        $this->assertCount(2, $apple->log());
        $apple->play('script', [['fault' => ['status' => 503]]]);
        $reply = $shop->send(self::receipt(self::coins(self::id())));
        $this->assertSame([503, 'deferred'], $reply->said(), $shop->log());
    }

    public function testVrr3AppleThatContradictsItselfIsDeferred(): void
    {
        $apple = new MockApple();
        $apple->play('script', [['fault' => ['hop' => 'always']]]);
        $shop = $this->shopAt($apple, ['receipts'], ['offline' => false]);
        $this->assertSame([503, 'deferred'], $shop->send(self::receipt(self::coins(self::id())))->said(), $shop->log());
        $this->assertLessThan(4, count($apple->log()));
    }

    public function testW35RenewalsAreSeenWithoutTheClient(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now - 600_000);
        $apple = new MockApple($mocked);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $shop->send(self::jws($minted));
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 1 with news', $shop->sweep(), $shop->log());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $rows = $shop->ledger()->find(account: 'ann')->rows;
        $this->assertSame(['granted', 'granted'], array_column($rows, 'state'));
        $this->assertStringContainsString('0 lines looked at', $shop->sweep());
    }

    public function testW33ARefundIsSeenWithoutANotification(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 86_400_000, $now + 29 * 86_400_000);
        $apple = new MockApple($mocked);
        $goods = ['goods' => [self::COINS => 100, self::PREMIUM => 50]];
        $shop = $this->shopAt($apple, ['appStoreServerApi'], $goods);
        $shop->send(self::jws([...$minted, '--signed', (string) ($now - 60_000)]));
        $this->assertSame(['ann' => 50], $shop->coins());
        $apple->play('refund', ['transactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 with news', $shop->sweep(), $shop->log());
        $this->assertSame([], $shop->coins());
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW35AKeptReceiptIsAskedAboutWhereThereIsNoKey(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now + 7_200_000);
        $apple = new MockApple($mocked);
        $shop = $this->shopAt($apple, ['receipts'], verifier: ['ledger' => ['keepEvidence' => true]]);
        $apple->play('script', [['nth' => 1, 'fault' => ['status' => 503]], ['nth' => 2, 'fault' => ['status' => 503]]]);
        $shop->send(self::receipt($minted));
        $apple->play('script', []);
        $apple->play('renew', ['originalTransactionId' => $id]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 1 with news', $shop->sweep(), $shop->log());
        $this->assertGreaterThan($now + 86_400_000, $shop->ledger()->getPlan('ann')->expiresAtMs);
    }

    public function testFlw8AppleAwayChangesNothing(): void
    {
        $now = self::now();
        $id = self::id();
        [$mocked, $minted] = self::period($id, $id, $now - 30 * 86_400_000, $now + 60_000);
        $apple = new MockApple($mocked);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $shop->send(self::jws($minted));
        $apple->play('script', [['fault' => ['status' => 500]]]);
        $this->due($shop);
        $this->assertStringContainsString('1 lines looked at, 0 with news', $shop->sweep());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testLst6AnOrderNumberOfApplesMail(): void
    {
        $id = self::id();
        $apple = new MockApple(['product' => self::COINS, 'type' => 'consumable', 'orderId' => 'MABC123456',
            'environment' => 'Production', 'transactionId' => $id, 'originalTransactionId' => $id]);
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $page = fn (string $query): string => $shop->page("/support?$query")->body;
        $this->assertStringContainsString('never used', $page('order=MABC123456'), $shop->log());
        $shop->send(self::jws(self::coins($id)));
        $this->assertStringContainsString('It was delivered', $page('order=MABC123456&account=ann'));
        $this->assertStringContainsString('Used by another account', $page('order=MABC123456&account=bob'));
        $this->assertStringContainsString('Apple knows no such order', $page('order=MNONE'), $shop->log());
    }

    /** Asserts that an order number is enough to find and grant its purchases (LST-6). */
    public function testLst6AnOrderIsGrantedFromApplesOwnTransactions(): void
    {
        [$coins, $line] = [self::id(), self::id()];
        $now = self::now();
        [$period] = self::period($line, $line, $now - 86_400_000, $now + 29 * 86_400_000);
        $apple = new MockApple(
            ['product' => self::COINS, 'type' => 'consumable', 'orderId' => 'MABC777', 'environment' => 'Production',
                'transactionId' => $coins, 'originalTransactionId' => $coins],
            ['orderId' => 'MABC777'] + $period,
        );
        $shop = $this->shopAt($apple, ['appStoreServerApi']);
        $page = $shop->page('/support?order=MABC777&account=ann')->body;
        foreach ([self::COINS, self::PREMIUM, $coins, $line, 'never used', 'Grant this order'] as $text) {
            $this->assertStringContainsString($text, $page, $shop->log());
        }
        preg_match('/name="seal" value="([0-9a-f]+)"/', $page, $seal);
        $form = ['do' => 'order', 'order' => 'MABC777', 'account' => 'ann', 'reason' => 'lost phone', 'seal' => $seal[1]];
        $this->assertStringContainsString('reason are needed', $shop->page('/support', ['reason' => ''] + $form)->body);
        $this->assertStringContainsString('The answer is: granted', $shop->page('/support', $form)->body, $shop->log());
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $this->assertStringContainsString('already-granted', $shop->page('/support', $form)->body);
        $this->assertStringContainsString('refused-final', $shop->page('/support', ['account' => 'bob'] + $form)->body);
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertSame([200, 'already-granted'], $shop->send(self::jws(self::coins($coins)))->said());
        $this->assertStringContainsString('</span>kim: lost phone</td>', $shop->page('/support?account=ann')->body);
        foreach ([['status' => 503], ['status' => 401], ['status' => 403], ['status' => 302, 'redirect' => 'http://127.0.0.1:9/'], ['reset' => true]] as $fault) {
            $apple->play('script', [['fault' => $fault]]);
            $page = $shop->page('/support?order=MABC777')->body;
            $this->assertStringContainsString('Apple gave no usable answer', $page, json_encode($fault) . $shop->log());
            $this->assertStringContainsString('The answer is: deferred', $shop->page('/support', $form)->body);
        }
    }

    /** Makes the next check of every subscription due. */
    private function due(RunningShop $shop): void
    {
        $shop->pdo()->exec('UPDATE assay_subscription SET next_check_at_ms = 1');
    }
}
