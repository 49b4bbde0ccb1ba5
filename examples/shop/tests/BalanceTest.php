<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

/** Tests of the page Balance, and of the commands beside it (RCN-20, RCN-40, RCN-60). */
final class BalanceTest extends ShopTestCase
{
    private const NOWHERE = 'http://127.0.0.1:1/';
    private const PACE = ['get-notification-history' => 1000, 'get-all-subscription-statuses' => 1000];

    /** Returns a purchase of coins for mock Apple, an hour ago. */
    private static function paid(string $id): array
    {
        return ['product' => self::COINS, 'type' => 'consumable', 'environment' => 'Production',
            'transactionId' => $id, 'purchased' => self::now() - 3_600_000];
    }

    private function shopAt(MockApple $apple, array $settings = []): RunningShop
    {
        return $this->shop($settings + ['appleHosts' => $apple->hosts], [
            'appStoreServerApi' => $apple->configuration['appStoreServerApi'],
            'ledger' => ['rateLimits' => self::PACE]]);
    }

    private static function lose(MockApple $apple, string $type, string $id): void
    {
        $apple->play('notify', ['url' => self::NOWHERE, 'type' => $type, 'transactionId' => $id]);
    }

    private function reconcile(RunningShop $shop): string
    {
        $done = $shop->command('reconcile', 'Production');
        $this->assertSame(0, $done->code, $done->out . $done->error);

        return $done->out;
    }

    private static function lineOf(string $page): string
    {
        preg_match('/name="id" value="([0-9a-f]{64})"/', $page, $found);

        return $found[1] ?? '';
    }

    public function testWhoPaidAndReceivedNothingIsALineUntilAPersonClosesIt(): void
    {
        $hash = password_hash(RunningShop::PASSWORD, PASSWORD_BCRYPT, ['cost' => 4]);
        $apple = new MockApple(self::paid($id = self::id()));
        $shop = $this->shopAt($apple, ['operators' => [
            'kim' => ['hash' => $hash, 'role' => 'support'], 'lee' => ['hash' => $hash, 'role' => 'reader']]]);
        $this->assertStringContainsString('<h2>Not known</h2>', $shop->page('/balance')->body);
        self::lose($apple, 'ONE_TIME_CHARGE', $id);
        $this->assertStringContainsString('found 1 paid-not-granted', $this->reconcile($shop));
        $page = $shop->page('/balance')->body;
        foreach (['<h2>1 differences</h2>', 'Paid, and received nothing', "Production $id", '9.99 USD'] as $part) {
            $this->assertStringContainsString($part, $page);
        }
        $listed = $shop->command('differences');
        $this->assertSame(3, $listed->code, $listed->error . $shop->log());
        $this->assertStringContainsString("paid-not-granted  $id", $listed->out);

        $lee = 'lee:' . RunningShop::PASSWORD;
        $this->assertStringNotContainsString('<button>Close', $shop->page('/balance', login: $lee)->body);
        $form = ['do' => 'close', 'id' => self::lineOf($page), 'note' => 'paid <back>', 'seal' => $this->seal($shop)];
        $this->assertSame(
            [403, 'Not allowed'],
            $shop->page('/balance', ['seal' => $this->seal($shop, $lee)] + $form, $lee)->said(),
        );
        $this->assertSame([403, 'Open the page again'], $shop->page('/balance', ['seal' => 'x'] + $form)->said());
        $this->assertSame([400, 'Unknown action'], $shop->page('/balance', ['do' => 'grant'] + $form)->said());
        $this->assertStringContainsString('A note is needed', $shop->page('/balance', ['note' => ' '] + $form)->body);
        $this->assertStringContainsString(
            'There is no such line',
            $shop->page('/balance', ['id' => str_repeat('0', 64)] + $form)->body,
        );
        $this->assertStringContainsString('<h2>1 differences</h2>', $shop->page('/balance')->body);
        $page = $shop->page('/balance', $form)->body;
        $this->assertStringContainsString('<h2>Balanced</h2>', $page);
        $this->assertStringContainsString('was closed before', $shop->page('/balance', $form)->body);
        $this->assertSame(0, $shop->command('differences')->code);
        $this->assertSame([], $shop->coins(), 'nothing is paid by guess');
        $note = $shop->pdo()->query('SELECT note FROM assay_difference')->fetchColumn();
        $this->assertSame('kim: paid <back>', $note);
        $said = $shop->page('/support')->body;
        $this->assertStringContainsString('paid &lt;back&gt;', $said);
    }

    public function testWhatWasRefundedIsTakenBackByTheButton(): void
    {
        $apple = new MockApple(self::paid($id = self::id()));
        $shop = $this->shopAt($apple);
        $shop->send(self::jws(self::coins($id, '--purchased', (string) (self::now() - 3_600_000))));
        $this->assertSame(['ann' => 100], $shop->coins());
        $apple->play('refund', ['transactionId' => $id]);
        self::lose($apple, 'REFUND', $id);
        $this->assertStringContainsString('1 had been missed', $this->reconcile($shop));
        $page = $shop->page('/balance')->body;
        $this->assertStringContainsString('Refunded, and the goods are still there', $page);
        $page = $shop->page('/balance', ['do' => 'sweep', 'seal' => $this->seal($shop)])->body;
        $this->assertStringContainsString('taken 1 back', $page);
        $this->assertSame([], $shop->coins());
        $this->assertStringContainsString('closed 1 refund-not-taken-back', $this->reconcile($shop));
        $page = $shop->page('/balance')->body;
        $this->assertStringContainsString('<h2>Balanced</h2>', $page);
        $this->assertStringContainsString('<h2>The last 90 days</h2>', $page);
    }
}
