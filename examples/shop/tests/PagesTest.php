<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** Tests of what operators can see and do (BCK-24, BCK-39, LST-2 … 7). */
final class PagesTest extends ShopTestCase
{
    public function testOnlyOperatorsSeeThePages(): void
    {
        $shop = $this->shop();
        foreach (['/support', '/dashboard', '/support?account=ann'] as $path) {
            foreach (['kim:wrong', 'nobody:' . RunningShop::PASSWORD, ':', 'kim:'] as $login) {
                $page = $shop->page($path, login: $login);
                $this->assertSame([401, 'Unauthorized'], $page->said(), $login);
                $this->assertStringStartsWith('Basic ', $page->headers['www-authenticate']);
            }
            $this->assertSame(401, $shop->request('GET', $path)->status);
            $this->assertSame(200, $shop->page($path)->status, $shop->log());
        }
        // A customer's token is not valid here, and an operator's login not there.
        $this->assertSame(401, $shop->post('/support', 'do=grant', RunningShop::token('ann'))->status);
        $this->assertSame(401, $shop->page('/v1/receipts', ['evidence' => 'x'])->status);
    }

    /** Asserts that no hash is made without a login: one of this cost would take days. */
    public function testARequestWithoutALoginCostsNoHash(): void
    {
        $hash = '$2y$31$' . substr(password_hash('x', PASSWORD_BCRYPT, ['cost' => 4]), 7);
        $shop = $this->shop(['operators' => ['kim' => $hash]]);
        foreach (['/support', '/dashboard'] as $path) {
            $this->assertSame([401, 'Unauthorized'], $shop->request('GET', $path)->said());
            foreach ([':', 'kim:', ':' . RunningShop::PASSWORD] as $login) {
                $this->assertSame(401, $shop->page($path, login: $login)->status);
            }
        }
        $shop->loseDatabase();
        $this->assertSame(401, $shop->request('GET', '/dashboard')->status, 'and no database');
    }

    public function testAnUnknownActionDoesNothing(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $form = ['account' => 'ann', 'reason' => 'x', 'evidence' => $jws, 'seal' => $this->seal($shop)];
        foreach (['typo', '', 'Grant', 'GRANT', 'grant2'] as $do) {
            $this->assertSame([400, 'Unknown action'], $shop->page('/support', ['do' => $do] + $form)->said());
        }
        $this->assertSame(400, $shop->page('/support', $form)->status);
        $this->assertSame([], $shop->coins());
        $entry = ['kim', 'unknown', 'ann', '', 'x', 'refused: Unknown action'];
        $this->assertContains($entry, self::journal($shop->page('/support?account=ann')->body));
    }

    public function testWhoMayLookMayNotGrant(): void
    {
        $hash = password_hash(RunningShop::PASSWORD, PASSWORD_BCRYPT, ['cost' => 4]);
        $shop = $this->shop(['grants' => 'lease', 'operators' => [
            'kim' => ['hash' => $hash, 'role' => 'support'], 'lee' => ['hash' => $hash, 'role' => 'reader']]]);
        $lee = 'lee:' . RunningShop::PASSWORD;
        $jws = self::jws(self::coins($id = self::id(), '--signed', (string) (self::now() - 3_600_000)));
        $claim = $shop->ledger(self::now() - 120_000)->claim($jws, 'ann')->claims[0];
        $page = $shop->page('/support?account=ann', login: $lee);
        $this->assertStringContainsString("Production $id", $page->body);
        $this->assertStringNotContainsString('value="grant"', $page->body);
        $this->assertStringNotContainsString('value="resume"', $page->body);
        $this->assertSame(200, $shop->page('/dashboard', login: $lee)->status);
        $seal = $this->seal($shop, $lee);
        $forms = ['grant' => ['evidence' => $jws], 'resume' => ['purchase' => $claim->purchaseKey], 'order' => ['order' => 'M1']];
        foreach ($forms as $do => $more) {
            $reply = $shop->page('/support', $more + ['do' => $do, 'account' => 'ann', 'reason' => 'please', 'seal' => $seal], $lee);
            $this->assertSame([403, 'Not allowed'], $reply->said(), $do);
        }
        $this->assertSame([], $shop->coins());
        $look = ['do' => 'look', 'account' => 'ann', 'evidence' => $jws, 'seal' => $seal];
        $this->assertStringContainsString('Claimed, and not delivered', $shop->page('/support', $look, $lee)->body);
        // A form of another operator is refused.
        $this->assertSame(403, $shop->page('/support', $look)->status);
        $said = $shop->page('/support?account=ann')->body;
        foreach (
            [['lee', 'look', 'ann', '', '', 'resume'], ['lee', 'grant', 'ann', '', 'please', 'refused: Not allowed'],
            ['kim', 'look', 'ann', '', '', 'refused: Open the page again']] as $entry
        ) {
            $this->assertContains($entry, self::journal($said));
        }
    }

    public function testLst7WhoDidWhatAndWhyStandsOnThePage(): void
    {
        $shop = $this->shop(['grants' => 'lease'], ['ledger' => ['forgetKey' => base64_encode(random_bytes(32))]]);
        $claim = $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000))),
            'bob-account',
        )->claims[0];
        $form = ['do' => 'resume', 'purchase' => $claim->purchaseKey, 'account' => 'bob-account',
            'reason' => 'ticket <7>', 'seal' => $this->seal($shop)];
        $shop->page('/support', $form);
        $page = $shop->page('/support?account=bob-account')->body;
        foreach ([['resume', 'granted'], ['paid', '1 units, 100 coins']] as [$action, $outcome]) {
            $this->assertContains(['kim', $action, 'bob-account', $claim->purchaseKey, 'ticket &lt;7&gt;', $outcome], self::journal($page));
        }
        $this->assertStringContainsString('bob-account', $shop->page('/support')->body);
        $this->assertSame(['bob-account' => 100], $shop->coins());
        $this->assertSame(0, $shop->command('forget', 'bob-account')->code);
        $page = $shop->page('/support')->body;
        $this->assertStringNotContainsString('bob-account', $page);
        $this->assertStringNotContainsString('ticket', $page);
        $this->assertContains(['kim', 'resume', '', '', '', 'granted'], self::journal($page));
    }

    /** Asserts that an action is not run if the journal cannot be written. */
    public function testWithoutAJournalNothingIsDone(): void
    {
        $shop = $this->shop();
        $form = ['do' => 'grant', 'account' => 'ann', 'reason' => 'x', 'seal' => $this->seal($shop),
            'evidence' => self::jws(self::coins(self::id()))];
        $shop->pdo()->exec('DROP TABLE shop_journal');
        $this->assertSame(503, $shop->page('/support', $form)->status);
        $this->assertSame(503, $shop->page('/support?account=ann')->status);
        $this->assertSame([], $shop->coins());
    }

    /**
     * Asserts that what an operator pays stands together with the entry of who paid it and why, or
     * that neither stands (BCK-39).
     *
     * @dataProvider modes
     */
    public function testThePaymentAndItsAuditRowAreOneTransaction(string $grants): void
    {
        $shop = $this->shop(['grants' => $grants]);
        $pdo = $shop->pdo();
        $form = ['do' => 'grant', 'account' => 'ann', 'reason' => 'ticket 5', 'seal' => $this->seal($shop),
            'evidence' => self::jws(self::coins($id = self::id()))];
        $pdo->exec("CREATE TRIGGER no_audit BEFORE INSERT ON shop_journal WHEN NEW.action = 'paid'"
            . " BEGIN SELECT RAISE(ABORT, 'no room'); END");
        $this->assertSame(503, $shop->page('/support', $form)->status);
        $this->assertSame([], $shop->coins());
        $this->assertSame(0, (int) $pdo->query('SELECT COUNT(*) FROM shop_wallet')->fetchColumn());
        $claim = $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000))),
            'bob',
        )->claims[0];
        $resume = ['do' => 'resume', 'purchase' => $claim->purchaseKey, 'account' => 'bob'] + $form;
        $this->assertSame(503, $shop->page('/support', $resume)->status);
        $this->assertSame([], $shop->coins());
        // The attempt is in the journal all the same: it was written before.
        $entry = ['kim', 'grant', 'ann', '', 'ticket 5', 'begun'];
        $this->assertContains($entry, self::journal($shop->page('/support?account=ann')->body));
        $pdo->exec('DROP TRIGGER no_audit');
        $pdo->exec("UPDATE assay_purchase SET lease_expires_at_ms = 1 WHERE state = 'claimed'");
        $handle = fn (): array => ['/support', http_build_query($form), null];
        $statuses = array_column($shop->asOperator(array_fill(0, 4, $handle())), 'status');
        $this->assertSame([200, 200, 200, 200], $statuses, $shop->log());
        $this->assertSame(['ann' => 100], $shop->coins());
        $rows = $pdo->query("SELECT operator, account, subject, reason, outcome FROM shop_journal WHERE action = 'paid'")
            ->fetchAll(\PDO::FETCH_NUM);
        $this->assertSame([['kim', 'ann', "Production/$id", 'ticket 5', '1 units, 100 coins']], $rows);
        $this->assertContains(['kim', 'paid', 'ann', "Production/$id", 'ticket 5', '1 units, 100 coins'], self::journal(
            $shop->page('/support?account=ann')->body,
        ));
    }

    /** @return iterable<string, array{string}> */
    public function modes(): iterable
    {
        yield 'in a transaction' => ['transaction'];
        yield 'under a lease' => ['lease'];
    }

    /** Asserts that typed text is a value, and never part of a statement or of the page. */
    public function testASearchIsNoStatement(): void
    {
        $shop = $this->shop();
        $shop->send(self::jws(self::coins($id = self::id())));
        $texts = ["' OR '1'='1", '%', '_', 'a%', "'; DROP TABLE shop_wallet; --", '"', '\\', "ann' --", '<img src=x onerror=alert(1)>',
            "ann\0", str_repeat('x', 300), 'ANN', "1' UNION SELECT hash--"];
        foreach ($texts as $text) {
            foreach (['account', 'order', 'transaction'] as $field) {
                $reply = $shop->page('/support?' . http_build_query([$field => $text]));
                $this->assertSame(200, $reply->status, "$field $text " . $shop->log());
                if ($text !== "ann\0") {
                    $this->assertStringNotContainsString("Production $id", $reply->body, "$field $text");
                }
                $this->assertDoesNotMatchRegularExpression('/<img|<script/i', $reply->body);
            }
        }
        $this->assertStringContainsString("Production $id", $shop->page('/support?account=ann')->body);
        $this->assertSame(['ann' => 100], $shop->coins());
    }

    public function testOrdersThatWaitForAPersonAreShownAtTheStart(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $this->assertStringNotContainsString('<h2>Orders</h2>', $shop->page('/support')->body);
        $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins($id = self::id(), '--signed', (string) (self::now() - 3_600_000))),
            'ann',
        );
        $page = $shop->page('/support')->body;
        foreach (["Production $id", '</span>ann</td>', 'value="resume"'] as $text) {
            $this->assertStringContainsString($text, $page);
        }
        $shop->sweep();
        $this->assertStringNotContainsString("Production $id", $shop->page('/support')->body);
    }

    public function testLst2AnAccountIsSeenWholeAndTheWorstFirst(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $old = $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins($first = '700000000000000', '--signed', (string) (self::now() - 3_600_000))),
            'many',
        )->claims[0];
        $shop->send(Minted::get()->mint('app-receipt', '--purchases', '60', ...self::line($id = self::id(), $id)), 'many');
        $page = $shop->page('/support?account=many')->body;
        $this->assertStringContainsString('Claimed, and not delivered', $page);
        $this->assertStringNotContainsString('role="status"><p>It was delivered', $page);
        $this->assertStringContainsString('1–50 of 61 purchases: 1 claimed, 60 granted.', $page);
        $this->assertStringContainsString("value=\"$old->purchaseKey\"", $page);
        $next = $shop->page('/support?account=many&page=2')->body;
        $this->assertStringContainsString('51–61 of 61 purchases', $next);
        preg_match_all('/<br>Production ([0-9]+)</', $page . $next, $found);
        $this->assertCount(61, array_unique($found[1]));
        $this->assertSame($first, $found[1][0]);
        $this->assertStringContainsString('page=2', $page);
        $this->assertSame(200, $shop->page('/support?account=many&page=-1')->status);
        $this->assertSame(200, $shop->page('/support?account=many&page=99999999999999999999')->status);
    }

    public function testLst7AfterALookTheEvidenceIsStillThere(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $form = ['do' => 'look', 'account' => 'ann', 'evidence' => $jws, 'seal' => $this->seal($shop)];
        $page = $shop->page('/support', $form)->body;
        $this->assertStringContainsString("required>$jws</textarea>", $page);
        $this->assertStringContainsString('value="ann"', $page);
    }

    /** Asserts that a receipt with one claimed purchase is not reported as delivered (LST-2). */
    public function testLst2AReceiptIsSeenWhole(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $receipt = Minted::get()->mint('app-receipt', '--purchases', '60', ...self::line($id = self::id(), $id));
        $form = ['do' => 'look', 'account' => '', 'evidence' => $receipt, 'seal' => $this->seal($shop)];
        $page = $shop->page('/support', $form)->body;
        $this->assertSame(60, substr_count($page, '<strong class="wait">unused</strong>'), $shop->log());
        $this->assertStringContainsString('never used', $page);
        $shop->send($receipt);
        $shop->pdo()->exec("UPDATE assay_purchase SET state = 'claimed', granted_at_ms = NULL, lease_expires_at_ms = 1"
            . ' WHERE purchase_key = (SELECT max(purchase_key) FROM assay_purchase)');
        $page = $shop->page('/support', $form)->body;
        $this->assertStringContainsString('<section class="wait" role="status"><p>Claimed, and not delivered', $page);
        $this->assertSame(59, substr_count($page, '<strong class="good">granted</strong>'));
        $unknown = self::jws(self::bought('com.example.app.new', 'consumable', self::id()));
        $page = $shop->page('/support', ['evidence' => $unknown] + $form)->body;
        $this->assertStringContainsString('a product that is not in the catalogue', $page);
    }

    public function testNothingOnThePagesComesFromElsewhere(): void
    {
        $shop = $this->shop();
        $shop->send(self::jws(self::coins(self::id())), '<script>alert(1)</script>');
        foreach (['/support?account=%3Cscript%3Ealert(1)%3C/script%3E&order=%22%3E%3Cb%3E', '/dashboard'] as $path) {
            $page = $shop->page($path);
            $this->assertStringContainsString("default-src 'none'", $page->headers['content-security-policy']);
            $this->assertStringStartsWith('text/html', $page->headers['content-type']);
            $this->assertDoesNotMatchRegularExpression('/<script|<b>|https?:|src=|style="|@import/i', $page->body);
        }
    }

    public function testLst2WhatSupportIsTold(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::coins($id, '--quantity', '2')));
        $expected = [
            '/support?account=ann' => ['It was delivered', "2 × com.example.app.coins100", "Production $id"],
            "/support?transaction=$id" => ['</span>ann</td>'],
            "/support?transaction=$id&account=bob" => ['Used by another account', '</span>ann</td>'],
            '/support?transaction=999999999999999' => ['A number alone proves nothing'],
            '/support?order=MK5TTTVWJH' => ['Nobody could be asked'],
            '/support?account=bob' => ['A number alone proves nothing'],
        ];
        foreach ($expected as $path => $texts) {
            $page = $shop->page($path);
            foreach ($texts as $text) {
                $this->assertStringContainsString($text, $page->body, $path);
            }
        }
        $shop->notify(self::notification('REFUND', self::coins($id, '--refunded')));
        $this->assertStringContainsString('Apple paid it back', $shop->page("/support?transaction=$id")->body);
    }

    public function testLst7AGrantByHandIsThroughTheSameGate(): void
    {
        $shop = $this->shop();
        $jws = self::jws(self::coins(self::id()));
        $form = ['do' => 'grant', 'account' => 'ann', 'reason' => 'ticket 17', 'evidence' => $jws,
            'seal' => $this->seal($shop)];
        $said = fn (array $change): string => $shop->page('/support', $change + $form)->body;
        $this->assertStringContainsString('reason are needed', $said(['reason' => ' ']));
        $this->assertStringContainsString('Refused: malformed', $said(['evidence' => '']));
        $this->assertStringContainsString('Refused: rejected', $said(['evidence' => self::forged($jws)]));
        $this->assertStringContainsString('never used', $said(['do' => 'look']));
        $this->assertSame([], $shop->coins());
        $this->assertStringContainsString('The answer is: granted', $said([]));
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertStringContainsString('</span>kim: ticket 17</td>', $shop->page('/support?account=ann')->body);
        // Neither the next restore nor the next grant delivers it again.
        $this->assertSame([200, 'already-granted'], $shop->send($jws)->said());
        $this->assertStringContainsString('already-granted', $said([]));
        $this->assertStringContainsString('refused-final', $said(['account' => 'bob']));
        $this->assertStringContainsString('Used by another account', $said(['do' => 'look', 'account' => 'bob']));
        $this->assertSame(['ann' => 100], $shop->coins());
    }

    public function testLst2AClaimIsResumedOnce(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $id = self::id();
        $shop->ledger(self::now() - 120_000)->claim(
            self::jws(self::coins($id, '--signed', (string) (self::now() - 3_600_000))),
            'ann',
        );
        $page = $shop->page("/support?transaction=$id");
        $this->assertStringContainsString('Claimed, and not delivered', $page->body);
        preg_match('/name="purchase" value="([^"]+)"/', $page->body, $found);
        $form = ['do' => 'resume', 'purchase' => $found[1], 'account' => 'ann', 'reason' => 'he called',
            'seal' => $this->seal($shop)];
        $this->assertStringContainsString('granted', $shop->page('/support', $form)->body, $shop->log());
        $this->assertStringContainsString('already-granted', $shop->page('/support', $form)->body);
        $this->assertSame(['ann' => 100], $shop->coins());
        $this->assertStringContainsString('refused-final', $shop->page('/support', ['account' => 'bob'] + $form)->body);
    }

    public function testAnotherSiteCannotSendAForm(): void
    {
        $shop = $this->shop();
        $form = ['do' => 'grant', 'account' => 'ann', 'reason' => 'x', 'evidence' => self::jws(self::coins(self::id()))];
        foreach ([[], ['seal' => ''], ['seal' => str_repeat('0', 64)]] as $seal) {
            $this->assertSame(403, $shop->page('/support', $form + $seal)->status);
        }
        $this->assertSame([], $shop->coins());
    }

    public function testBck24TheSumOfADayIsItsRequests(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $line = self::id();
        $jws = self::jws(self::coins($id));
        $receipt = self::receipt(self::coins(self::id()));
        $sent = [
            'granted' => [[$jws, 'ann'], [self::jws(self::line($line, $line)), 'ann'], [$receipt, 'ann']],
            'already-granted' => [[$jws, 'ann'], [$receipt, 'ann']],
            'renewed' => [[self::jws(self::line(self::id(), $line, '--set', 'webOrderLineItemId="78"')), 'ann']],
            'other-account' => [[$jws, 'bob']],
            'refused rejected' => [[self::forged($jws), 'ann']],
            'triage cracking-tool' => [[base64_encode('com.urus.iap.72519604'), 'ann'], ['com.urus.iap.1', 'ann']],
            'triage foreign' => [[self::receipt(self::coins(self::id(), '--bundle-id', 'com.example.other')), 'ann']],
            'triage malformed' => [[substr($receipt, 0, 500), 'ann']],
        ];
        $requests = 0;
        foreach ($sent as $all) {
            foreach ($all as [$evidence, $account]) {
                $shop->send($evidence, $account);
                $requests++;
            }
        }
        $shop->notify(self::notification('REFUND', self::coins($id, '--refunded')));
        $shop->send($jws);
        $shop->post('/v1/receipts', '{}', RunningShop::token('ann'));
        $shop->post('/v1/receipts', '{}');
        $requests += 3;
        $page = $shop->page('/dashboard');
        $this->assertStringContainsString("$requests requests.", $page->body);
        $read = 'SELECT name, SUM(requests) FROM shop_tally WHERE kind = ? GROUP BY name ORDER BY name';
        $counted = $shop->pdo()->prepare($read);
        $counted->execute(['outcome']);
        $expected = array_map(count(...), $sent) + ['revoked' => 1, 'no-receipt' => 2];
        ksort($expected);
        $this->assertSame($expected, array_map(intval(...), $counted->fetchAll(\PDO::FETCH_KEY_PAIR)));
        $counted->execute(['triage']);
        $classes = array_map(intval(...), $counted->fetchAll(\PDO::FETCH_KEY_PAIR));
        $this->assertSame(1, $classes['repeated']);
        $this->assertSame($requests - 2, array_sum($classes));
        foreach ([...array_keys($expected), ...array_keys($classes)] as $name) {
            $this->assertStringContainsString("<th scope=\"row\">$name <", $page->body);
        }
        // The five classes of the article, whose sum and the rest are all requests.
        $classes = ['foreign' => 1, 'confirmed' => 4, 'cracking tool' => 2, 'repeated' => 4, 'unconfirmed' => 2];
        foreach ($classes as $class => $count) {
            $this->assertMatchesRegularExpression(
                "~<th scope=\"row\">$class <.*?</th><td class=\"n\">$count</td><td class=\"n\">[0-9.]+ %</td>~",
                $page->body,
            );
        }
        $this->assertStringContainsString('2 of them are of no class', $page->body);
        $this->assertSame($requests - 2, array_sum($classes));
        $this->assertStringContainsString('0 requests.', $shop->page('/dashboard?day=2020-01-01')->body);
        foreach (['week', 'month'] as $span) {
            $this->assertStringContainsString("$requests requests.", $shop->page("/dashboard?span=$span")->body);
        }
    }

    /** @return list<list<string>> the entries of a page's journal: who, what, account, subject, why, outcome */
    private static function journal(string $page): array
    {
        preg_match_all('~<tr role="row">.*?</tr>~', (string) strstr($page, 'What operators did'), $rows);

        return array_map(static function (string $row): array {
            preg_match_all('~role="cell">(?:<span[^>]*>[^<]*</span>)?(.*?)</td>~', $row, $cells);

            return $cells[1];
        }, $rows[0]);
    }
}
