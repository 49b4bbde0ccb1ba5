<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Ledger\Ledger;
use PDO;
use Shop\Settings;
use Shop\Till;
use Shop\Wallet;

/** Tests of refunds and reversals (docs/spec/ledger.md §5.3): in every order, late, repeated. */
final class EventsTest extends ShopTestCase
{
    /** Coins of a unit, units of an item, items of the purchase; all differ from 1. */
    private const PRICE = 7;
    private const UNITS = 10;
    private const ITEMS = 3;

    /** @return iterable<string, array{string}> the modes in which the shop grants */
    public function modes(): iterable
    {
        yield 'in a transaction' => ['transaction'];
        yield 'under a lease' => ['lease'];
    }

    /** @return iterable<string, array{string, int}> a mode, and the share that is refunded */
    public function shares(): iterable
    {
        yield 'all of it in a transaction' => ['transaction', 100_000];
        yield 'all of it under a lease' => ['lease', 100_000];
        yield 'a part of it in a transaction' => ['transaction', 40_000];
        yield 'a part of it under a lease' => ['lease', 40_000];
    }

    /**
     * Asserts every order of a purchase, its refund and the reversal, each repeated, with texts
     * from the queue of the customer's app in between: the newest signed state wins, and the
     * customer has what the ledger counts as granted (STO-33 to STO-35).
     *
     * @dataProvider shares
     */
    public function testSto33To35InEveryOrderTheNewestStateStandsAndGoodsMoveOnce(string $grants, int $share): void
    {
        $shop = $this->pricing($grants);
        $pdo = $shop->pdo();
        $id = self::id();
        $refunded = ['--refunded', '--set', "revocationPercentage=$share"];
        $told = [
            'c' => [10, self::jws($this->signed($id, 10))],
            'r' => [20, $this->noted('REFUND', $id, 20, ...$refunded)],
            'v' => [30, $this->noted('REFUND_REVERSED', $id, 30)],
        ];
        $queue = [$told['c'], [15, self::jws($this->signed($id, 15, ...$refunded))]];
        $all = self::UNITS * self::ITEMS;
        $orders = self::orders('ccrrvv');
        $this->assertCount(90, $orders);
        $left = intdiv($all * (100_000 - $share), 100_000);
        $seen = [];
        foreach ($orders as $number => $order) {
            if ($left > 0 && $number % 3 !== 0) {
                continue;
            }
            self::emptied($pdo);
            $newest = 0;
            foreach (str_split($order) as $place => $event) {
                $sent = [$told[$event]];
                if (($number + $place) % 2 === 0) {
                    $sent[] = $queue[intdiv($number + $place, 2) % 2];
                }
                foreach ($sent as [$signed, $text]) {
                    $this->tell($shop, $text);
                    $newest = max($newest, $signed);
                    [$state, $out] = self::row($pdo);
                    $this->assertSame(self::PRICE * $out, self::has($pdo), "$order at $place: $state");
                    $isInForce = in_array($newest, [10, 30], true);
                    $this->assertSame($isInForce, $state !== 'revoked', "$order at $place: $state");
                    $seen["$state $out"] = true;
                }
            }
            // A purchase that is free again has no owner until an account claims it (STO-34).
            $this->tell($shop, $told['c'][1]);
            foreach ([$told['r'], $queue[1], $told['v'], $told['r'], $told['c']] as [, $late]) {
                $this->tell($shop, $late);
                $this->assertSame(['granted', $all], self::row($pdo), $order);
                $this->assertSame(self::PRICE * $all, self::has($pdo), $order);
            }
        }
        ksort($seen);
        $ends = ['claimed 0' => true, "granted $all" => true, 'revoked 0' => true, "revoked $left" => true];
        $this->assertSame($ends, $seen, 'units that are out, by state');
        $this->assertStringNotContainsString('[ERROR]', $shop->log());
    }

    /** @dataProvider modes */
    public function testBck41WhatIsLateTakesNothing(string $grants): void
    {
        $shop = $this->shop(['grants' => $grants]);
        $id = self::id();
        $bought = self::jws($this->signed($id, 10));
        $shop->send($bought);
        $refund = $this->noted('REFUND', $id, 20, '--refunded');
        $this->assertSame(200, $shop->notify($refund)->status);
        $this->assertSame([], $shop->coins());
        $this->assertSame(200, $shop->notify($this->noted('REFUND_REVERSED', $id, 30))->status);
        $this->assertSame(['ann' => 300], $shop->coins());
        $this->assertSame(200, $shop->notify($refund)->status);
        $this->assertSame([200, 'already-granted'], $shop->send($bought)->said());
        $shop->send(self::jws($this->signed($id, 20, '--refunded')));
        $this->assertSame(['ann' => 300], $shop->coins(), $shop->log());
        // A newer refund is applied, also from the app, and takes back once.
        $news = self::jws($this->signed($id, 40, '--refunded'));
        $this->assertSame([409, 'refused-final'], $shop->send($news)->said());
        $this->assertSame([], $shop->coins());
    }

    /** @dataProvider modes */
    public function testBck42ARefundOfAWithdrawnProduct(string $grants): void
    {
        $shop = $this->pricing($grants);
        [$coins, $line, $now] = [self::id(), self::id(), self::now()];
        $shop->send(self::jws($this->signed($coins, 10)));
        $shop->send(self::jws(self::line($line, $line, '--signed', (string) ($now - 3_000_000))));
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $sold = $shop->configuration();
        unset($sold['products'][self::COINS], $sold['products'][self::PREMIUM]);
        // The price is no longer configured, but the wallet has what was paid.
        $shop->configure(['verifier' => $sold, 'goods' => new \stdClass(), 'grants' => $grants]);
        $refund = $this->noted('REFUND', $coins, 20, '--refunded');
        $this->assertSame([200, 200], [$shop->notify($refund)->status, $shop->notify($refund)->status]);
        $this->assertSame(['revoked', 0], self::row($shop->pdo()));
        $this->assertSame([], $shop->coins(), $shop->log());
        $shop->notify(self::notification('REFUND', self::line($line, $line, '--refunded')));
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
        // A part that is refused for good is answered with 200, and logged.
        $reversed = $this->noted('REFUND_REVERSED', $coins, 30);
        $this->assertSame(200, $shop->notify($reversed)->status);
        $this->assertMatchesRegularExpression('/\[WARN\] notification c0a8f1de-.*: ledger ' . $coins
            . ': rejected\.product\.unknown/', $shop->log());
        $this->assertSame([], $shop->coins());
    }

    public function testSto34APurchaseThatIsFreeAgainIsGrantedByItsEvidence(): void
    {
        $shop = $this->pricing('lease');
        $id = self::id();
        $shop->notify($this->noted('REFUND_REVERSED', $id, 30));
        $shop->notify($this->noted('REFUND', $id, 20, '--refunded'));
        $page = $shop->page("/support?transaction=$id")->body;
        $this->assertStringContainsString('Genuine, and never used', $page, $shop->log());
        $this->assertStringNotContainsString('Resume', $page);
        $this->assertSame([200, 'granted'], $shop->send(self::jws($this->signed($id, 10)))->said());
        $this->assertSame(['ann' => 210], $shop->coins());
    }

    public function testSto35TheSweepCarriesOutWhatAKilledProcessLeft(): void
    {
        $shop = $this->pricing('lease');
        $id = self::id();
        $shop->send(self::jws($this->signed($id, 10)));
        $refund = $this->signed($id, 20, '--refunded');
        // A process stored the refund two minutes ago, and crashed before it took anything back.
        $ledger = $shop->ledger(self::now() - 120_000);
        $left = $ledger->revoke($ledger->verifier->verifyTransaction(self::jws($refund)), grantMode: 'lease')->takes();
        $this->assertCount(1, $left);
        $this->assertSame(['ann' => 210], $shop->coins());
        $reversed = $this->noted('REFUND_REVERSED', $id, 30);
        $reply = $shop->notify($reversed);
        $this->assertSame([503, '5'], [$reply->status, $reply->headers['retry-after']], 'effects follow states in their order');
        $this->assertStringEndsWith('; 1 take-backs carried out', $shop->sweep());
        $this->assertSame([['revoked', 0], []], [self::row($shop->pdo()), $shop->coins()]);
        // Another process crashed after taking back, and before completing it.
        (new Wallet($shop->pdo(), []))->takeBack($left[0]);
        $this->assertSame([], $shop->coins());
        $this->assertSame(200, $shop->notify($reversed)->status, $shop->log());
        $this->assertSame(['ann' => 210], $shop->coins());
        (new Wallet($shop->pdo(), []))->takeBack($left[0]);
        $this->assertSame(['ann' => 210], $shop->coins(), 'a late one, of the refund that was reversed');
        $this->assertStringEndsWith('0 with news', $shop->sweep());
    }

    public function testSto35TheDeliveryAfterTheLeaseTakesBackOnce(): void
    {
        $shop = $this->pricing('lease');
        $id = self::id();
        $shop->send(self::jws($this->signed($id, 10)));
        $refund = $this->signed($id, 20, '--refunded');
        $ledger = $shop->ledger(self::now() - 120_000);
        $left = $ledger->revoke($ledger->verifier->verifyTransaction(self::jws($refund)), grantMode: 'lease')->takes();
        (new Wallet($shop->pdo(), []))->takeBack($left[0]);
        $note = $this->noted('REFUND', $id, 20, '--refunded');
        $this->assertSame([200, 200], [$shop->notify($note)->status, $shop->notify($note)->status], $shop->log());
        $this->assertSame([['revoked', 0], []], [self::row($shop->pdo()), $shop->coins()]);
    }

    /** @dataProvider modes */
    public function testSto35EachRefundTwiceAtOnceTakesOnce(string $grants): void
    {
        $shop = $this->pricing($grants, 4);
        $pdo = $shop->pdo();
        [$refunds, $kept] = [[], self::id()];
        $shop->send(self::jws($this->signed($kept, 10)));
        for ($number = 0; $number < 8; $number++) {
            $id = self::id();
            $shop->send(self::jws($this->signed($id, 10)));
            $note = $this->noted('REFUND', $id, 20, '--refunded');
            $refunds[] = ['/v1/notifications', ['signedPayload' => $note], null];
            // The customer's own text has the same refund at the same time.
            $text = self::jws($this->signed($id, 20, '--refunded'));
            $refunds[] = ['/v1/receipts', ['evidence' => $text], RunningShop::token('ann')];
        }
        for ($tried = 0, $open = [...$refunds, ...$refunds]; $open !== [] && $tried < 20; $tried++) {
            $replies = $shop->all($open);
            $open = array_values(array_filter($open, static fn (int $place): bool
                => $replies[$place]->status >= 500 || $replies[$place]->status === 202, ARRAY_FILTER_USE_KEY));
        }
        $this->assertSame([], $open, $shop->log());
        $this->assertSame(['ann' => 210], $shop->coins());
        $left = $pdo->query("SELECT COUNT(*) FROM assay_purchase WHERE granted_units > 0")->fetchColumn();
        $this->assertSame(1, (int) $left);
    }

    /** Asserts that a payment under a lease is undone if a refund overtook it (STO-26). */
    public function testSto26APaymentThatWasOvertakenIsUndone(): void
    {
        $shop = $this->pricing('lease');
        $id = self::id();
        $events = [
            $this->noted('REFUND', $id, 20, '--refunded'),
            $this->noted('REFUND_REVERSED', $id, 30),
        ];
        $pdo = $shop->pdo();
        $clock = static function () use ($shop, $pdo, &$events): int {
            if (self::has($pdo) > 0) {
                array_map($shop->notify(...), $events);
                $events = [];
            }

            return self::now();
        };
        $ledger = Ledger::withConnection($shop->pdo(), json_decode(json_encode($shop->configuration())), $clock);
        $settings = new Settings((string) file_get_contents("$shop->folder/shop.json"));
        $till = new Till($settings, $ledger, new Wallet($shop->pdo(), $settings->goods));
        $till->settle([$ledger->verifier->verifyTransaction(self::jws($this->signed($id, 10)))], 'ann');
        $this->assertSame([], $events);
        $this->assertSame([['granted', 30], 210], [self::row($pdo), self::has($pdo)], $shop->log());
        $paid = $pdo->query('SELECT COUNT(*) FROM shop_wallet WHERE revoked_ms IS NULL')->fetchColumn();
        $this->assertSame(1, (int) $paid);
    }

    /** Asserts the upgrade of a shop with a row for each grant, without purchase and units. */
    public function testAnOlderShopIsUpgraded(): void
    {
        $shop = $this->shop();
        [$kept, $refunded, $before] = [self::id(), self::id(), self::id()];
        foreach ([$kept, $refunded, $before] as $id) {
            $shop->send(self::jws($this->signed($id, 10)));
        }
        $shop->notify($this->noted('REFUND', $before, 20, '--refunded'));
        $pdo = $shop->pdo();
        $pdo->exec('CREATE TABLE old AS SELECT grant_id, account, product, quantity, coins, granted_ms, revoked_ms'
            . ' FROM shop_wallet WHERE length(grant_id) = 64');
        $pdo->exec('DROP TABLE shop_wallet');
        $pdo->exec('CREATE TABLE shop_wallet (grant_id VARCHAR(64) NOT NULL PRIMARY KEY, account VARCHAR(255) NOT NULL,'
            . ' product VARCHAR(255) NOT NULL, quantity BIGINT NOT NULL, coins BIGINT NOT NULL,'
            . ' granted_ms BIGINT NOT NULL, revoked_ms BIGINT)');
        $pdo->exec('INSERT INTO shop_wallet SELECT * FROM old; DROP TABLE old');
        // Killed after the first column, then completed, then repeated.
        $pdo->exec('ALTER TABLE shop_wallet ADD COLUMN purchase_key VARCHAR(160)');
        for ($run = 0; $run < 2; $run++) {
            $this->assertSame(0, $shop->command('setup')->code, $shop->command('setup')->error);
            $this->assertSame(['ann' => 600], $shop->coins());
        }
        $shop->notify($this->noted('REFUND', $refunded, 20, '--refunded'));
        $this->assertSame(['ann' => 300], $shop->coins(), $shop->log());
        $shop->notify($this->noted('REFUND_REVERSED', $before, 30));
        $this->assertSame(['ann' => 600], $shop->coins(), $shop->log());
    }

    // ---- internal

    private function pricing(string $grants, int $workers = 1): RunningShop
    {
        $products = json_decode(json_encode(\Assay\Tests\Minted::get()->configuration()), true)['products'];
        $products[self::COINS]['units'] = self::UNITS;

        return $this->shop(['grants' => $grants, 'goods' => [self::COINS => self::PRICE]], ['products' => $products], $workers);
    }

    /** Returns the options of three items, signed so many minutes after an hour ago. */
    private function signed(string $id, int $minutes, string ...$more): array
    {
        static $hour = null;
        $hour ??= self::now() - 3_600_000;

        return self::coins($id, '--set', 'quantity=' . self::ITEMS, '--purchased', (string) $hour, '--signed', (string) ($hour + 60_000 * $minutes), ...$more);
    }

    /** Returns the notification with that transaction. */
    private function noted(string $type, string $id, int $minutes, string ...$more): string
    {
        $text = self::jws($this->signed($id, $minutes, ...$more));

        return self::notification($type, self::coins($id, '--set', "data.signedTransactionInfo=\"$text\""));
    }

    private function tell(RunningShop $shop, string $text): void
    {
        $isNote = str_contains((string) base64_decode(strtr(explode('.', $text)[1], '-_', '+/')), 'notificationType');
        $status = $isNote ? $shop->notify($text)->status : $shop->send($text)->status;
        $this->assertContains($status, $isNote ? [200] : [200, 409], $shop->log());
    }

    /** @return list<string> each permutation of these letters, once */
    private static function orders(string $letters): array
    {
        if ($letters === '') {
            return [''];
        }
        $orders = [];
        foreach (array_unique(str_split($letters)) as $place => $first) {
            foreach (self::orders(substr_replace($letters, '', $place, 1)) as $rest) {
                $orders[] = $first . $rest;
            }
        }

        return $orders;
    }

    /** @return array{string, int} the state, and the granted units */
    private static function row(PDO $pdo): array
    {
        $read = $pdo->prepare('SELECT state, granted_units FROM assay_purchase WHERE product = ?');
        $read->execute([self::COINS]);

        return $read->fetch(PDO::FETCH_NUM);
    }

    private static function has(PDO $pdo): int
    {
        return (new Wallet($pdo, []))->coins('ann');
    }

    /** Deletes all rows, so that the same purchases can be used again. */
    private static function emptied(PDO $pdo): void
    {
        foreach (
            [
            'assay_purchase', 'assay_purchase_key', 'assay_subscription', 'assay_event', 'shop_wallet',
            ] as $table
        ) {
            $pdo->exec("DELETE FROM $table");
        }
    }
}
