<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

/**
 * Tests of the page Refunds and of the command beside it: a question is kept, answered by what the
 * hooks know, and stands beside what Apple decided (RFA-1, RFA-3, RFA-47, RFA-60, RFA-61).
 */
final class RefundsTest extends ShopTestCase
{
    private const HOOKS = <<<'PHP'
        <?php return new class extends Shop\RefundHooks {
            public function usage(Assay\Ledger\RefundCase $case): ?array
            { return ['consumed' => 30, 'granted' => 100]; }
            public function consent(Assay\Ledger\RefundCase $case): ?array
            { return ['isGiven' => true, 'answeredAtMs' => $case->purchase['purchasedAtMs']]; }
        };
        PHP;
    private const NOTHING = 'Apple waits for no answer.';
    private const NONE_CLOSED = 'No question of this time is closed.';

    /** @var list<string> */
    private array $files = [];

    protected function tearDown(): void
    {
        array_map(unlink(...), $this->files);
        $this->files = [];
        parent::tearDown();
    }

    /** Returns a file of hooks, deleted after the test. */
    private function hooks(string $text = self::HOOKS): string
    {
        $this->files[] = $file = tempnam(sys_get_temp_dir(), 'assay-hooks-');
        file_put_contents($file, $text);

        return $file;
    }

    /** Returns a shop that answers, beside mock Apple, which knows one purchase. */
    private function answering(MockApple $apple, array $settings, array $verifier = []): RunningShop
    {
        return $this->shop($settings + ['appleHosts' => $apple->hosts], $verifier + [
            'appStoreServerApi' => $apple->configuration['appStoreServerApi'],
            'refunds' => ['mode' => 'answer']]);
    }

    private static function apple(string $id): MockApple
    {
        return new MockApple(['product' => self::COINS, 'type' => 'consumable', 'environment' => 'Production',
            'transactionId' => $id, 'purchased' => self::now() - 3_600_000]);
    }

    /** Lets a customer buy and Apple ask about it, and returns the notification. */
    private function asked(RunningShop $shop, string $id): string
    {
        $this->assertSame(200, $shop->send(self::jws(self::coins($id)))->status);
        $more = ['--signed', (string) self::now(), '--set', 'data.consumptionRequestReason="UNINTENDED_PURCHASE"'];
        $asked = self::notification('CONSUMPTION_REQUEST', self::coins($id, ...$more));
        $this->assertSame(200, $shop->notify($asked)->status, $shop->log());

        return $asked;
    }

    private function decided(RunningShop $shop, string $type, string $id, string ...$more): void
    {
        $later = (string) (self::now() + 60_000);
        $told = self::notification($type, self::coins($id, '--signed', $later, ...$more));
        $this->assertSame(200, $shop->notify($told)->status, $shop->log());
    }

    /** Lets the time pass after which another process gets what one has left behind. */
    private static function laterOn(RunningShop $shop): void
    {
        $shop->pdo()->exec('UPDATE assay_refund SET lease_expires_at_ms = 1 WHERE lease_expires_at_ms > 1');
    }

    /** @return array{int, string} */
    private function answered(RunningShop $shop): array
    {
        $done = $shop->command('refunds');

        return [$done->code, $done->out];
    }

    private function assertShows(RunningShop $shop, string ...$parts): void
    {
        $reply = $shop->page('/refunds');
        $this->assertSame(200, $reply->status, $shop->log());
        $text = html_entity_decode(strip_tags((string) strstr($reply->body, '<main>')));
        foreach ($parts as $part) {
            $this->assertStringContainsString($part, $text);
        }
    }

    public function testAShopThatIsNotSetUpSendsNothingAndSaysSo(): void
    {
        $shop = $this->shop();
        $this->assertShows($shop, self::NOTHING, self::NONE_CLOSED, 'The shop is in record mode');
        $this->assertSame([0, ''], $this->answered($shop));

        $asked = $this->asked($shop, $id = self::id());
        $this->assertSame(200, $shop->notify($asked)->status);
        $without = 'Only with the customer\'s own consent may anything be sent. (RFA-20)';
        $this->assertShows(
            $shop,
            "Production $id",
            ' min left',
            "Nothing is said. $without",
            'Delivery: delivered. The shop has granted it. (RFA-23)',
            'Used: not said. The shop has no meter of it. (RFA-30)',
            'Our wish: not said. Nothing speaks for a refund, or against it. (RFA-39)',
            self::NONE_CLOSED,
        );
        $this->assertStringNotContainsString($id, $shop->page('/balance')->body);
        [$code, $out] = $this->answered($shop);
        $this->assertSame(0, $code);
        $begin = preg_quote("Production  $id  " . self::COINS . '  ');
        $this->assertMatchesRegularExpression("/^{$begin}11 h 5\d min left  silent: " . preg_quote($without) . '$/', trim($out));
        $this->assertShows($shop, self::NOTHING, "Nothing was said. $without", 'Nothing yet');

        $this->decided($shop, 'REFUND_DECLINED', $id);
        $this->assertShows($shop, "Nothing was said. $without", 'Not refunded');
        $this->assertSame(200, $shop->notify($asked)->status);
        $this->assertSame([0, ''], $this->answered($shop));
    }

    public function testInRecordModeItSaysWhatItWouldSend(): void
    {
        $apple = self::apple($id = self::id());
        $shop = $this->answering($apple, ['refundHooks' => $this->hooks()], ['refunds' => ['mode' => 'record']]);
        $this->asked($shop, $id);
        $would = 'The shop only records: nothing is sent. (RFA-14)';
        $this->assertShows($shop, 'The shop is in record mode', "Nothing is said. $would", 'Used: 30 %.');
        $this->assertStringContainsString("silent, would be sent: $would", $this->answered($shop)[1]);
        $this->assertShows($shop, "Nothing was said. $would", 'Used: 30 %.', 'Our wish: a refund of what was not used.');
        $this->assertSame([], $apple->log());
    }

    public function testAnAnswerStandsBesideWhatAppleDecided(): void
    {
        $apple = self::apple($id = self::id());
        $shop = $this->answering($apple, ['refundHooks' => $this->hooks()]);
        $this->assertStringNotContainsString('<h2>Nothing is sent', $shop->page('/refunds')->body);
        $this->asked($shop, $id);
        $this->assertShows(
            $shop,
            'Is sent. The customer has consented. (RFA-13)',
            'Used: 30 %. The shop\'s meter says it. (RFA-29)',
            'Our wish: a refund of what was not used. A part of it was used. (RFA-37)',
        );
        [$code, $out] = $this->answered($shop);
        $this->assertSame([0, 'sent'], [$code, substr(trim($out), -4)], $out . $shop->log());
        $this->assertSame(["api.storekit.apple.com /inApps/v2/transactions/consumption/$id"], $apple->log());
        $this->assertSame([0, ''], $this->answered($shop));

        $half = self::jws(self::coins($id, '--refunded', '--set', 'revocationPercentage=33333'));
        $this->decided($shop, 'REFUND', $id, '--set', "data.signedTransactionInfo=\"$half\"");
        $this->assertShows($shop, self::NOTHING, 'Sent. The customer has consented.', 'Refunded 33.333 %');
        $this->assertShows($shop, 'Answered0100');
    }

    public function testAHookThatFailsLeavesTheCaseOpen(): void
    {
        $apple = self::apple($id = self::id());
        $shop = $this->answering($apple, ['refundHooks' => $file = $this->hooks()]);
        $this->asked($shop, $id);
        $bad = array_map(
            static fn (string $body): string => str_replace("{ return ['isGiven'", "{ $body ['isGiven'", self::HOOKS),
            ['throw new RuntimeException("secret"); return', 'return ["isGiven" => "yes"]; return', 'return 5 .'],
        );
        foreach ([...$bad, '<?php return 5;'] as $text) {
            file_put_contents($file, $text);
            $this->assertShows($shop, 'Not known.', 'The question stays open.');
            [$code, $out] = $this->answered($shop);
            $this->assertSame(3, $code, $out);
            $this->assertStringContainsString('stays open', $out);
            $this->assertStringNotContainsString('secret', $out . $shop->log());
            self::laterOn($shop);
        }
        file_put_contents($file, self::HOOKS);
        $this->assertStringContainsString('sent', $this->answered($shop)[1]);
        $this->assertCount(1, $apple->log());
        $this->assertStringContainsString('of refundHooks returns no Shop', $shop->log());
        $this->assertStringContainsString('malformed.refund.input', $shop->log());
    }

    public function testWhatAppleDoesNotTakeComesAgainOrNeedsAPerson(): void
    {
        $apple = self::apple($id = self::id());
        $shop = $this->answering($apple, ['refundHooks' => $this->hooks()]);
        $this->asked($shop, $id);
        foreach ([[['status' => 401], 3], [['status' => 503], 75]] as [$fault, $code]) {
            $apple->play('script', [['host' => 'api.storekit.apple.com', 'nth' => 'every', 'fault' => $fault]]);
            [$exit, $out] = $this->answered($shop);
            $this->assertSame($code, $exit, $out);
            $this->assertStringContainsString('stays open: ', $out);
            $this->assertShows($shop, 'Is sent.', self::NONE_CLOSED);
            self::laterOn($shop);
        }
        $apple->play('script', [['host' => 'api.storekit.apple.com', 'nth' => 'every',
            'fault' => ['errorCode' => 4000006]]]);
        [$exit, $out] = $this->answered($shop);
        $this->assertSame(3, $exit);
        $this->assertStringContainsString('failed: rejected.app-store.', $out);
        $this->assertShows($shop, 'Sending failed', 'rejected.app-store.');
    }

    public function testARestrictedAccountHasNoConsent(): void
    {
        $apple = self::apple($id = self::id());
        $shop = $this->answering($apple, ['refundHooks' => $this->hooks()], [
            'ledger' => ['customerKey' => base64_encode(random_bytes(32))]]);
        $this->asked($shop, $id);
        $this->assertShows($shop, 'Is sent.');
        $withdrawn = self::notification('RESCIND_CONSENT', ['--environment', 'Production']);
        $this->assertSame(200, $shop->notify($withdrawn)->status, $shop->log());
        $this->assertShows($shop, 'Nothing is said.', '(RFA-21)');
        $this->assertStringContainsString('(RFA-21)', $this->answered($shop)[1]);
        $account = $shop->read('/v1/account');
        $this->assertSame([200, 'free'], [$account->status, json_decode($account->body)->plan], $account->body);
        $this->assertSame([], $apple->log());
    }

    public function testAPageHasAHundredCasesOfEachKind(): void
    {
        $shop = $this->shop(['operators' => ['lee' => [
            'hash' => password_hash(RunningShop::PASSWORD, PASSWORD_BCRYPT, ['cost' => 4]), 'role' => 'reader']]]);
        $this->asked($shop, self::id());
        $columns = 'environment, bundle_id, transaction_id, original_transaction_id, product, type, ownership,'
            . ' reason, purchased_at_ms, is_trial, is_advanced_commerce, notification_id, asked_at_ms';
        foreach (['open' => '', 'silent' => 'RFA-20 RFA-23 RFA-30 RFA-39'] as $state => $rules) {
            $shop->pdo()->exec("WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 101)"
                . " INSERT INTO assay_refund (id, $columns, state, attempt_id, lease_expires_at_ms, rules, outcome,"
                . " outcome_at_ms) SELECT 'Production/$state' || n, $columns, '$state', '', 0, '$rules', '', 0"
                . ' FROM n JOIN (SELECT * FROM assay_refund LIMIT 1)');
        }
        $lee = 'lee:' . RunningShop::PASSWORD;
        $page = $shop->page('/refunds', login: $lee)->body;
        $this->assertStringContainsString('<p>The oldest 100 of 102.</p>', $page, $shop->log());
        $this->assertStringContainsString('<p>The newest 100 of 101.</p>', $page);
        $this->assertSame(200, substr_count($page, '<th scope="row" role="rowheader">'));
    }

    public function testWithoutHooksOrAKeyThePageSaysWhy(): void
    {
        $mode = ['refunds' => ['mode' => 'answer']];
        $this->assertShows($this->shop([], $mode), 'Nobody has told the shop where the consent');
        $shop = $this->shop(['refundHooks' => $this->hooks()], $mode);
        $this->assertShows($shop, 'no key for the App Store Server API');
        $this->asked($shop, self::id());
        [$code, $out] = $this->answered($shop);
        $this->assertSame(3, $code, $out);
        $this->assertStringContainsString('stays open: config.', $out);
        $this->assertSame(401, $shop->page('/refunds', login: 'kim:wrong')->status);
        $this->assertSame(405, $shop->page('/refunds', ['do' => 'send'])->status);
        $this->assertSame(400, $shop->page('/refunds?span=year')->status);
    }
}
