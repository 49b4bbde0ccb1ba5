<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\Configuration;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Ledger\Take;
use PDO;
use PHPUnit\Framework\TestCase;

/** Tests of a shop's ledger, from what the app sent to the row in its wallet. */
class LedgerTest extends TestCase
{
    use Refusals;

    protected string $folder;
    protected int $now;

    protected function setUp(): void
    {
        $this->prepare();
        $this->now = (int) (microtime(true) * 1000);
        $this->pdo()->exec($this->wallet());
    }

    protected function prepare(): void
    {
        $this->folder = sys_get_temp_dir() . '/assay-ledger-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
    }

    protected function tearDown(): void
    {
        array_map(unlink(...), (array) glob("$this->folder/*"));
        rmdir($this->folder);
    }

    protected function wallet(): string
    {
        return 'CREATE TABLE wallet (grant_id VARCHAR(64) NOT NULL PRIMARY KEY,'
            . ' account VARCHAR(255) NOT NULL, coins BIGINT NOT NULL)';
    }

    protected function dsn(): string
    {
        return "sqlite:$this->folder/shop.db";
    }

    protected function pdo(): PDO
    {
        return new PDO($this->dsn());
    }

    /** @param array<string, mixed> $stores */
    protected function ledger(array $stores = [], array $more = []): Ledger
    {
        $configuration = Minted::get()->configuration($more);

        $ledger = Ledger::open(
            $this->dsn(),
            $configuration + ($stores === [] ? [] : ['ledger' => $stores]),
            clock: fn (): int => $this->now,
        );
        $ledger->createSchema();

        return $ledger;
    }

    protected static function pay(Grant $grant, object $pdo): void
    {
        $pdo->prepare('INSERT INTO wallet VALUES (?,?,?)')
            ->execute([$grant->grantId, $grant->account, 100 * $grant->quantity]);
    }

    /** @return array<string, int> account => coins */
    protected function coins(): array
    {
        $rows = $this->pdo()->query(
            'SELECT account, SUM(coins) FROM wallet GROUP BY account ORDER BY account',
        );

        return array_map(intval(...), $rows->fetchAll(PDO::FETCH_KEY_PAIR));
    }

    public function testAPurchaseIsPaidOutOnce(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins('--quantity', '2');
        $claimed = $ledger->claim($jws, 'ann', self::pay(...));
        $this->assertTrue($claimed->ok, $claimed->status);
        $this->assertSame(['granted', 200], [$claimed->clientResult, $claimed->httpStatus]);
        $this->assertTrue($claimed->changed);
        $this->assertSame('com.example.app.coins100', $claimed->claims[0]->product);
        $this->assertSame([], $claimed->grants());
        $this->assertSame(['ann' => 200], $this->coins());

        $again = $this->ledger()->claim($jws, 'ann', self::pay(...));
        $this->assertSame(
            ['already-granted', 'rejected.purchase.already-granted', 200, false],
            [$again->clientResult, $again->status, $again->httpStatus, $again->changed],
        );
        $other = $ledger->claim($jws, 'bob', self::pay(...));
        $this->assertSame(['refused-final', 409], [$other->clientResult, $other->httpStatus]);
        $this->assertSame(['ann' => 200], $this->coins());
    }

    public function testFactsAreEvidence(): void
    {
        $ledger = $this->ledger();
        $fact = $ledger->verifier->verifyTransaction(Minted::get()->coins(), $this->now);
        foreach ([$fact, $fact->document(), [$fact]] as $place => $evidence) {
            $claimed = $ledger->claim($evidence, 'ann', self::pay(...));
            $this->assertSame($place === 0 ? 'granted' : 'already-granted', $claimed->clientResult);
        }
    }

    public function testAForgedOneReachesNoStore(): void
    {
        $ledger = $this->ledger();
        $jws = substr(Minted::get()->coins(), 0, -4) . 'AAAA';
        $this->expectException(Rejected::class);
        $ledger->claim($jws, 'ann', self::pay(...));
    }

    public function testAGrantThatThrowsIsUndone(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $this->thrown(\DomainException::class, fn () =>
            $ledger->claim($jws, 'ann', static function (Grant $grant, object $pdo): void {
                self::pay($grant, $pdo);
                throw new \DomainException('the shop is closed');
            }));
        $this->assertSame([], $this->coins());
        $no = $ledger->claim($jws, 'ann', static function (Grant $grant, object $pdo): bool {
            self::pay($grant, $pdo);

            return false;
        });
        $this->assertSame(['deferred', 202], [$no->clientResult, $no->httpStatus]);
        $this->assertSame([], $this->coins());
        $this->assertSame('granted', $ledger->claim($jws, 'bob', self::pay(...))->clientResult);
        $this->assertSame(['bob' => 100], $this->coins());
    }

    public function testALease(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $claimed = $ledger->claim($jws, 'ann', self::pay(...), 'lease');
        $this->assertSame(['granted', 'granted'], [$claimed->outcome, $claimed->clientResult]);
        $this->assertTrue($claimed->changed);
        $this->assertSame(['ann' => 100], $this->coins());
        $again = $ledger->claim($jws, 'ann', self::pay(...), 'lease');
        $this->assertSame('already-granted', $again->clientResult);
    }

    public function testAClaimByHand(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $claimed = $ledger->claim($jws, 'ann', attemptId: str_repeat('a', 22));
        [$grant] = $claimed->grants();
        $this->assertSame([null, 'new', 1], [$claimed->clientResult, $claimed->outcome, $grant->fencingToken]);
        $repeated = $ledger->claim($jws, 'ann', attemptId: str_repeat('a', 22));
        $this->assertSame($grant->grantId, $repeated->grants()[0]->grantId);
        $meanwhile = $ledger->claim($jws, 'ann');
        $this->assertSame(['deferred', 202], [$meanwhile->clientResult, $meanwhile->httpStatus]);
        $this->assertGreaterThan(0, $meanwhile->claims[0]->retryAfterMs);
        $completed = $ledger->complete($grant);
        $this->assertSame(['granted', true], [$completed->clientResult, $completed->changed]);
        $this->now += 1;
        $this->assertFalse($ledger->complete($grant)->changed);
    }

    public function testAClaimThatNobodyCompleted(): void
    {
        $ledger = $this->ledger();
        $first = $ledger->claim(Minted::get()->coins(), 'ann')->grants()[0];
        $second = $ledger->claim(Minted::get()->coins(), 'bob')->grants()[0];
        $this->assertSame([], $ledger->resumeExpired()->claims);
        $this->now += 61_000;
        $resumed = $ledger->resume($second->purchaseKey, 'bob', self::pay(...));
        $this->assertSame('granted', $resumed->clientResult);
        $due = $ledger->resumeExpired();
        $this->assertFalse($due->hasMore);
        [$grant] = $due->grants();
        $this->assertSame([$first->grantId, 2], [$grant->grantId, $grant->fencingToken]);
        self::pay($grant, $this->pdo());
        $this->assertSame('superseded', $ledger->complete($first)->outcome);
        $this->assertSame('granted', $ledger->complete($grant)->clientResult);
        $this->assertSame([], $ledger->resumeExpired()->grants());
        $this->assertSame(['ann' => 100, 'bob' => 100], $this->coins());
    }

    public function testSupportFindsIt(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $fact = $ledger->verifier->verifyTransaction($jws, $this->now);
        $this->assertSame('unused', $ledger->find($fact)->outcome);
        $ledger->claim($jws, 'ann', self::pay(...));
        [$row] = $ledger->find(account: 'ann')->rows;
        $this->assertSame(['granted', $fact->transactionId, true, null], [
            $row->state, $row->transactionId, $row->isOwn, $row->operatorView,
        ]);
        $found = $ledger->find(
            environment: $fact->environment,
            transactionId: $fact->transactionId,
            operatorView: true,
        );
        $this->assertSame('ann', $found->rows[0]->operatorView->account);
    }

    /** Asserts that a grant that ends its transaction is refused (STO-38). */
    public function testAGrantThatEndsItsTransactionIsMisuse(): void
    {
        $ledger = $this->ledger();
        foreach ([
            static fn (PDO $pdo) => $pdo->exec('COMMIT'),
            static fn (PDO $pdo) => $pdo->commit(),
        ] as $end) {
            $jws = Minted::get()->coins();
            $pay = static function (Grant $grant, PDO $pdo) use ($end): void {
                self::pay($grant, $pdo);
                $end($pdo);
            };
            $refusal = $this->refused(
                'misuse.ledger.transaction',
                fn () => $ledger->claim($jws, 'ann', $pay),
            );
            $this->assertFalse($refusal->document?->at('exchange.committed'));
            $this->assertSame([], $this->coins());
        }
        $this->assertSame('granted', $ledger->claim($jws, 'ann', self::pay(...))->clientResult);
        $this->assertSame(['ann' => 100], $this->coins());
    }

    /** Asserts that an operation inside a transaction of the host is refused (STO-38). */
    public function testALedgerIsNotPutIntoATransactionOfTheHosts(): void
    {
        $this->ledger();
        $pdo = $this->pdo();
        $ledger = Ledger::withConnection($pdo, Minted::get()->configuration(), fn (): int => $this->now);
        $jws = Minted::get()->coins();
        $pdo->beginTransaction();
        $pdo->exec("INSERT INTO wallet VALUES ('own', 'bob', 1)");
        foreach ([fn () => $ledger->claim($jws, 'ann', self::pay(...)),
            fn () => $ledger->recordEvent('NOTE#1'), fn () => $ledger->getPlan('ann')] as $call) {
            $this->refused('misuse.ledger.transaction', $call);
        }
        $this->assertTrue($pdo->inTransaction());
        $pdo->commit();
        $this->assertSame('granted', $ledger->claim($jws, 'ann', self::pay(...))->clientResult);
        $this->assertSame(['ann' => 100, 'bob' => 1], $this->coins());
    }

    /** Asserts that a grant can use another ledger, but not the one that called it. */
    public function testAGrantDoesNotUseTheLedgerThatCallsIt(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $error = $this->thrown(\LogicException::class, fn () =>
            $ledger->claim($jws, 'ann', static fn () => $ledger->recordEvent('MAIL#1')));
        $this->assertStringContainsString('another one', $error->getMessage());
        $this->assertSame('granted', $ledger->claim($jws, 'ann', self::pay(...))->clientResult);
    }

    /** Returns the JWS of one purchase, signed so many milliseconds after it was bought. */
    private function state(string $id, int $afterMs, string ...$more): string
    {
        return Minted::get()->mint('transaction', ...$more, ...['--transaction-id', $id,
            '--original-transaction-id', $id, '--type', 'consumable',
            '--product', 'com.example.app.coins100',
            '--signed', (string) ($this->now - 100_000 + $afterMs)]);
    }

    protected static function takeBack(Take $take, object $pdo): void
    {
        $pdo->prepare('INSERT INTO wallet VALUES (?,?,?)')
            ->execute([substr($take->takeId, -60), $take->account, -100 * $take->units]);
    }

    /** Asserts the outcome and the take-back of a refund (STO-35). */
    public function testARefund(): void
    {
        $ledger = $this->ledger();
        $bought = $this->state('3000000000000001', 0);
        $ledger->claim($bought, 'ann', self::pay(...));
        $refund = $ledger->verifier->verifyTransaction(
            $this->state('3000000000000001', 1000, '--refunded'),
            $this->now,
        );
        $revoked = $ledger->revoke($refund);
        [$revocation] = $revoked->revocations;
        $this->assertSame(
            ['was-granted', 'ann', 1],
            [$revocation->outcome, $revocation->account, $revocation->take->units],
        );
        $this->assertEquals([$revocation->take], $revoked->takes());
        $again = $ledger->claim($bought, 'ann', self::pay(...));
        $this->assertSame(['refused-final', 409], [$again->clientResult, $again->httpStatus]);
        $repeated = $ledger->revoke($refund);
        $this->assertSame(
            ['already', null, null, []],
            [$repeated->revocations[0]->outcome, $repeated->revocations[0]->take,
                $repeated->revocations[0]->grantId, $repeated->takes()],
        );
    }

    /** Asserts that a take-back under a lease is returned until it is completed (STO-35). */
    public function testATakeBackIsCarriedOutUntilItIsCompleted(): void
    {
        $ledger = $this->ledger();
        $ledger->claim($this->state('3000000000000002', 0), 'ann', self::pay(...));
        $refund = $this->state('3000000000000002', 1000, '--refunded');
        $this->thrown(\DomainException::class, fn () =>
            $ledger->revoke($refund, static function (): never {
                throw new \DomainException('the wallet is away');
            }));
        $this->assertSame([], $ledger->resumeExpiredRevocations()->takes);
        $this->now += 61_000;
        $away = $this->away('assay_purchase', $ledger->resumeExpiredRevocations(...), self::takeBack(...));
        $this->assertSame(503, $away->httpStatus);
        $this->assertSame(['ann' => 0], $this->coins());
        $this->now += 61_000;
        $kept = [];
        $due = $ledger->resumeExpiredRevocations(static function (Take $take) use (&$kept): int {
            $kept[] = $take;

            return 1;
        });
        $this->assertSame([true, false], [$due->ok, $due->hasMore]);
        $this->assertSame(4, $kept[0]->fencingToken);
        $this->now += 61_000;
        $this->assertSame([], $ledger->resumeExpiredRevocations()->takes);
        $completed = $ledger->completeRevocation($kept[0]);
        $this->assertSame(['already', false, 0], [$completed->outcome, $completed->changed,
            $completed->debt]);
        $this->assertTrue($ledger->revoke($refund, self::takeBack(...))->ok);
        $this->assertSame(['ann' => 0], $this->coins());
    }

    /** Asserts that a take-back in a transaction is committed together with its refund (STO-35). */
    public function testATakeBackStandsWithItsRefund(): void
    {
        $ledger = $this->ledger();
        $ledger->claim($this->state('3000000000000003', 0), 'ann', self::pay(...));
        $refund = $this->state('3000000000000003', 1000, '--refunded');
        $this->thrown(\DomainException::class, fn () =>
            $ledger->revoke($refund, static function (Take $take, object $pdo): never {
                self::takeBack($take, $pdo);
                throw new \DomainException('no');
            }, 'transaction'));
        $this->assertSame(['ann' => 100], $this->coins());
        foreach ([1, 2] as $ignored) {
            $this->assertTrue($ledger->revoke($refund, self::takeBack(...), 'transaction')->ok);
            $this->assertSame(['ann' => 0], $this->coins());
        }
    }

    /**
     * Asserts that the newest signed state wins, in whatever order they arrive (STO-33, STO-34).
     */
    public function testAnEventTakesAndGives(): void
    {
        foreach (['lease', 'transaction'] as $number => $mode) {
            $ledger = $this->ledger();
            $id = (string) (3000000000000004 + $number);
            $account = "ann$number";
            $ledger->claim($this->state($id, 0), $account, self::pay(...));
            $refund = $this->state($id, 1000, '--refunded');
            $reversed = $this->state($id, 2000);
            $give = static function (Grant $grant, object $pdo): void {
                $pdo->prepare('INSERT INTO wallet VALUES (?,?,?)')
                    ->execute([$grant->grantId, $grant->account, 100 * $grant->units]);
            };
            foreach ([[$refund, 0], [$refund, 0], [$reversed, 100], [$refund, 100],
                [$reversed, 100]] as [$state, $coins]) {
                $event = $ledger->applyEvent($state, $give, self::takeBack(...), $mode);
                $this->assertSame([true, 200], [$event->ok, $event->httpStatus], $event->status);
                $this->assertSame($coins, $this->coins()[$account], $mode);
            }
        }
    }

    /** Asserts that a grant that cannot be completed is deferred, then completed (STO-20). */
    public function testWhatIsPaidAndNotCompletedIsDeferred(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $claimed = $this->away('assay_purchase', fn (callable $grant) =>
            $ledger->claim($jws, 'ann', $grant, 'lease'), self::pay(...));
        $this->assertSame(
            ['deferred', 'resume', 503, false],
            [$claimed->clientResult, $claimed->outcome, $claimed->httpStatus, $claimed->ok],
        );
        $this->assertSame(
            ['deferred', []],
            [$claimed->claims[0]->clientResult, $claimed->grants()],
        );
        $this->now += 61_000;
        $again = $ledger->claim($jws, 'ann', static fn (Grant $grant) => null, 'lease');
        $this->assertSame('granted', $again->clientResult);
        $this->assertSame(['ann' => 100], $this->coins());
    }

    /** Asserts that no transaction grants a purchase that was handed out under a lease (STO-37). */
    public function testWhatALeaseHandedOutNoTransactionPays(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        [$first] = $ledger->claim($jws, 'ann')->grants();
        $this->assertSame([false, 1], [$first->repeat, $first->units]);
        self::pay($first, $this->pdo());
        $this->now += 61_000;
        $held = $ledger->claim($jws, 'ann', self::pay(...));
        $this->assertSame(
            ['deferred', 'held', 'lease', 202],
            [$held->clientResult, $held->outcome, $held->claims[0]->reason, $held->httpStatus],
        );
        $again = $ledger->claim(
            $jws,
            'ann',
            fn (Grant $grant) => $this->assertTrue($grant->repeat),
            options: ['allowRepeat' => true],
        );
        $this->assertSame('granted', $again->clientResult);
        $this->assertSame(['ann' => 100], $this->coins());
    }

    /** Runs a call during whose function a table disappears; restores the table afterwards. */
    private function away(string $table, callable $call, callable $inside): mixed
    {
        $found = $call(function (object $what, object $pdo) use ($table, $inside): mixed {
            $said = $inside($what, $pdo);
            $this->pdo()->exec("ALTER TABLE $table RENAME TO {$table}_away");

            return $said;
        });
        $this->pdo()->exec("ALTER TABLE {$table}_away RENAME TO $table");

        return $found;
    }

    public function testASubscription(): void
    {
        $ledger = $this->ledger();
        $this->assertSame('free', $ledger->getPlan('ann')->plan);
        $jws = Minted::get()->mint('transaction');
        $applied = $ledger->updateSubscriptions($jws, 'ann');
        $plan = $applied->plan;
        $this->assertNotSame('free', $plan);
        $this->assertSame(['applied', true], [$applied->subscriptions[0]->outcome, $applied->changed]);
        $read = $ledger->getPlan('ann');
        $this->assertSame([$plan, true], [$read->plan, $read->subscriptions[0]->isActive]);
        $this->assertGreaterThan($this->now, $read->expiresAtMs);
        $this->refused('rejected.subscription.other-account', fn () => $ledger->updateSubscriptions($jws, 'bob'));
        $cleared = $ledger->deactivateSubscriptions('ann');
        $this->assertSame(['free', 1], [$cleared->plan, $cleared->deactivated]);
        $this->assertSame('free', $ledger->getPlan('ann')->plan);
        $this->assertSame($plan, $ledger->updateSubscriptions($jws, 'ann')->plan);
        $this->now = $read->expiresAtMs + 86_400_000;
        $this->assertSame('free', $ledger->getPlan('ann')->plan);
        [$line] = $ledger->leaseDueSubscriptions()->subscriptions;
        $this->assertSame('ann', $line->account);
        $this->assertSame([], $ledger->leaseDueSubscriptions()->subscriptions);
    }

    public function testAccounts(): void
    {
        $ledger = $this->ledger(['forgetKey' => base64_encode(random_bytes(32))]);
        $ledger->claim(Minted::get()->coins(), 'anonymous', self::pay(...));
        $ledger->updateSubscriptions(Minted::get()->mint('transaction'), 'anonymous');
        $joined = $ledger->mergeAccounts('anonymous', 'ann', 'signed in');
        $this->assertSame('merged', $joined->outcome);
        $this->assertSame([1, 1], [$joined->moved['subscriptions'], $joined->moved['purchases']]);
        $this->assertSame('already', $ledger->mergeAccounts('anonymous', 'ann')->outcome);
        $this->refused('rejected.account.merged', fn () => $ledger->mergeAccounts('ann', 'anonymous'));
        $this->assertNotSame('free', $ledger->getPlan('ann')->plan);
        $this->assertSame('forgotten', $ledger->forgetAccount('ann')->outcome);
        $this->assertSame('already', $ledger->forgetAccount('ann')->outcome);
        $this->assertSame('free', $ledger->getPlan('ann')->plan);
    }

    public function testKeptTexts(): void
    {
        $ledger = $this->ledger(['keepEvidence' => true]);
        $jws = Minted::get()->coins();
        $key = $ledger->claim($jws, 'ann', self::pay(...))->claims[0]->purchaseKey;
        $kept = $ledger->getEvidence(purchaseKey: $key);
        $this->assertSame([$jws, []], [$kept->evidence[0]->text, $kept->missing]);
        $none = hash('sha256', 'none');
        $this->assertSame([$none], $ledger->getEvidence([$none])->missing);
    }

    public function testAKeyIsBoundOnce(): void
    {
        $minted = Minted::get();
        $apps = $minted->configuration()['apps'];
        $ledger = $this->ledger([], ['apps' => [['teamId' => 'ABCDE12345'] + $apps[0]]]);
        $words = ['--team', 'ABCDE12345', '--client-data', 'hello'];
        $object = (string) base64_decode($minted->mint('attestation', ...$words), true);
        $device = (string) file_get_contents($minted->folder() . '/device.json');
        $keyId = json_decode($device, true)['keyId'];
        $attestation = $ledger->verifier->verifyAttestation($object, $keyId, 'hello');
        foreach (['registered' => true, 'already' => false] as $outcome => $changed) {
            $bound = $ledger->registerDeviceKey($attestation, 'ann');
            $this->assertSame(
                [$outcome, $keyId, $changed],
                [$bound->outcome, $bound->keyId, $bound->changed],
            );
        }
        $refused = $this->thrown(Rejected::class, fn () => $ledger->registerDeviceKey($attestation, 'bob'));
        $this->assertSame('rejected.device-key.other-account', $refused->status);
    }

    public function testMeters(): void
    {
        $limits = ['free' => ['free' => 99, 'premium' => 0], 'premium' => ['free' => 99, 'premium' => 2]];
        $ledger = $this->ledger([], ['quotas' => $limits]);
        $first = $ledger->consumeQuota('ann', 'premium', 'premium');
        $this->assertSame([1, 2, 1], [$first->used, $first->limit, $first->left]);
        $this->assertNotEmpty($first->headers);
        $ledger->consumeQuota('ann', 'premium', 'premium');
        $full = $this->thrown(Rejected::class, fn () => $ledger->consumeQuota('ann', 'premium', 'premium'));
        $this->assertSame(429, $full->httpStatus);
        $this->assertSame('free', $full->document->at('exchange.fallback'));
        $this->assertArrayHasKey('Retry-After', $full->document->at('exchange.headers'));
        $outcomes = array_map(
            static fn (): string => $ledger->releaseQuota($first->ticket)->outcome,
            range(1, 3),
        );
        $this->assertSame('consumed', $first->outcome);
        $this->assertSame(['released', 'released', 'none'], $outcomes);
        $ledger->consumeQuota('ann', 'premium', 'premium');
        $this->assertSame(2, $ledger->consumeQuota('ann', 'premium', 'premium')->used);
    }

    public function testSignUp(): void
    {
        $ledger = $this->ledger(['signup' => ['limit' => 1]]);
        $name = 'u_0123456789abcdef';
        $password = 'Rp' . base64_encode(random_bytes(15)) . '1!';
        $admission = $ledger->beginSignup('192.0.2.1', $name, $password);
        $this->assertSame('exists', $ledger->finishSignup($admission->ticket, 'exists')->outcome);
        $admission = $ledger->beginSignup('192.0.2.1', $name, $password);
        $ledger->finishSignup($admission->ticket, 'created');
        $this->expectException(Rejected::class);
        $ledger->beginSignup('192.0.2.1', $name, $password);
    }

    public function testChallengesAndKeys(): void
    {
        $ledger = $this->ledger();
        $challenge = $ledger->issueChallenge('login', 'ann');
        $this->assertMatchesRegularExpression('/^[\w-]{43}$/', $challenge->text());
        $ledger->consumeChallenge('login', 'ann', challenge: $challenge->text(), usedBy: 'x');
        $ledger->consumeChallenge('login', 'ann', challenge: $challenge->text(), usedBy: 'x');
        $this->refused('rejected.challenge.used', fn () =>
            $ledger->consumeChallenge('login', 'ann', challenge: $challenge->text(), usedBy: 'y'));
    }

    public function testAnEventIsRecordedOnce(): void
    {
        $ledger = $this->ledger();
        $this->assertTrue($ledger->recordEvent('NOTE#1', str_repeat('a', 22))->ok);
        $this->assertTrue($ledger->recordEvent('NOTE#1', str_repeat('a', 22))->ok);
        $this->assertFalse($ledger->recordEvent('NOTE#1')->ok);
        $this->assertTrue($ledger->recordEvent('NOTE#2')->ok);
    }

    /** Asserts that opening a ledger does not create a missing file (STO-78). */
    public function testAFileThatIsMissingIsNotMade(): void
    {
        $path = sys_get_temp_dir() . '/assay-missing-' . bin2hex(random_bytes(6));
        $ledger = Ledger::open("sqlite:$path", Minted::get()->configuration());
        $jws = Minted::get()->coins();
        $log = ini_set('error_log', '/dev/null');
        try {
            $ledger->claim($jws, 'ann', self::pay(...));
            $this->fail('it was made');
        } catch (Unavailable $refusal) {
            $this->assertSame('unavailable.database.statement-failed', $refusal->status);
            $this->assertStringNotContainsString($path, (string) json_encode(
                $refusal->document?->json(),
            ));
        } finally {
            ini_set('error_log', (string) $log);
        }
        $this->assertFileDoesNotExist($path);
    }

    public function testTheStoreIsAway(): void
    {
        $ledger = $this->ledger();
        $jws = Minted::get()->coins();
        $this->pdo()->exec('DROP TABLE assay_purchase');
        $this->expectException(Unavailable::class);
        $ledger->claim($jws, 'ann', self::pay(...));
    }

    public function testTheSchema(): void
    {
        $ledger = $this->ledger(['prefix' => 'own_']);
        $this->assertSame('exists', $ledger->createSchema());
        $ledger->deleteExpiredRows();
        $this->assertSame('granted', $ledger->claim(
            Minted::get()->coins(),
            'ann',
            self::pay(...),
        )->clientResult);
        $this->assertSame([], $ledger->checkSchema()->warnings);
        $this->pdo()->exec('ALTER TABLE own_subscription RENAME COLUMN owner TO holder');
        $this->refused('unavailable.database.statement-failed', fn () => $ledger->checkSchema());
    }

    /**
     * Asserts that a missing table is not created anew, since purchases would be granted again
     * (STO-78).
     */
    public function testATableThatIsMissingIsNotMade(): void
    {
        $ledger = $this->ledger();
        $this->pdo()->exec('DROP TABLE assay_purchase');
        foreach ([$ledger->createSchema(...), $ledger->checkSchema(...)] as $call) {
            $refusal = $this->thrown(Configuration::class, $call);
            $this->assertSame(
                ['config.ledger.schema', 'assay_purchase'],
                [$refusal->status, $refusal->at],
            );
        }
        $this->expectException(\PDOException::class);
        $this->pdo()->query('SELECT * FROM assay_purchase');
    }

    /** Asserts that another database under the same name is refused (STO-78). */
    public function testAnotherStoreUnderTheNameIsSeen(): void
    {
        $ledger = $this->ledger();
        $this->assertSame([], $ledger->checkSchema()->warnings);
        $this->pdo()->exec("UPDATE assay_schema SET lineage = 'that of another one, of 32 signs.'");
        $this->expectException(Configuration::class);
        $this->expectExceptionMessage('config.ledger.lineage');
        $ledger->checkSchema();
    }

    /**
     * Asserts that `resumeExpired` grants expired claims, and that "hold" leaves them to an
     * operator (STO-30).
     */
    public function testDueClaimsArePaidOutOrHeld(): void
    {
        $ledger = $this->ledger();
        $ledger->claim(Minted::get()->coins(), 'ann', leaseMs: 600_000);
        $this->now += 61_000;
        $this->assertSame([], $ledger->resumeExpired()->claims);
        $this->now += 600_000;
        $held = $ledger->resumeExpired(onExpiredLease: 'hold');
        $this->assertSame([[], 'held'], [$held->claims, $held->held[0]->outcome]);
        $due = $ledger->resumeExpired(leaseMs: 5_000, grant: self::pay(...));
        $this->assertSame(
            [true, 'granted', 'granted', []],
            [$due->ok, $due->claims[0]->outcome, $due->claims[0]->clientResult, $due->grants()],
        );
        $this->assertSame(['ann' => 100], $this->coins());
        $this->assertSame([], $ledger->resumeExpired(600_000)->claims);
    }

    /** Asserts that a resumed claim that cannot be completed is deferred (STO-20). */
    public function testADueClaimThatIsNotCompletedIsDeferred(): void
    {
        $ledger = $this->ledger();
        $ledger->claim(Minted::get()->coins(), 'ann');
        $this->now += 61_000;
        $due = $this->away('assay_purchase', fn (callable $grant) =>
            $ledger->resumeExpired(grant: $grant), self::pay(...));
        $this->assertSame(
            [false, 503, 'resume', 'deferred', []],
            [$due->ok, $due->httpStatus, $due->claims[0]->outcome, $due->claims[0]->clientResult,
                $due->grants()],
        );
        $this->now += 61_000;
        [$again] = $ledger->resumeExpired(grant: static fn (Grant $grant) => null)->claims;
        $this->assertSame('granted', $again->clientResult);
        $this->assertSame(['ann' => 100], $this->coins());
    }

    /**
     * Asserts that a named argument has the effect of the same member in `options`, and overrides
     * it.
     */
    public function testMembersByName(): void
    {
        $ledger = $this->ledger();
        foreach ([['note' => 'by hand', 'options' => []],
            ['options' => ['note' => 'by hand']],
            ['note' => 'by hand', 'options' => ['note' => 'no']]] as $number => $given) {
            $ledger->claim(Minted::get()->coins(), "ann$number", ...$given);
            [$row] = $ledger->find(account: "ann$number", operatorView: true)->rows;
            $this->assertSame('by hand', $row->operatorView->note);
        }
        $this->refused('misuse.ledger.lease', fn () =>
            $ledger->claim(Minted::get()->coins(), 'ann', leaseMs: 1));
        $other = '5b0cb7a1-1a4c-4d2b-8a4e-1d2c3b4a5f60';
        $refused = $ledger->claim(Minted::get()->coins(), 'ann', accountToken: $other);
        $this->assertSame('refused', $refused->outcome, $refused->status);
    }

    /**
     * Asserts that the last plan stays valid while the database is unavailable (docs/spec/ledger.md
     * §7).
     */
    public function testTheLastPlanGoesOnWhileTheStoreIsAway(): void
    {
        $ledger = $this->ledger(['failOpen' => ['planMaxAgeMs' => 3_600_000]]);
        $ledger->updateSubscriptions(Minted::get()->mint('transaction'), 'ann');
        $last = $ledger->getPlan('ann');
        $this->assertNull($last->isCached);
        $this->pdo()->exec('ALTER TABLE assay_subscription RENAME TO assay_subscription_away');
        $read = $ledger->getPlan('ann', $last);
        $this->assertSame(
            [$last->plan, $last->expiresAtMs, true],
            [$read->plan, $read->expiresAtMs, $read->isCached],
        );
        $this->now += 3_600_001;
        $this->assertNotTrue($this->thrown(Unavailable::class, fn () => $ledger->getPlan('ann', $last))
            ->document->at('exchange.isCached'));
    }

    /** Asserts that releasing a quota reports whether units were returned (STO-53). */
    public function testARefundSaysWhetherThereWasOne(): void
    {
        $limits = ['free' => ['free' => 9], 'premium' => ['free' => 9]];
        $ledger = $this->ledger([], ['quotas' => $limits]);
        $taken = $ledger->consumeQuota('ann', 'free', 'free');
        $this->assertSame('consumed', $taken->outcome);
        $released = $ledger->releaseQuota($taken->ticket);
        $this->assertSame(['released', 0], [$released->outcome, $released->used]);
        $again = $ledger->releaseQuota($taken->ticket);
        $this->assertSame(['none', null], [$again->outcome, $again->used]);
    }

    /** Asserts that a rate permit is refused above the limit of a second (STO-66). */
    public function testThePaceOfRequestsToApple(): void
    {
        $ledger = $this->ledger(['rateLimits' => ['get-transaction-info' => 2]]);
        foreach ([1, 2] as $used) {
            $paced = $ledger->acquireRatePermit('get-transaction-info', 'Production', attempt: 2);
            $this->assertSame(
                ['acquired', $used, 2, null],
                [$paced->outcome, $paced->used, $paced->limit, $paced->unlimited],
            );
        }
        $next = $ledger->acquireRatePermit('get-transaction-info', 'Production', 'com.example.app');
        $this->assertSame(1, $next->used);
        $this->assertSame(1, $ledger->acquireRatePermit('get-transaction-info', 'Sandbox')->limit);
        $this->refused('misuse.exchange.request', fn () =>
            $ledger->acquireRatePermit('get-transaction-info', 'Production', attempt: 65));
    }

    /**
     * Asserts each operation of a device key, from a challenge to its retirement (STO-60 to
     * STO-64).
     */
    public function testTheKeyOfADevice(): void
    {
        $minted = Minted::get();
        $attest = $minted->configuration()['attest'] + ['challenge' => ['mode' => 'whole']];
        $ledger = $this->ledger([], ['attest' => $attest]);
        $verifier = $ledger->verifier;
        $text = $ledger->issueChallenge('attest', 'ann', str_repeat('c', 43))->text();
        $this->assertSame(str_repeat('c', 43), $text);
        $attested = $minted->mint('attestation', "--client-data=$text");
        $attestation = $verifier->verifyAttestation(
            base64_decode($attested),
            $this->device('keyId'),
            $text,
            now: $this->now,
        );
        $ledger->consumeChallenge('attest', 'ann', $attestation);
        $bound = $ledger->registerDeviceKey($attestation, 'ann');
        $this->assertSame(
            ['registered', $this->device('keyId'), true],
            [$bound->outcome, $bound->keyId, $bound->changed],
        );
        $this->now += 1;
        $bound = $ledger->registerDeviceKey($attestation, 'ann');
        $this->assertSame(['already', false], [$bound->outcome, $bound->changed]);

        $key = $ledger->getDeviceKey($bound->keyId, 'ann')->key;
        $this->assertSame(
            [$bound->keyId, base64_decode($this->device('publicKey')), 0, $this->device('appId')],
            [$key->keyId, $key->publicKey, $key->counter, $key->appId],
        );
        $others = 'rejected.device-key.other-account';
        $this->refused($others, fn () => $ledger->getDeviceKey($key->keyId, 'bob'));
        $this->refused('rejected.device-key.unknown', fn () => $ledger->getDeviceKey(str_repeat('0', 64)));

        $text = $ledger->issueChallenge('assert', 'ann')->text();
        $assertion = $verifier->verifyAssertion(
            base64_decode($minted->mint('assertion', "--client-data=$text", '--counter', '7')),
            $key->publicKey,
            $key->counter,
            $text,
            now: $this->now,
        );
        $this->assertSame(7, $ledger->advanceDeviceKeyCounter($assertion, 'ann')->counter);
        $this->refused('rejected.device-key.replayed', fn () =>
            $ledger->advanceDeviceKeyCounter($assertion, 'ann'));

        $before = ['--now', (string) ($this->now - 120_000)];
        [$older, $newer] = array_map(fn (array $at) => $verifier->verifyAttestReceipt(
            $minted->mint('attest-receipt', '--refreshed', '--risk', '3', ...$at),
            $key->publicKey,
            $this->now,
        ), [$before, []]);
        $kept = $ledger->updateDeviceKeyReceipt($newer);
        $this->assertSame('kept', $kept->outcome);
        $this->assertSame('older', $ledger->updateDeviceKeyReceipt($older)->outcome);
        $key = $ledger->getDeviceKey($key->keyId)->key;
        $this->assertSame(
            [7, 3, $kept->nextRefreshAtMs, true],
            [$key->counter, $key->risk, $key->nextRefreshAtMs, $key->receipt !== null],
        );

        $this->refused($others, fn () => $ledger->retireDeviceKey($key->keyId, 'bob'));
        $retired = $ledger->retireDeviceKey($key->keyId, 'ann');
        $this->assertSame(['retired', true], [$retired->outcome, $retired->changed]);
        $this->now += 1;
        $retired = $ledger->retireDeviceKey($key->keyId, 'ann');
        $this->assertSame(['already', false], [$retired->outcome, $retired->changed]);
        $this->refused('rejected.device-key.retired', fn () => $ledger->getDeviceKey($key->keyId, 'ann'));
    }

    private function device(string $member): string
    {
        $path = Minted::get()->folder() . '/device.json';

        return json_decode((string) file_get_contents($path), true)[$member];
    }

    /**
     * Asserts that merging and forgetting an account can be repeated with the same attempt id
     * (STO-92).
     */
    public function testAnAccountIsJoinedByTheSameAttempt(): void
    {
        $ledger = $this->ledger(['forgetKey' => base64_encode(random_bytes(32))]);
        $attempt = str_repeat('a', 22);
        $ledger->updateSubscriptions(Minted::get()->mint('transaction'), 'anonymous');
        $first = $ledger->mergeAccounts('anonymous', 'ann', attemptId: $attempt);
        $this->assertSame(['merged', true], [$first->outcome, $first->changed]);
        $this->assertNull($first->mergedInto);
        $refusal = $this->refused('rejected.account.merged', fn () =>
            $ledger->mergeAccounts('anonymous', 'bob', operatorView: true));
        $this->assertSame('ann', $refusal->document->at('exchange.mergedInto'));
        $ledger->forgetAccount('ann', attemptId: $attempt);
        $this->assertSame('already', $ledger->forgetAccount('ann', attemptId: $attempt)->outcome);
    }

    public function testManyAtOnce(): void
    {
        $this->ledger();
        $jws = Minted::get()->coins();
        $answers = $this->together(8, $jws, 'granted');
        sort($answers);
        $this->assertSame([...array_fill(0, 7, 'already-granted'), 'granted'], $answers);
        $this->assertSame(['ann' => 100], $this->coins());
    }

    public function testAProcessThatIsKilledInItsGrant(): void
    {
        $this->ledger();
        $jws = Minted::get()->coins();
        $this->together(2, $jws, 'killed');
        $this->assertSame([], $this->coins());
        $this->assertSame(['granted'], $this->together(1, $jws, 'granted'));
        $this->assertSame(['ann' => 100], $this->coins());
    }

    /** @return list<string> the results of separate processes */
    private function together(int $count, string $jws, string $end): array
    {
        $given = json_encode([$this->dsn(), Minted::get()->configuration(), $jws, $end]);
        $running = [];
        for ($started = 0; $started < $count; $started++) {
            $out = tmpfile();
            $in = tmpfile();
            fwrite($in, $given);
            rewind($in);
            $command = [...Subprocess::phpCommand(), __DIR__ . '/programs/claim.php'];
            $running[] = [proc_open($command, [$in, $out, STDERR], $pipes), $out];
        }

        return array_map(static function (array $one): string {
            proc_close($one[0]);
            rewind($one[1]);

            return (string) stream_get_contents($one[1]);
        }, $running);
    }
}
