<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Facts;
use Assay\Internal\Member;
use Assay\Kind;
use Assay\Names;
use DateTimeImmutable;
use PHPUnit\Framework\TestCase;

/** Asserts that the typed facts are equal to the document, with PHP's names and types. */
final class FactsTest extends TestCase
{
    public function testTransaction(): void
    {
        $transaction = $this->verified('transaction');
        $signed = $transaction->payload();
        foreach (['productId', 'transactionId', 'bundleId', 'environment', 'signedDate',
            'purchaseDate', 'currency', 'price'] as $name) {
            $this->assertSame($signed[$name], $transaction->{$name}, $name);
            $this->assertSame($signed[$name], $transaction->{$name}, "$name, read again");
        }
        $this->assertEquals($this->moment($signed['signedDate']), $transaction->signedAt);
        $this->assertSame('+00:00', $transaction->signedAt->getTimezone()->getName());
        $this->assertSame($signed['signedDate'], $transaction->effectiveDate->ms);
        $key = "{$signed['environment']}/{$signed['transactionId']}";
        $this->assertSame($key, $transaction->keys->transaction);
        $this->assertSame($transaction->keys, $transaction->keys);
        $leaf = $transaction->chain->leaf;
        $this->assertSame(64, strlen($leaf->sha256));
        $this->assertLessThan($leaf->notAfterAt, $leaf->notBeforeAt);
        $this->assertSame($signed['productId'], $transaction->toArray()['productId']);
        $this->assertSame(
            $signed['productId'],
            json_decode(json_encode($transaction))->productId,
        );
        $this->assertStringContainsString($signed['productId'], print_r($transaction, true));
        $this->assertTrue(isset($transaction->productId));
        $this->assertFalse(isset($transaction->revocationDate));
        $this->assertNull($transaction->revocationDate ?? null);
        $fresh = $this->verified('transaction');
        $this->assertSame($signed['productId'], $fresh->productId ?? null);
        $this->assertSame($key, $fresh->keys->transaction ?? null);
        $this->assertSame($key, $fresh?->keys?->transaction);
    }

    public function testNotificationHasWhatIsNested(): void
    {
        foreach (CaseTable::get()->of('verify_jws') as $case) {
            if ($case['kind'] === 'notification' && $case['expect']['status'] === 'ok') {
                $verifier = CaseTable::get()->verifier($case['verifier']);
                $found = $verifier->verifyNotification(CaseTable::evidence($case), $case['now']);
                if ($found->transaction !== null) {
                    break;
                }
            }
        }
        $this->assertSame($found->payload()['notificationType'], $found->notificationType);
        $this->assertSame($found->payload()['notificationUUID'], $found->notificationUuid);
        $this->assertSame($found->document(), $found->transaction->document());
        $this->assertInstanceOf(Facts\Transaction::class, $found->transaction);
        $this->assertNotNull($found->transaction->payload()['transactionId']);
        $this->assertContains($found->effect, ['grant', 'keep', 'end', 'recompute', 'none']);
    }

    public function testReadOnlyAndNotCopied(): void
    {
        $transaction = $this->verified('transaction');
        $transaction->productId;
        $document = $transaction->document();
        $attempts = [
            fn () => $transaction->productId = 'other',
            fn () => $transaction->currency = 'other',
            function () use ($transaction) {
                unset($transaction->productId);
            },
            fn () => $document->ok = true,
            fn () => clone $transaction,
            fn () => clone $document,
            fn () => $transaction->notThere,
            fn () => serialize($transaction),
            fn () => serialize($document),
            fn () => unserialize('O:23:"Assay\Facts\Transaction":0:{}'),
            fn () => unserialize('O:14:"Assay\Document":0:{}'),
            fn () => unserialize('O:14:"Assay\Verifier":0:{}'),
            fn () => unserialize('O:14:"Assay\Exchange":0:{}'),
            fn () => (new \ReflectionClass(Facts\Transaction::class))
                ->newInstanceWithoutConstructor()->productId,
        ];
        foreach ($attempts as $number => $attempt) {
            try {
                $attempt();
                $this->fail("attempt $number went through");
            } catch (\Error | \LogicException $error) {
                $this->assertNotInstanceOf(\AssertionError::class, $error);
            }
        }
        $this->assertSame($transaction->payload()['productId'], $transaction->productId);
    }

    /** Asserts that the error of an unknown property names the one that was meant. */
    public function testWrongNames(): void
    {
        $transaction = $this->verified('transaction');
        $notification = $this->verified('notification');
        foreach ([
            [$transaction, 'expires_date', 'expiresDate'],
            [$transaction, 'expireDate', 'expiresDate'],
            [$transaction->keys, 'Purchase', 'purchase'],
            [$notification, 'type', 'notificationType'],
            [$notification, 'notificationUUID', 'notificationUuid'],
            [$notification, 'uuid', 'notificationUuid'],
            [$notification->data, 'signed_transaction_info', 'signedTransactionInfo'],
        ] as [$facts, $wrong, $right]) {
            $this->assertSame(
                'Undefined property ' . $facts::class . "::$$wrong: use $right",
                $this->saidOf($facts, $wrong),
            );
            $facts->{$right};
        }
        $this->assertStringEndsWith('::$zzzzzz', $this->saidOf($transaction, 'zzzzzz'));
    }

    private function saidOf(Facts\Members $facts, string $name): string
    {
        try {
            $facts->{$name};
        } catch (\Error $error) {
            return $error->getMessage();
        }
        $this->fail("$name is there");
    }

    /**
     * Asserts that constants are equal to what Apple writes, and that unknown values are strings.
     */
    public function testNames(): void
    {
        $this->assertSame(Names\ProductType::AUTO_RENEWABLE, 'Auto-Renewable Subscription');
        $environments = (new \ReflectionClass(Names\Environment::class))->getConstants();
        $this->assertContains($this->verified('transaction')->environment, $environments);
        $new = Facts\NotificationData::of(['environment' => 'Moon', 'status' => 1]);
        $this->assertSame('Moon', $new->environment);
        $this->assertNotContains($new->environment, $environments);
    }

    /** Asserts that a value that is not of its declared type is null. */
    public function testConversions(): void
    {
        $convert = static fn (int $kind, mixed $value): mixed =>
            Member::convert([$kind, 'x', 'y'], $value);
        foreach ([[7, 7], [true, null], [7.5, null], ['9007199254740993', 9007199254740993],
            ['-5', -5], ['--5', null], ['5x', null], ["5\n", null], ['', null], ['05', null],
            [str_repeat('9', 19), null], [str_repeat('9', 5000), null], [null, null],
            [[], null]] as [$value, $wanted]) {
            $this->assertSame($wanted, $convert(Member::INTEGER, $value));
        }
        $this->assertNull($convert(Member::INTEGER | Member::SIGNED, '5'));
        $this->assertSame(1697679936056, $convert(Member::TIME, 1697679936056.485));
        $this->assertNull($convert(Member::TIME, 1e300));
        $this->assertNull($convert(Member::TIME, true));
        $this->assertNull($convert(Member::MOMENT, PHP_INT_MAX));
        $this->assertNull($convert(Member::MOMENT, PHP_INT_MIN));
        foreach ([0, 1, -1, 1795278385001, -62_135_596_800_000, 253_402_300_799_999] as $ms) {
            $this->assertEquals($this->moment($ms), $convert(Member::MOMENT, $ms), (string) $ms);
        }
        $this->assertNull($convert(Member::TEXT, 5));
        $this->assertNull($convert(Member::BOOLEAN, 1));
        $this->assertSame(['a', 'b'], $convert(Member::TEXTS, ['a', 1, 'b']));
        $this->assertSame([], $convert(Member::TEXTS, 'a'));
        $this->assertSame([], $convert(Member::TEXTS, ['a' => 'b']));
        $this->assertNull($convert(Member::OCTETS, '*'));
        $this->assertSame('a', $convert(Member::INNER_OCTETS, ['y' => 'YQ==']));
        $this->assertNull($convert(Member::INNER_TEXT, 'unchecked'));
        $info = Facts\AdvancedCommerceTransactionInfo::of([
            'items' => [['SKU' => 'a', 'refunds' => [['refundDate' => 1000]]], 'no object'],
            'estimatedTax' => '12', 'taxCode' => 7, 'later' => ['member' => 1],
        ]);
        $this->assertSame(['a'], array_map(static fn ($item) => $item->sku, $info->items));
        $this->assertEquals($this->moment(1000), $info->items[0]->refunds[0]->refundAt);
        $this->assertNull($info->taxCode);
        $this->assertSame(['member' => 1], $info->payload()['later']);
    }

    private function verified(string $kind): Facts\Facts
    {
        $case = CaseTable::get()->accepted($kind);
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $evidence = CaseTable::evidence($case);

        return $verifier->verify(Kind::from($kind), $evidence, $case['now'])->facts();
    }

    private function moment(int $milliseconds): DateTimeImmutable
    {
        $seconds = (int) floor($milliseconds / 1000);
        $rest = $milliseconds - $seconds * 1000;

        return (new DateTimeImmutable("@$seconds"))->modify("+$rest milliseconds");
    }
}
