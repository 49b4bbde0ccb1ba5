<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** Tests of requests that end before the database is opened (FLW-1, BCK-24). */
final class TriageTest extends ShopTestCase
{
    /** @return array<string, array{string, array{int, string}}> */
    private static function hostile(): array
    {
        $coins = self::coins(self::id());
        $theirs = self::coins(self::id(), '--bundle-id', 'com.example.other');

        return [
            'cracker' => [base64_encode('com.urus.iap.72519604'), [400, 'refused-final']],
            'foreign receipt' => [self::receipt($theirs), [400, 'refused-final']],
            'foreign JWS' => [self::jws($theirs), [400, 'refused-final']],
            'forged JWS' => [self::forged(self::jws($coins)), [400, 'refused-final']],
            'forged receipt' => [self::forgedReceipt(self::receipt($coins)), [400, 'refused-final']],
            'cut off' => [substr(self::receipt($coins), 0, 700), [400, 'resend']],
        ];
    }

    public function testFlw1HostileRequestsAreAnsweredWhileTheDatabaseIsAway(): void
    {
        $shop = $this->shop();
        $genuine = [self::jws(self::coins(self::id())), self::receipt(self::coins(self::id()))];
        $shop->loseDatabase();
        foreach (self::hostile() as $what => [$evidence, $said]) {
            $this->assertSame($said, $shop->send($evidence)->said(), "$what: {$shop->log()}");
        }
        $this->assertSame(400, $shop->notify(self::forged(self::notification('REFUND', self::coins(self::id()))))->status);
        foreach ($genuine as $evidence) {
            $this->assertSame([503, 'deferred'], $shop->send($evidence)->said(), $shop->log());
        }
        $this->assertSame([], glob("$shop->folder/shop.db*"), 'no request makes a database');
        $this->assertSame(1, $shop->command('sweep')->code);
        $this->assertSame([], glob("$shop->folder/shop.db*"), 'nor does the sweep');
        $shop->findDatabase();
        foreach ($genuine as $evidence) {
            $this->assertSame([200, 'granted'], $shop->send($evidence)->said(), $shop->log());
        }
    }

    public function testBck24HostileRequestsWriteNothingAndAreCounted(): void
    {
        $shop = $this->shop();
        $state = static fn (): string => implode(' ', array_map(sha1_file(...), glob("$shop->folder/shop.db*")));
        $before = $state();
        $hostile = self::hostile();
        unset($hostile['forged receipt']); // it is looked up first
        foreach ($hostile as [$evidence]) {
            $shop->send($evidence);
        }
        $this->assertSame($before, $state());
        // The next request that needs the database leaves recent counts in the file.
        $shop->send(self::jws(self::coins(self::id())));
        $rows = fn (): int => (int) $shop->pdo()->query('SELECT COALESCE(SUM(requests), 0) FROM shop_tally'
            . " WHERE kind = 'outcome'")->fetchColumn();
        $this->assertSame(0, $rows());
        $shop->sweep();
        $this->assertSame(count($hostile) + 1, $rows());
        $shop->sweep();
        $this->assertSame(count($hostile) + 1, $rows(), 'once');
        $shop->send($hostile['cracker'][0]);
        $all = count($hostile) + 2;
        $this->assertStringContainsString("$all requests.", $shop->page('/dashboard')->body);
    }

    /** Asserts that a minute later a request with an open database writes counts (BCK-24). */
    public function testBck24CountsAreWrittenByARequestThatOpensTheDatabase(): void
    {
        $shop = $this->shop();
        $shop->send(base64_encode('com.urus.iap.72519604'));
        [$file] = glob("$shop->folder/assay-shop-*/*-counts");
        $kept = json_decode((string) file_get_contents($file), true);
        $this->assertSame(0700, fileperms(dirname($file)) & 0777);
        file_put_contents($file, json_encode(['since' => self::now() - 60_000] + $kept));
        $shop->send(base64_encode('com.urus.iap.72519604'));
        $this->assertSame(0, (int) $shop->pdo()->query('SELECT COUNT(*) FROM shop_tally')->fetchColumn());
        $shop->send(self::jws(self::coins(self::id())));
        $written = 'SELECT name, requests FROM shop_tally WHERE kind = \'outcome\' ORDER BY name';
        $this->assertSame(
            ['granted' => 1, 'triage cracking-tool' => 2],
            array_map(intval(...), $shop->pdo()->query($written)->fetchAll(\PDO::FETCH_KEY_PAIR)),
        );
    }

    public function testBck24CountsOfManyProcessesAtOnceAreAllThere(): void
    {
        $shop = $this->shop(workers: 4);
        $bodies = [['evidence' => base64_encode('com.urus.iap.72519604')], ['evidence' => 'hello']];
        $requests = [];
        for ($number = 0; $number < 120; $number++) {
            $requests[] = ['/v1/receipts', $bodies[$number % 2], RunningShop::token('ann')];
            $number % 40 === 39 && $requests[] = ['/v1/receipts', ['evidence' => self::jws(self::coins(self::id()))],
                RunningShop::token('ann')];
        }
        $shop->all($requests);
        $shop->command('sweep');
        $this->assertStringContainsString('123 requests.', $shop->page('/dashboard')->body);
    }

    /** Asserts that a folder that another user owns is not used (BCK-24). */
    public function testBck24AFolderOfOthersIsNotUsed(): void
    {
        $shop = $this->shop();
        $owner = posix_geteuid();
        $elsewhere = "$shop->folder/elsewhere";
        mkdir($elsewhere, 0777);
        is_dir("$shop->folder/assay-shop-$owner") && rename("$shop->folder/assay-shop-$owner", "$shop->folder/old");
        symlink($elsewhere, "$shop->folder/assay-shop-$owner");
        $this->assertSame([400, 'refused-final'], $shop->send(base64_encode('com.urus.iap.72519604'))->said());
        $this->assertSame(['.', '..'], scandir($elsewhere));
        $this->assertStringContainsString('[WARN] a count was lost', $shop->log());
        $this->assertSame([200, 'granted'], $shop->send(self::jws(self::coins(self::id())))->said());
    }

    /** @dataProvider crowded */
    public function testBck19ABodyDoesNotUseUpTheMemoryOfAWorker(string $unit): void
    {
        $shop = $this->shop(ini: ['memory_limit=128M']);
        $token = RunningShop::token('ann');
        $room = (4 << 20) - 40;
        $many = implode(',', array_fill(0, intdiv($room, strlen($unit) + 1), $unit));
        $bodies = [400 => "{\"evidence\":\"x\",\"a\":[$many]}", 413 => "{\"evidence\":\"x\",\"a\":[$many,$many]}"];
        foreach ($bodies as $status => $body) {
            $this->assertSame($status, $shop->post('/v1/receipts', $body, $token)->status, $shop->log());
        }
        $large = $shop->post('/v1/receipts', ['evidence' => str_repeat('A', (4 << 20) - 100)], $token);
        $this->assertSame([400, 'resend'], $large->said());
        $this->assertSame(413, $shop->post('/v1/receipts', str_repeat('[', 9 << 20), $token)->status);
        $this->assertStringNotContainsString('Allowed memory size', $shop->log());
    }

    /** @return iterable<string, array{string}> */
    public static function crowded(): iterable
    {
        foreach (['{}', '""', '{"a":1}', '[0]', '[]', '1', '[[[]]]', '{"a":{}}', '"\\u0000"'] as $unit) {
            yield $unit => [$unit];
        }
    }

    public function testWhatIsSignedMakesNoLineOfItsOwnInTheLog(): void
    {
        $shop = $this->shop();
        $line = "X\n[ERROR] forged \x1b[31m \u{2028}";
        $shop->notify(self::notification('SUBSCRIBED', [
            ...self::line($id = self::id(), $id), '--set', 'subtype=' . json_encode($line)]));
        $shop->page('/support', login: "x\n[ERROR] forged:password");
        $this->assertStringContainsString('SUBSCRIBED X\\n[ERROR] forged \\u001b[31m \\u2028', $shop->log());
        $this->assertStringContainsString('operator refused: x\\n[ERROR]', $shop->log());
        $this->assertDoesNotMatchRegularExpression('/^(\[[^]]*\] )?\[ERROR\]/m', $shop->log());
    }
}
