<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** Tests of each route of the shop, as its clients use it (BCK-16, 19, 20, 23, 39). */
final class RoutesTest extends ShopTestCase
{
    public function testBck39EveryFormOfEvidenceIsPaidOutOnce(): void
    {
        $shop = $this->shop();
        $forms = [
            'JWS' => self::jws(self::coins(self::id())),
            'transaction receipt' => self::receipt(self::coins(self::id())),
            'app receipt' => Minted::get()->mint('app-receipt', ...self::coins(self::id())),
        ];
        $expected = 0;
        foreach ($forms as $form => $evidence) {
            $reply = $shop->send($evidence);
            $this->assertSame([200, 'granted'], $reply->said(), "$form: {$shop->log()}");
            $this->assertSame(
                ['answer' => 'granted', 'product' => self::COINS, 'retryAfterMs' => null],
                json_decode($reply->body, true),
            );
            $this->assertSame('application/json', $reply->headers['content-type']);
            $this->assertSame(['ann' => $expected += 100], $shop->coins());
            $this->assertSame([200, 'already-granted'], $shop->send($evidence)->said(), $form);
            $this->assertSame(['ann' => $expected], $shop->coins());
        }
    }

    public function testLst2TheAnswersToWhatIsNotPaidOut(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $receipt = self::receipt(self::coins(self::id()));
        $theirs = ['--bundle-id', 'com.example.other'];
        $expected = [
            'cracker' => [base64_encode('com.urus.iap.72519604'), 400, 'refused-final'],
            'foreign receipt' => [self::receipt(self::coins(self::id(), ...$theirs)), 400, 'refused-final'],
            'foreign JWS' => [self::jws(self::coins(self::id(), ...$theirs)), 400, 'refused-final'],
            'forged JWS' => [self::forged($jws), 400, 'refused-final'],
            'forged receipt' => [self::forgedReceipt($receipt), 400, 'refused-final'],
            'unknown product' => [self::receipt(self::bought('com.example.app.new', 'consumable', self::id())), 409, 'refused-keep'],
            'unknown product of a JWS' => [
                self::jws(self::bought('com.example.app.new', 'consumable', self::id())), 409, 'refused-keep'],
            'cut off' => [substr($receipt, 0, 700), 400, 'resend'],
            'nothing of the kind' => ['hello', 400, 'resend'],
        ];
        foreach ($expected as $what => [$evidence, $status, $answer]) {
            $reply = $shop->send($evidence);
            $this->assertSame([$status, $answer], $reply->said(), "$what: {$shop->log()}");
            $this->assertStringNotContainsString('rejected', $reply->body);
        }
        $this->assertSame([], $shop->coins());
    }

    public function testBck19BodiesThatAreNone(): void
    {
        $shop = $this->shop();
        $token = RunningShop::token('ann');
        $bodies = ['', 'null', '[]', '5', '"x"', '{', '{}', '{"evidence":null}', '{"evidence":""}',
            '{"evidence":7}', '{"evidence":"a","evidence":"b"}', "{\"evidence\":\"a\",\"evid\\u0065nce\":\"b\"}",
            '{"evidence":"a","more":{"x":1,"x":2}}', "{\"evidence\":\"\xff\"}"];
        foreach ($bodies as $body) {
            $reply = $shop->post('/v1/receipts', $body, $token);
            $this->assertSame([400, 'Invalid request'], $reply->said(), $body);
        }
        $long = json_encode(['evidence' => str_repeat('A', 4 << 20)]);
        $this->assertSame([413, 'Request too large'], $shop->post('/v1/receipts', $long, $token)->said());
        foreach ([str_repeat('A', (4 << 20) - 100), str_repeat('/', 2_000_000)] as $most) {
            $reply = $shop->post('/v1/receipts', ['evidence' => $most], $token);
            $this->assertSame([400, 'resend'], $reply->said(), $shop->log());
        }
        // The same name in two objects is no duplicate.
        $jws = self::jws(self::coins(self::id()));
        $body = json_encode(['more' => ['evidence' => 1], 'evidence' => $jws]);
        $this->assertSame([200, 'granted'], $shop->post('/v1/receipts', $body, $token)->said());
        foreach (['', '{}', '{"signedPayload":5}', '[]'] as $body) {
            $reply = $shop->post('/v1/notifications', $body);
            $this->assertSame([400, 'Invalid notification'], $reply->said());
        }
        $long = json_encode(['signedPayload' => str_repeat('A', 256 << 10)]);
        $this->assertSame([413, 'Request too large'], $shop->post('/v1/notifications', $long)->said());
    }

    public function testBck23OtherRoutesAndMethods(): void
    {
        $shop = $this->shop();
        foreach (['/', '/v1', '/index.php', '/v1/receipts/', '/shop.json', '/../shop.json'] as $path) {
            $this->assertSame([404, 'Not found'], $shop->request('GET', $path)->said(), $path);
        }
        foreach (['GET', 'PUT', 'DELETE'] as $method) {
            $reply = $shop->request($method, '/v1/receipts');
            $this->assertSame([405, 'Method not allowed'], $reply->said());
            $this->assertSame('POST', $reply->headers['allow']);
        }
        $this->assertSame(405, $shop->request('POST', '/dashboard')->status);
    }

    public function testBck20WhileTheStoreIsAwayTheClientKeepsItsEvidence(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        rename("$shop->folder/shop.db", "$shop->folder/away.db");
        mkdir("$shop->folder/shop.db");
        $reply = $shop->send($jws);
        $this->assertSame(503, $reply->status, $reply->body);
        $this->assertSame('5', $reply->headers['retry-after']);
        $note = self::notification('SUBSCRIBED', self::line($id = self::id(), $id));
        $reply = $shop->notify($note);
        $this->assertSame([503, 'Try again later'], $reply->said());
        $this->assertSame('5', $reply->headers['retry-after']);
        rmdir("$shop->folder/shop.db");
        rename("$shop->folder/away.db", "$shop->folder/shop.db");
        $this->assertSame([200, 'granted'], $shop->send($jws)->said());
    }

    public function testBck16Notifications(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $reply = $shop->notify(self::notification('SUBSCRIBED', self::line($id, $id)));
        $this->assertSame([200, ''], [$reply->status, $reply->body], $shop->log());
        $this->assertArrayNotHasKey('content-type', $reply->headers);
        foreach (['TEST', 'EXTERNAL_PURCHASE_TOKEN', 'RESCIND_CONSENT'] as $type) {
            $note = self::notification($type, ['--environment', 'Production']);
            $this->assertSame(200, $shop->notify($note)->status, $type . $shop->log());
        }
        $forged = self::forged(self::notification('REFUND', self::line($id, $id, '--refunded')));
        $this->assertSame([400, 'Invalid notification'], $shop->notify($forged)->said());
        // The account that sends evidence of the subscription, which the notification made, gets
        // it.
        $shop->send(self::jws(self::line($id, $id)));
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testBck16ARepeatedNotificationActsOnce(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::coins($id)));
        $refund = self::notification('REFUND', self::coins($id, '--refunded'));
        for ($sent = 0; $sent < 3; $sent++) {
            $this->assertSame(200, $shop->notify($refund)->status);
        }
        $this->assertSame(1, substr_count($shop->log(), '[INFO] REFUND'));
        $this->assertSame([], $shop->coins());
    }

    public function testSto25AReceiptWithMorePurchasesThanOneClaimTakes(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $receipt = Minted::get()->mint('app-receipt', '--purchases', '150', ...self::line($id, $id));
        $this->assertSame([200, 'granted'], $shop->send($receipt)->said(), $shop->log());
        $count = $shop->pdo()->query('SELECT COUNT(*) FROM shop_wallet')->fetchColumn();
        $this->assertSame(150, (int) $count);
        $this->assertSame([200, 'already-granted'], $shop->send($receipt)->said());
        $this->assertSame([409, 'refused-final'], $shop->send($receipt, 'bob')->said());
    }

    public function testLst2WhatHasToWaitKeepsTheEvidenceWithTheClient(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $id = self::id();
        $all = Minted::get()->mint('app-receipt', '--purchases', '2', ...self::line($id, $id));
        // Another process holds the claim of one of the two.
        $working = $shop->ledger()->claim(
            self::jws(self::line($id, $id, '--signed', (string) (self::now() - 60_000))),
            'ann',
        );
        $reply = $shop->send($all);
        $this->assertSame([202, 'deferred'], $reply->said(), $shop->log());
        $this->assertGreaterThan(0, json_decode($reply->body)->retryAfterMs);
        $this->assertGreaterThanOrEqual(1, (int) $reply->headers['retry-after']);
        $shop->ledger()->complete($working->grants()[0]);
        $this->assertSame([200, 'already-granted'], $shop->send($all)->said());
        $states = array_column($shop->ledger()->find(account: 'ann')->rows, 'state');
        $this->assertSame(['granted', 'granted'], $states);
    }

    public function testBck18KeysThatAreFetched(): void
    {
        $apple = new MockApple();
        $claims = json_decode(base64_decode(explode('.', RunningShop::token('ann'))[1]));
        $folder = sys_get_temp_dir() . '/assay-shop-keys-' . bin2hex(random_bytes(6));
        mkdir($folder, 0700);
        $shop = $this->shop(['appleHosts' => $apple->hosts,
            'bearer' => ['issuer' => $claims->iss, 'folder' => $folder]]);
        $token = $apple->play('token', ['issuer' => $claims->iss, 'claims' => ['sub' => 'ann']])['token'];
        $body = ['evidence' => self::jws(self::coins(self::id()))];
        $send = fn (string $bearer): array => $shop->post('/v1/receipts', $body, $bearer)->said();
        $this->assertSame([200, 'granted'], $send($token), $shop->log());
        $this->assertSame([200, 'already-granted'], $send($token));
        $this->assertCount(1, $apple->log(), 'the keys are kept');
        $this->assertSame([401, 'Unauthorized'], $send(RunningShop::token('ann')), 'of other keys');
        array_map(unlink(...), glob("$folder/*"));
        $apple->play('script', [['fault' => ['status' => 503]]]);
        $this->assertSame([503, 'deferred'], $send($token), 'without keys nobody is refused');
        array_map(unlink(...), glob("$folder/*"));
        rmdir($folder);
    }

    public function testLst2FamilySharingGivesAPlan(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shared = self::jws(self::line($id, $id, '--family'));
        $this->assertSame([200, 'granted'], $shop->send($shared)->said(), $shop->log());
        $this->assertSame([200, 'already-granted'], $shop->send($shared)->said());
        $this->assertSame('premium', $shop->ledger()->getPlan('ann')->plan);
    }

    public function testSettingsThatAreMisspeltStopTheShop(): void
    {
        $shop = $this->shop();
        $shop->configure(['ofline' => false]);
        $this->assertStringContainsString('ofline', $shop->command('sweep')->error);
        $this->assertSame(503, $shop->send('x')->status);
        $this->assertSame(2, $shop->command('swep')->code);
    }

    public function testPasswordsAreHashed(): void
    {
        $shop = $this->shop();
        $this->assertSame(1, $shop->command('password')->code, 'nothing came in');
    }
}
