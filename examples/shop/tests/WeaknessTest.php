<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;
use Shop\Settings;
use Shop\Till;
use Shop\Wallet;

/**
 * Tests of the weaknesses of naive back ends (docs/spec/ledger.md §2) over HTTP against the running
 * shop. W16 … 22, 29, 30 and 41 are about meters, sign-ups and merges, which the shop lacks.
 */
final class WeaknessTest extends ShopTestCase
{
    /** The forgeries of W1 … W6, each with one defect. The case table has the rest. */
    private const FORGERIES = [
        'W1 a root with Apple\'s name' => 'JWS-20',
        'W2 signed in 1970' => 'JWS-41',
        'W2 never signed' => 'JWS-44',
        'W3 an intermediate that is no CA' => 'JWS-27',
        'W3 a leaf that is one' => 'JWS-28',
        'W3 a leaf of another issuer' => 'JWS-30',
        'W3 an intermediate signed by another key' => 'JWS-31',
        'W4 a leaf without Apple\'s purpose' => 'JWS-29',
        'W6 alg none' => 'JWS-10',
        'W6 a P-384 leaf' => 'JWS-25',
        'W6 two algorithms' => 'JWS-24',
    ];

    public function testW1ToW6ForgedChainsAreRefusedWithOneAnswer(): void
    {
        $shop = $this->shop();
        foreach (self::FORGERIES as $what => $rule) {
            $reply = $shop->send(self::jws(self::coins(self::id(), '--forge', $rule)));
            $this->assertContains($reply->said(), [[400, 'refused-final'], [400, 'resend'],
                [409, 'refused-keep'], [403, 'refused-keep']], "$what: $reply->body {$shop->log()}");
        }
        $this->assertSame([], $shop->coins());
    }

    public function testW2CertificatesAreGoodAtTheDateOfTheSignature(): void
    {
        $shop = $this->shop();
        foreach (['2009-06-01', '2013-01-31'] as $day) {
            $old = self::jws(self::coins(self::id(), '--purchased', $day, '--signed', $day));
            $this->assertSame([400, 'refused-final'], $shop->send($old)->said(), $shop->log());
        }
    }

    public function testW5AChainOfAnyLength(): void
    {
        $shop = $this->shop();
        [$head, $payload, $signature] = explode('.', self::jws(self::coins(self::id())));
        $members = json_decode(base64_decode(strtr($head, '-_', '+/')), true);
        foreach ([1, 2, 4, 20] as $length) {
            $chain = array_merge(...array_fill(0, 7, $members['x5c']));
            $text = json_encode(['x5c' => array_slice($chain, 0, $length)] + $members);
            $head = rtrim(strtr(base64_encode($text), '+/', '-_'), '=');
            $this->assertSame(400, $shop->send("$head.$payload.$signature")->status);
        }
        $this->assertSame([], $shop->coins());
    }

    public function testW7ARefundedPurchaseIsTakenBack(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::coins($id)));
        $this->assertSame(['ann' => 100], $shop->coins());
        // The app itself may send the refund: a text with a revocation date.
        $refunded = self::jws(self::coins($id, '--refunded'));
        $this->assertSame([409, 'refused-final'], $shop->send($refunded)->said());
        $this->assertSame([], $shop->coins());
        $line = self::id();
        $shop->send(self::jws(self::line($line, $line)));
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
        $shop->notify(self::notification('REVOKE', self::line($line, $line, '--refunded')));
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW8WithoutAnEndOnlyALifetimeProductLasts(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $endless = self::jws(self::line($id, $id, '--remove', 'expiresDate'));
        $shop->send($endless);
        $shop->send(self::jws(self::coins(self::id())));
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
        $shop->send(self::jws(self::bought(self::LIFETIME, 'non-consumable', self::id())));
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW9ASandboxPurchaseCountsForTestersAlone(): void
    {
        $shop = $this->shop(['testers' => ['app-review']]);
        $id = '2000000' . substr(self::id(), -9);
        $free = ['--environment', 'Sandbox', '--type', 'consumable', '--product', self::COINS,
            '--transaction-id', $id, '--original-transaction-id', $id];
        foreach (
            [self::jws($free), self::receipt($free),
            Minted::get()->mint('app-receipt', ...$free)] as $evidence
        ) {
            $this->assertSame([403, 'refused-keep'], $shop->send($evidence)->said());
        }
        $this->assertSame([200, 'granted'], $shop->send(self::jws($free), 'app-review')->said());
        $this->assertSame(['app-review' => 100], $shop->coins());
    }

    public function testW10UpgradedPeriodsAndOtherAppsDoNotCount(): void
    {
        $shop = $this->shop(verifier: ['decision' => ['accountToken' => 'if-present', 'familySharing' => 'deny']]);
        $id = self::id();
        $this->assertSame([409, 'refused-final'], $shop->send(self::jws(self::line($id, $id, '--upgraded')))->said());
        $family = self::id();
        $shop->send(self::jws(self::line($family, $family, '--family')));
        $this->assertSame('free', $shop->ledger()->getPlan('ann')->plan);
        $this->assertSame([], $shop->coins());
    }

    public function testW11OneSubscriptionUnlocksOneAccount(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $jws = self::jws(self::line($id, $id));
        $this->assertSame([200, 'granted'], $shop->send($jws, 'ann')->said());
        foreach (['bob', 'cid', 'dan'] as $other) {
            $this->assertSame([409, 'refused-final'], $shop->send($jws, $other)->said());
            $this->assertSame('free', $shop->ledger()->getPlan($other)->plan);
        }
        // A later period that ann has not sent yet is not granted to bob.
        $now = self::now();
        $next = self::jws(self::line(self::id(), $id, '--signed', (string) ($now - 1000), '--set', 'webOrderLineItemId="77"'));
        $this->assertSame([409, 'refused-final'], $shop->send($next, 'bob')->said());
        $all = Minted::get()->mint('app-receipt', '--purchases', '3', ...self::line($id, $id));
        $this->assertSame([409, 'refused-final'], $shop->send($all, 'bob')->said());
        $this->assertSame(
            ['ann'],
            $shop->pdo()->query('SELECT DISTINCT account FROM shop_wallet')->fetchAll(\PDO::FETCH_COLUMN),
        );
        $this->assertSame([200, 'granted'], $shop->send($next, 'ann')->said());
    }

    /** Asserts that a receipt may list purchases of several people who used one device (W11). */
    public function testW11AForeignLineAmongOwnPurchases(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::line($id, $id)), 'ann');
        $ledger = $shop->ledger();
        $verified = array_map(
            static fn (array $options) => $ledger->verifier->verifyTransaction(self::jws($options)),
            [
                self::line(self::id(), $id, '--set', 'webOrderLineItemId="79"'),
                self::coins(self::id()),
                self::bought(self::LIFETIME, 'non-consumable', self::id()),
            ],
        );
        $settings = new Settings((string) file_get_contents("$shop->folder/shop.json"));
        $till = new Till($settings, $ledger, new Wallet($shop->pdo(), $settings->goods));
        $this->assertSame('granted', $till->settle($verified, 'bob')->outcome(false)->answer);
        $bobs = array_column($ledger->find(account: 'bob')->rows, 'product');
        sort($bobs);
        $this->assertSame([self::COINS, self::LIFETIME], $bobs);
    }

    public function testW11TheTokenOfAnotherAccount(): void
    {
        $shop = $this->shop();
        [$mine, $other] = ['0f8fad5b-d9cb-469f-a165-70867728950e', '1f8fad5b-d9cb-469f-a165-70867728950e'];
        $jws = self::jws(self::coins(self::id(), '--account', $mine));
        $this->assertSame([403, 'refused-final'], $shop->send($jws, $other)->said());
        $this->assertSame([200, 'granted'], $shop->send($jws, $mine)->said());
        $id = self::id();
        $line = self::jws(self::line($id, $id, '--account', $mine));
        $this->assertSame([403, 'refused-final'], $shop->send($line, $other)->said());
        $this->assertSame([200, 'granted'], $shop->send($line, $mine)->said());
    }

    public function testW12AnOlderTextDoesNotOverwriteANewerState(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $now = self::now();
        $premium = self::jws(self::line($id, $id, '--signed', (string) ($now - 7_200_000)));
        $shop->send($premium);
        $shop->send(self::jws(self::line(self::id(), $id, '--product', self::STANDARD, '--signed', (string) ($now - 60_000))));
        $this->assertSame('standard', $shop->ledger()->getPlan('ann')->plan);
        $this->assertSame([200, 'already-granted'], $shop->send($premium)->said());
        $this->assertSame('standard', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW13ATextFromBeforeTheRefundIsRefused(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $jws = self::jws(self::coins($id, '--signed', (string) (self::now() - 3_600_000)));
        $receipt = self::receipt(self::coins($id));
        $shop->send($jws);
        $shop->notify(self::notification('REFUND', self::coins($id, '--refunded')));
        foreach (['ann', 'bob'] as $account) {
            foreach ([$jws, $receipt] as $text) {
                $this->assertSame([409, 'refused-final'], $shop->send($text, $account)->said());
            }
        }
        $this->assertSame([], $shop->coins());
        // The refund may arrive before the purchase was ever claimed.
        $early = self::id();
        $shop->notify(self::notification('REFUND', self::coins($early, '--refunded')));
        $late = self::jws(self::coins($early, '--signed', (string) (self::now() - 3_600_000)));
        $this->assertSame([409, 'refused-final'], $shop->send($late)->said());
        $this->assertSame([], $shop->coins());
    }

    public function testW14AnEndedSubscriptionIsStillSomebodys(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $ended = self::jws(self::line($id, $id, '--expired'));
        $shop->send($ended, 'ann');
        $shop->sweep();
        $this->assertSame([409, 'refused-final'], $shop->send($ended, 'bob')->said());
        $renewed = self::jws(self::line(self::id(), $id));
        $this->assertSame([409, 'refused-final'], $shop->send($renewed, 'bob')->said());
    }

    public function testW15AndW24NothingThatIsSentIsAFaultOfTheServer(): void
    {
        $shop = $this->shop();
        mt_srand(7);
        $texts = [self::jws(self::coins(self::id())), self::receipt(self::coins(self::id())),
            Minted::get()->mint('app-receipt', ...self::coins(self::id()))];
        foreach ($texts as $text) {
            for ($tried = 0; $tried < 40; $tried++) {
                $at = mt_rand(0, strlen($text) - 1);
                $damaged = match ($tried % 3) {
                    0 => substr_replace($text, chr(mt_rand(32, 126)), $at, 1),
                    1 => substr($text, 0, $at),
                    default => substr($text, 0, $at) . substr($text, $at + mt_rand(1, 9)),
                };
                $reply = $shop->send($damaged . ' ');
                $this->assertContains($reply->status, [200, 400, 403, 409], $shop->log());
                $this->assertMatchesRegularExpression(
                    '/^{"answer":"[a-z-]+","product":("com\.example\.app\.coins100"|null),"retryAfterMs":null}$/',
                    $reply->body,
                );
                $this->assertArrayNotHasKey('x-powered-by', $reply->headers);
            }
        }
        $this->assertStringNotContainsString('[ERROR]', $shop->log());
        $this->assertLessThanOrEqual(300, array_sum($shop->coins()));
    }

    public function testW16WhatStandsBesideTheEvidenceDecidesNothing(): void
    {
        $shop = $this->shop();
        $body = ['evidence' => self::jws(self::coins(self::id())), 'product' => self::LIFETIME,
            'quantity' => 1000, 'coins' => 9999, 'account' => 'bob', 'plan' => 'premium'];
        $shop->post('/v1/receipts', $body, RunningShop::token('ann'));
        $this->assertSame(['ann' => 100], $shop->coins());
    }

    public function testW23OnlyAccessTokensOfOurClients(): void
    {
        $shop = $this->shop();
        $good = RunningShop::token('ann');
        $tokens = [
            'an ID token' => RunningShop::token('ann', '--set', 'token_use="id"'),
            'another client' => RunningShop::token('ann', '--set', 'client_id="other"'),
            'another issuer' => RunningShop::token('ann', '--set', 'iss="https://issuer.example.com"'),
            'one that has ended' => RunningShop::token('ann', '--issued', '2020-01-01'),
            'a forged one' => substr($good, 0, -8) . 'AAAAAAAA',
            'no account' => RunningShop::token('ann', '--remove', 'sub'),
            'an account that padding would join' => RunningShop::token(' ann'),
        ];
        foreach ($tokens as $what => $token) {
            $reply = $shop->post('/v1/receipts', ['evidence' => 'x'], $token);
            $this->assertSame([401, 'Unauthorized'], $reply->said(), $what);
            $this->assertSame('Bearer', $reply->headers['www-authenticate']);
        }
    }

    public function testW25NoTextIsKept(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $receipt = self::receipt(self::coins(self::id()));
        $shop->send($jws);
        $shop->send($receipt);
        $shop->stop();
        $file = implode('', array_map(file_get_contents(...), glob("$shop->folder/shop.db*")));
        $this->assertStringContainsString(self::COINS, $file);
        foreach ([$jws, $receipt] as $text) {
            $this->assertStringNotContainsString(substr($text, 100, 200), $file);
            $this->assertStringNotContainsString(substr($text, 100, 200), $shop->log());
        }
        $this->assertStringNotContainsString(RunningShop::token('ann'), $file . $shop->log());
    }

    public function testW26APeriodEndsAtItsMillisecond(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $end = self::now() + 60_000;
        $shop->send(self::jws(self::line($id, $id, '--expires', (string) $end)));
        $this->assertSame('premium', $shop->ledger($end - 1)->getPlan('ann')->plan);
        $this->assertSame('free', $shop->ledger($end)->getPlan('ann')->plan);
    }

    public function testW27SubmissionsAtOnceArePaidOutOnce(): void
    {
        $shop = $this->shop(workers: 4);
        $id = self::id();
        $texts = [self::jws(self::coins($id)), self::receipt(self::coins($id)),
            self::jws(self::coins($id, '--signed', (string) (self::now() - 5000)))];
        $requests = [];
        for ($number = 0; $number < 48; $number++) {
            $requests[] = ['/v1/receipts', ['evidence' => $texts[$number % 3]],
                RunningShop::token($number % 2 ? 'ann' : 'bob')];
        }
        $said = array_map(static fn (Reply $reply): string => (string) $reply->said()[1], $shop->all($requests));
        $this->assertSame(1, count(array_keys($said, 'granted', true)), implode(' ', $said));
        $this->assertSame([100], array_values($shop->coins()));
        $definite = ['granted', 'already-granted', 'refused-final', 'deferred'];
        $this->assertSame([], array_diff($said, $definite));
        // A deferred request gets a definite result when it is repeated.
        [$owner] = array_keys($shop->coins());
        $this->assertSame([200, 'already-granted'], $shop->send($texts[0], $owner)->said());
    }

    public function testW28AnAnswerIsDefiniteOnlyWhenItIsWritten(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $lock = $shop->pdo();
        $lock->exec('BEGIN EXCLUSIVE');
        $reply = $shop->send($jws);
        $this->assertContains($reply->said(), [[503, 'deferred'], [202, 'deferred']]);
        $this->assertGreaterThan(0, json_decode($reply->body)->retryAfterMs);
        $this->assertArrayHasKey('retry-after', $reply->headers);
        $lock->exec('ROLLBACK');
        $this->assertSame([], $shop->coins());
        $this->assertSame([200, 'granted'], $shop->send($jws)->said());
    }

    public function testW31AndW32WithoutAGoodTokenTheBodyIsNotLookedAt(): void
    {
        $shop = $this->shop();
        $url = '/v1/receipts';
        foreach ([null, '', 'x', 'a b', str_repeat('A', 5000)] as $bearer) {
            foreach (['null', '', '{"evidence":"x"}'] as $body) {
                $this->assertSame([401, 'Unauthorized'], $shop->post($url, $body, $bearer)->said());
            }
        }
        // A body without evidence deactivates nothing.
        $id = self::id();
        $shop->send(self::jws(self::line($id, $id)));
        foreach (['null', '', '{}', 'bnVsbA=='] as $body) {
            $this->assertSame(400, $shop->post($url, $body, RunningShop::token('ann'))->status);
        }
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW33RefundsAndDowngradesArrive(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::line($id, $id, '--signed', (string) (self::now() - 600_000))));
        $down = self::line(self::id(), $id, '--product', self::STANDARD);
        $shop->notify(self::notification('DID_CHANGE_RENEWAL_PREF', $down));
        $this->assertSame('standard', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testW34AClaimThatWasLeftBehindIsPaidByTheSweep(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $jws = self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000)));
        // A process crashed between the claim and its grant, two minutes ago.
        $claimed = $shop->ledger(self::now() - 120_000)->claim($jws, 'ann');
        $this->assertNull($claimed->clientResult);
        $this->assertSame([], $shop->coins());
        $this->assertStringStartsWith('1 claims resumed', $shop->sweep());
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertStringStartsWith('0 claims resumed', $shop->sweep());
        $this->assertSame([200, 'already-granted'], $shop->send($jws)->said());
    }

    public function testW36AForgottenAccountLeavesItsPurchasesUsed(): void
    {
        $shop = $this->shop(verifier: ['ledger' => ['forgetKey' => base64_encode(random_bytes(32))]]);
        $jws = self::jws(self::coins(self::id()));
        $shop->send($jws, 'customer-ann');
        $forgotten = $shop->command('forget', 'customer-ann');
        $this->assertSame(0, $forgotten->code, $forgotten->error);
        $this->assertSame(0, $shop->command('forget', 'customer-ann')->code);
        $this->assertSame([409, 'refused-final'], $shop->send($jws, 'bob')->said());
        $shop->stop();
        $shop->pdo()->exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM');
        $file = implode('', array_map(file_get_contents(...), glob("$shop->folder/shop.db*")));
        $this->assertStringNotContainsString('customer-ann', $file);
    }

    public function testW38AnIdOfTheClientsChoiceDoesNotJoinTwoPurchases(): void
    {
        $shop = $this->shop();
        foreach ([100, 200] as $coins) {
            $body = ['evidence' => self::jws(self::coins(self::id())), 'attempt' => str_repeat('a', 22)];
            $reply = $shop->post('/v1/receipts', $body, RunningShop::token('ann'));
            $this->assertSame([200, 'granted'], $reply->said());
            $this->assertSame(['ann' => $coins], $shop->coins());
        }
    }

    public function testW39AFirstClaimerWhoWakesUpLatePaysNothingTwice(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $jws = self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000)));
        $late = $shop->ledger(self::now() - 120_000)->claim($jws, 'ann')->grants()[0];
        $shop->sweep();
        $wallet = new Wallet($shop->pdo(), [self::COINS => 100]);
        $wallet->pay($late);
        $this->assertFalse($shop->ledger()->complete($late)->changed);
        $this->assertSame(['ann' => 100], $shop->coins());
        // A refund between a claim and its payment leaves nothing to spend.
        $id = self::id();
        $bought = self::jws(self::coins($id, '--signed', (string) (self::now() - 3_600_000)));
        $slow = $shop->ledger()->claim($bought, 'bob')->grants()[0];
        $shop->notify(self::notification('REFUND', self::coins($id, '--refunded')));
        $wallet->pay($slow);
        // The process was killed before completing: the sweep finds what the ledger does not count.
        $this->assertStringEndsWith('; 1 take-backs carried out', $shop->sweep());
        $this->assertSame('revoked', $shop->ledger()->complete($slow)->outcome);
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertStringEndsWith('0 with news', $shop->sweep());
    }

    public function testW40AStoreThatIsSlowLetsNothingThrough(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $lock = $shop->pdo();
        $lock->exec('BEGIN EXCLUSIVE');
        $reply = $shop->notify(self::notification('SUBSCRIBED', self::line($id, $id)));
        $this->assertSame([503, 'Try again later'], $reply->said());
        $lock->exec('ROLLBACK');
        $this->assertSame([], $shop->ledger()->getPlan('ann')->subscriptions);
    }

    public function testReplaysOfOnePurchaseUnderManyTexts(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $receipt = self::receipt(self::coins($id));
        $texts = [$receipt, chunk_split($receipt, 64), rtrim($receipt, '='),
            strtr($receipt, '+/', '-_'), base64_encode($receipt), self::receipt(self::coins($id)),
            self::jws(self::coins($id)), Minted::get()->mint('app-receipt', ...self::coins($id)),
            ' ' . self::jws(self::coins($id)) . "\n"];
        foreach ($texts as $number => $text) {
            $answer = $number === 0 ? 'granted' : 'already-granted';
            $this->assertSame([200, $answer], $shop->send($text)->said(), "text $number {$shop->log()}");
            $this->assertSame([409, 'refused-final'], $shop->send($text, 'bob')->said(), "text $number");
        }
        $this->assertSame(['ann' => 100], $shop->coins());
    }
}
