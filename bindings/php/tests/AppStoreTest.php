<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\AppStore;
use Assay\Exception\Misuse;
use Assay\Exception\Rejected;
use Assay\Exchange;
use Assay\Facts\AppStoreResponse;
use Assay\Facts\Transaction;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/**
 * Tests of the App Store Server API: a call for every operation, and the facts of Apple's
 * responses.
 */
final class AppStoreTest extends TestCase
{
    private const MARK = ' App Store: ';

    /** @return array<string, mixed> */
    private static function transcript(string $name): array
    {
        foreach (CaseTable::get()->cases as $case) {
            if (str_ends_with($case['name'], self::MARK . $name)) {
                return $case;
            }
        }
        throw new \LogicException("no transcript $name");
    }

    /** @return array{Verifier, Exchange, array<string, mixed>} */
    private static function play(string $name): array
    {
        $case = self::transcript($name);
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $exchange = $verifier->exchange(CaseTable::given($case, 'request'), now: $case['now']);
        foreach ($case['steps'] as $step) {
            $exchange->step(CaseTable::given($step, 'answer'), $step['now']);
        }

        return [$verifier, $exchange, $case];
    }

    public function testEveryOperationHasACall(): void
    {
        $operations = [];
        foreach (CaseTable::get()->cases as $case) {
            if ($case['call'] === 'transcript' && str_contains($case['name'], self::MARK)) {
                $operations[json_decode(CaseTable::given($case, 'request'))->operation] = true;
            }
        }
        unset($operations['get-images']); // there is none
        $calls = [];
        foreach ((new \ReflectionClass(AppStore::class))->getMethods() as $method) {
            if ($method->isPublic() && !$method->isConstructor()) {
                $words = preg_split('/(?=[A-Z])/', $method->getName());
                $calls[strtolower(implode('-', $words))] = true;
            }
        }
        ksort($operations);
        ksort($calls);
        $this->assertCount(39, $calls);
        $this->assertSame(array_keys($operations), array_keys($calls));
    }

    public function testARequest(): void
    {
        $verifier = CaseTable::get()->verifier('app-store');
        $day = new \DateTimeImmutable('2026-01-01T00:00:00Z');
        $exchange = $verifier->appStore('auto', attempts: 1)->getTransactionHistory(
            '1',
            startDate: $day,
            productId: ['a', 'b'],
            revoked: false,
            pages: 2,
        );
        $this->assertSame(
            'https://api.storekit.apple.com/inApps/v2/history/1?startDate=1767225600000'
            . '&productId=a&productId=b&revoked=false',
            $exchange->payload()['http']['url'],
        );
        $sent = $verifier->appStore()->sendConsumptionInformation(
            '1',
            true,
            false,
            'DELIVERED',
            consumptionPercentage: 0,
        );
        $this->assertSame(
            '{"customerConsented":true,"sampleContentProvided":false,'
            . '"deliveryStatus":"DELIVERED","consumptionPercentage":0}',
            $sent->payload()['http']['body']['text'],
        );
        $this->expectException(Misuse::class);
        $verifier->appStore('Xbox')->requestTestNotification();
    }

    public function testPages(): void
    {
        [$verifier, $exchange, $case] = self::play('two pages');
        $facts = $exchange->facts();
        $this->assertInstanceOf(AppStoreResponse::class, $facts);
        [$first, $second] = $facts->transactions;
        $this->assertInstanceOf(Transaction::class, $first);
        $this->assertSame('180000900000002', $second->transactionId);
        $this->assertSame('180000900000002', $second->payload()['transactionId']);
        $this->assertSame('r2', $facts->unsigned->revision);
        $this->assertNull($facts->next);
        $this->assertSame([], $facts->renewals);
        $this->assertTrue($verifier->decide($facts, now: $case['now'])->entitled);
    }

    public function testRefusals(): void
    {
        [, $exchange] = self::play('some of a history');
        $this->assertSame('rejected.jws.signature', $exchange->facts()->refused[0]->status->name);
        [, $exchange] = self::play('a forged transaction');
        $this->assertNull($exchange->facts());
        [, $exchange] = self::play('unknown in both');
        $this->expectException(Rejected::class);
        $exchange->document()->throwIfFailed();
    }

    public function testUnverifiedTransactionId(): void
    {
        $seen = [];
        foreach (CaseTable::get()->cases as $case) {
            if ($case['call'] !== 'triage'
                || $case['expect']['status'] !== 'pending.triage.verify-next') {
                continue;
            }
            $verifier = CaseTable::get()->verifier($case['verifier']);
            $blob = CaseTable::given($case, 'blob');
            $form = $verifier->triage($blob, $case['now'])->format;
            $seen[$form] ??= $verifier->extractUnverifiedTransactionId($blob, $case['now']);
        }
        $this->assertMatchesRegularExpression('/^\d{13,}$/', $seen['transaction-receipt']);
        $this->assertMatchesRegularExpression('/^\d{13,}$/', $seen['app-receipt']);
        $verifier = CaseTable::get()->verifier('standard');
        $this->assertNull($verifier->extractUnverifiedTransactionId('hello'));
    }
}
