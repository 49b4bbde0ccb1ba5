<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Shop\Csv;
use Shop\Money;

/** Tests of the dashboard, the event log and the exports (BCK-24, BCK-39). */
final class DashboardTest extends ShopTestCase
{
    private const PRICES = [self::COINS => ['currency' => 'EUR', 'minor' => 99],
        self::PREMIUM => ['currency' => 'JPY', 'minor' => 500]];
    private const DAY_MS = 86_400_000;

    /** @return array<string, array<string, mixed>> operators of each role, with one password */
    private static function operators(): array
    {
        $hash = password_hash(RunningShop::PASSWORD, PASSWORD_BCRYPT, ['cost' => 4]);

        return array_map(
            static fn (string $role): array => ['hash' => $hash, 'role' => $role],
            ['rea' => 'reader', 'sue' => 'support', 'kim' => 'admin'],
        );
    }

    /** Returns the part of a page that begins with a heading, up to the next chart's table. */
    private static function part(string $heading, Reply $reply): string
    {
        self::assertSame(200, $reply->status, $reply->body);

        return (string) strstr((string) strstr($reply->body, "<h2>$heading</h2>"), '<details>', true);
    }

    /** @return list<list<string>> the rows of an export */
    private static function csv(Reply $reply): array
    {
        self::assertSame([200, 'text/csv; charset=utf-8'], [$reply->status, $reply->headers['content-type']], $reply->body);
        self::assertStringStartsWith('attachment; filename="shop-', $reply->headers['content-disposition']);

        return array_map(str_getcsv(...), explode("\r\n", rtrim($reply->body)));
    }

    public function testRevenueAndRefundsAreWholeNumbersByCurrency(): void
    {
        $shop = $this->shop(['prices' => self::PRICES]);
        [$two, $part, $whole, $line, $sandbox] = [self::id(), self::id(), self::id(), self::id(), self::id()];
        $shop->send(self::jws(self::coins($two, '--quantity', '2')));
        $shop->send(self::jws(self::coins($part, '--quantity', '3')), 'bob');
        $shop->send(self::jws(self::coins($whole)));
        $shop->send(self::jws(self::line($line, $line)));
        $shop->send(self::jws(self::bought(self::LIFETIME, 'non-consumable', self::id())));
        $shop->configure(['prices' => self::PRICES, 'testers' => ['ann']]);
        $shop->send(self::jws(['--environment', 'Sandbox'] + self::coins($sandbox)));
        $share = ['--quantity', '3', '--refunded', '--set', 'revocationPercentage=50000'];
        $notes = [self::notification('REFUND', self::coins($whole, '--refunded')),
            self::notification('REFUND', self::coins($part, '--set', 'data.signedTransactionInfo="'
                . self::jws(self::coins($part, ...$share)) . '"'))];
        foreach ([...$notes, ...$notes] as $note) {
            $this->assertSame(200, $shop->notify($note)->status, $shop->log());
        }
        $month = self::dated($shop);
        $page = self::part('Revenue and refunds', $shop->page("/dashboard?$month"));
        // 6 items of 0.99; refunded 1 of 0.99 and half of 3 of 0.99, rounded once: 2.475 is 2.48.
        $this->assertStringContainsString('<th scope="row">EUR</th><td class="n">5.94</td><td class="n">2.48</td><td class="n">3.46</td>', $page);
        $this->assertStringContainsString('<th scope="row">JPY</th><td class="n">500</td><td class="n">0</td><td class="n">500</td>', $page);
        $this->assertStringContainsString('<th scope="row">' . self::LIFETIME . '</th><td class="n">no price</td>', $page);
        $this->assertStringContainsString('<h2>Revenue and refunds in EUR</h2>', $page);
        $page = $shop->page("/dashboard?$month")->body;
        // Beside every chart there is its text, and a table.
        $this->assertSame(4, substr_count($page, 'role="img" aria-label="'));
        $this->assertSame(4, substr_count($page, '<summary>The same as a table</summary>'));
        $rows = self::csv($shop->page("/export?table=money&$month"));
        $money = [];
        foreach ($rows as [, $what, $product, $items, $sum, $currency]) {
            $money[] = [$what, $product, $items, $sum, $currency];
        }
        sort($money);
        $this->assertSame([['bought', self::COINS, '6', '5.94', 'EUR'], ['bought', self::LIFETIME, '1', '', ''],
            ['bought', self::PREMIUM, '1', '500', 'JPY'], ['refunded', self::COINS, '4', '-2.48', 'EUR'],
            ['what', 'product', 'items', 'money', 'currency']], $money);
        $shop->configure([]);
        $this->assertStringNotContainsString('Money by currency', $shop->page("/dashboard?$month")->body);
    }

    public function testMoneyHasTheDigitsOfItsCurrency(): void
    {
        $expected = [[0, 'EUR', '0.00'], [5, 'EUR', '0.05'], [-109, 'USD', '-1.09'], [500, 'JPY', '500'], [-7, 'JPY', '-7'],
            [1234, 'KWD', '1.234'], [PHP_INT_MAX, 'EUR', '92233720368547758.07']];
        foreach ($expected as [$minor, $currency, $text]) {
            $this->assertSame($text, Money::number($minor, $currency));
        }
        $this->expectException(\UnexpectedValueException::class);
        Money::times(PHP_INT_MAX, 2);
    }

    public function testSubscriptionsThatRenewAgainstThoseThatEnd(): void
    {
        $shop = $this->shop();
        $now = self::now();
        $period = static fn (string $id, string $line, int $from, int $to): string => self::jws(self::line(
            $id,
            $line,
            '--purchased',
            (string) ($now + $from * 1000),
            '--expires',
            (string) ($now + $to * 1000),
            '--set',
            "webOrderLineItemId=\"$id\"",
        ));
        [$a, $b, $c] = [self::id(), self::id(), self::id()];
        $shop->send($period($a, $a, -50, -30), 'ann');
        $this->assertSame([200, 'granted'], $shop->send($period(self::id(), $a, -30, 86_400), 'ann')->said(), $shop->log());
        $shop->send($period($b, $b, -60, -20), 'bob');
        $shop->send($period($c, $c, -300, 86_400), 'eve');
        $refunded = ['--purchased', (string) ($now - 300_000), '--expires', (string) ($now + self::DAY_MS), '--refunded'];
        $shop->notify(self::notification('REFUND', self::line($c, $c, ...$refunded)));
        $shop->send(self::jws(self::bought(self::LIFETIME, 'non-consumable', self::id())), 'ann');
        $month = self::dated($shop);
        $page = self::part('Subscriptions', $shop->page("/dashboard?$month"));
        $this->assertStringContainsString('3 started, 1 renewed or came back, 1 ended, 1 were refunded. Of 2 that were due,'
            . ' 50.0 % renewed, and 50.0 % ended (churn).', $page);
        $this->assertStringContainsString('<th scope="row">premium</th><td class="n">1</td><td class="n">1</td><td class="n">0</td>', $page);
        $sums = [0, 0, 0, 0];
        $rows = self::csv($shop->page("/export?table=subscriptions&$month"));
        $this->assertSame(['begin', 'started', 'renewed', 'ended', 'refunded'], array_shift($rows));
        $this->assertCount((int) gmdate('t', (int) strtotime('yesterday UTC')), $rows);
        foreach ($rows as $row) {
            $sums = array_map(static fn (int $sum, string $more): int => $sum + (int) $more, $sums, array_slice($row, 1));
        }
        $this->assertSame([3, 1, 1, 1], $sums);
    }

    public function testADayOutOfRangeIsRefused(): void
    {
        $shop = $this->shop();
        $first = fn (string $query): string => (string) preg_replace('~.*?<h1>(.*?)</h1>.*~s', '$1', $shop->page("/dashboard?$query")->body);
        $this->assertSame('Requests of Thursday, 1 January 2026', $first('day=2026-01-01'));
        $this->assertSame('Requests of week of 29 December 2025', $first('day=2026-01-01&span=week'));
        $this->assertSame('Requests of February 2024', $first('day=2024-02-29&span=month'));
        $this->assertStringContainsString('value="2024-02-29"', $shop->page('/dashboard?day=2024-02-29')->body);
        $days = ['2007-01-01', '2026-02-30', '2025-02-29', '9999-12-31', '0000-00-00', '-1', 'today', '%27%20OR%201', '2026-1-1',
            '2026-01-01%0A', str_repeat('9', 5000)];
        foreach ($days as $day) {
            foreach (['/dashboard?', '/events?', '/export?table=orders&'] as $path) {
                $reply = $shop->page("{$path}day=$day");
                $this->assertSame(400, $reply->status, $day);
                $this->assertStringStartsWith('No such day', (string) $reply->said()[1]);
            }
        }
        foreach (['year', 'DAY', '', '%27'] as $span) {
            $this->assertSame([400, 'No such span: day, week or month'], $shop->page("/dashboard?span=$span")->said());
        }
        foreach (['', 'x', 'shop_journal', 'orders%27', 'Orders'] as $table) {
            $this->assertSame([400, 'No such table'], $shop->page("/export?table=$table")->said());
        }
        foreach (['0', '-1', '201', '1e3', '%27'] as $page) {
            $this->assertSame(400, $shop->page("/events?page=$page")->status);
        }
    }

    public function testEachRoleSeesWhatItMay(): void
    {
        $shop = $this->shop(['operators' => self::operators()]);
        $expected = ['/dashboard' => 'rea sue kim', '/support?account=ann' => 'rea sue kim', '/events' => 'kim',
            '/export?table=requests' => 'rea sue kim', '/export?table=money' => 'rea sue kim',
            '/export?table=subscriptions' => 'rea sue kim', '/export?table=orders' => 'kim', '/export?table=events' => 'kim'];
        foreach ($expected as $path => $names) {
            foreach (['rea', 'sue', 'kim'] as $name) {
                $reply = $shop->page($path, login: "$name:" . RunningShop::PASSWORD);
                $this->assertSame(str_contains($names, $name) ? 200 : 403, $reply->status, "$path $name " . $shop->log());
            }
            $this->assertSame(401, $shop->page($path, login: 'kim:wrong')->status);
            $this->assertSame(401, $shop->read($path)->status, 'a customer\'s token');
        }
        // Links lead only to what the role may see.
        $this->assertStringNotContainsString('table=orders', $shop->page('/dashboard', login: 'sue:' . RunningShop::PASSWORD)->body);
        $this->assertStringNotContainsString('href="/events', $shop->page('/support', login: 'sue:' . RunningShop::PASSWORD)->body);
        foreach (['table=orders', 'href="/events"'] as $link) {
            $this->assertStringContainsString($link, $shop->page('/dashboard')->body);
        }
        // A refusal is in the log, too.
        $rows = self::csv($shop->page('/export?table=events'));
        $found = array_map(static fn (array $row): array => [$row[1], $row[2], $row[4], $row[6]], $rows);
        $this->assertContains(['export', 'sue', 'orders', 'refused: Not allowed'], $found);
        $this->assertContains(['events', 'rea', '', 'refused: Not allowed'], $found);
        $this->assertContains(['export', 'kim', 'orders', '0 rows'], $found);
    }

    public function testTheEventLogHasEachNotificationOnce(): void
    {
        $shop = $this->shop();
        $shop->send(self::jws(self::coins($id = self::id())));
        $refund = self::notification('REFUND', self::coins($id, '--refunded'));
        $shop->pdo()->exec('ALTER TABLE shop_event RENAME TO shop_away');
        // Without its row in the log Apple hears no 200, and sends the notification again.
        $this->assertSame(503, $shop->notify($refund)->status);
        $shop->pdo()->exec('ALTER TABLE shop_away RENAME TO shop_event');
        foreach ($shop->all(array_fill(0, 4, ['/v1/notifications', ['signedPayload' => $refund], null])) as $reply) {
            $this->assertSame(200, $reply->status, $shop->log());
        }
        $this->assertSame([], $shop->coins());
        $this->assertSame(400, $shop->notify(self::forged($refund))->status);
        $unknown = self::notification('REFUND', self::bought('com.example.app.new', 'consumable', self::id(), '--refunded'));
        $this->assertSame(200, $shop->notify($unknown)->status);
        // Today has what Apple and the operators did, the month of the purchase all else.
        $rows = self::csv($shop->page('/export?table=events'));
        $notes = array_values(array_filter($rows, static fn (array $row): bool => $row[1] === 'REFUND'));
        $this->assertCount(2, $notes);
        $this->assertContains($id, array_column($notes, 4));
        $page = $shop->page('/events')->body;
        foreach (['REFUND', 'export', 'events'] as $text) {
            $this->assertStringContainsString($text, $page);
        }
        $month = self::dated($shop);
        $rows = self::csv($shop->page("/export?table=events&$month"));
        foreach (['bought', 'refunded'] as $what) {
            $this->assertCount(1, array_filter($rows, static fn (array $row): bool => $row[1] === $what && $row[4] === "Production/$id"));
        }
        // Rows beyond a page are on the next ones.
        $insert = $shop->pdo()->prepare("INSERT INTO shop_event VALUES (?, ?, 'TEST', '', '')");
        for ($number = 0; $number < 60; $number++) {
            $insert->execute(["n$number", self::now()]);
        }
        $page = $shop->page('/events')->body;
        $this->assertSame(50, substr_count($page, '<tr role="row"><th scope="row"'));
        $this->assertStringContainsString('page=2', $page);
        $next = $shop->page('/events?page=2')->body;
        $this->assertStringContainsString('The newer ones', $next);
        $this->assertStringContainsString('REFUND', $next);
        $insert->execute(['old', self::now() - 500 * self::DAY_MS]);
        $shop->sweep();
        $this->assertSame(62, (int) $shop->pdo()->query('SELECT COUNT(*) FROM shop_event')->fetchColumn());
    }

    public function testACsvCellIsNoFormula(): void
    {
        $cells = ['=1+1' => "'=1+1", '+cmd|x' => "'+cmd|x", '-2+3' => "'-2+3", '@SUM(A1)' => "'@SUM(A1)", "\t=1" => "' =1",
            "\r=1" => "' =1", ' =1' => "' =1", '＝1' => "'＝1", '-1.09' => '-1.09', '-7' => '-7', 'a=b' => 'a=b', '|x' => "'|x",
            "a\"b,c\nd" => 'a"b,c d', '' => '', '-' => "'-", "\xff=" => '?='];
        foreach ($cells as $cell => $expected) {
            $rows = explode("\r\n", Csv::of(['x'], [[$cell]]));
            $this->assertCount(3, $rows, $expected);
            $this->assertSame([$expected], str_getcsv($rows[1]));
        }
        $shop = $this->shop();
        $shop->send(self::jws(self::coins(self::id())), '=HYPERLINK("http://x")');
        $rows = self::csv($shop->page('/export?table=orders&' . self::dated($shop)));
        $this->assertSame('\'=HYPERLINK("http://x")', $rows[1][6]);
        $this->assertSame(['purchased', 'environment', 'transaction', 'product', 'quantity', 'state', 'account', 'granted',
            'refunded'], $rows[0]);
    }

    public function testALongExportIsRefusedAndNotCut(): void
    {
        $shop = $this->shop();
        $pdo = $shop->pdo();
        $pdo->exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO shop_event"
            . " SELECT 'n' || i, " . self::now() . ", 'TEST', '', '' FROM n");
        $this->assertSame([400, 'More than 10000 rows: take a shorter span'], $shop->page('/export?table=events')->said());
        // Those of the export that was refused stand in the journal.
        $pdo->exec("DELETE FROM shop_event WHERE id IN ('n1', 'n2', 'n3')");
        $this->assertCount(10_000, self::csv($shop->page('/export?table=events')));
    }
}
