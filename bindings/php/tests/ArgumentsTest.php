<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Base64;
use Assay\Document;
use Assay\Exception\Configuration;
use Assay\Exception\Malformed;
use Assay\Exception\Misuse;
use Assay\Exception\TooLarge;
use Assay\Expiry;
use Assay\Internal\FfiHandle;
use Assay\Internal\Header;
use Assay\Internal\Loader;
use Assay\Kind;
use Assay\Verifier;
use DateTimeImmutable;
use PHPUnit\Framework\TestCase;

/** Asserts that wrong arguments are errors of PHP or refusals, never a crash. */
final class ArgumentsTest extends TestCase
{
    use Refusals;

    private array $case;
    private Verifier $verifier;
    private string $jws;

    protected function setUp(): void
    {
        $this->case = CaseTable::get()->accepted('transaction');
        $this->verifier = CaseTable::get()->verifier($this->case['verifier']);
        $this->jws = CaseTable::evidence($this->case);
    }

    public function testTypes(): void
    {
        $calls = [
            fn () => $this->verifier->verifyTransaction(null),
            fn () => $this->verifier->verifyTransaction(['a']),
            fn () => $this->verifier->verifyTransaction($this->jws, 1.5),
            fn () => $this->verifier->verifyTransaction($this->jws, 'now'),
            fn () => $this->verifier->verify('transaction', $this->jws),
            fn () => $this->verifier->decide($this->jws),
            fn () => $this->verifier->decide([$this->jws]),
            fn () => $this->verifier->decide([null]),
            fn () => $this->verifier->decide([new \stdClass()]),
            fn () => $this->verifier->exchange([], ['text']),
            fn () => $this->verifier->verifyAssertion('', '', '1', 'data'),
            fn () => new Verifier(5),
        ];
        foreach ($calls as $number => $call) {
            $this->assertThrows(\TypeError::class, $call, "call $number");
        }
    }

    public function testBadTexts(): void
    {
        foreach (['', "\0", "\xff\xfe", "ü.ü.ü", str_repeat("\xff", 9)] as $bad) {
            $call = fn () => $this->verifier->verifyTransaction($bad, $this->case['now']);
            $this->assertThrows(Malformed::class, $call, bin2hex($bad));
        }
        $huge = str_repeat('a', 64 << 20);
        $now = $this->case['now'];
        foreach (
            [
                fn () => $this->verifier->verifyTransaction($huge, $now),
                fn () => $this->verifier->verifyAppReceipt($huge, null, $now),
                fn () => $this->verifier->readVerifyReceiptResponse($huge, $now),
                fn () => $this->verifier->verifyAttestation($huge, 'a', 'b', null, $now),
                fn () => $this->verifier->verifyAssertion($huge, 'a', 0, 'b', null, $now),
            ] as $call
        ) {
            $this->assertThrows([TooLarge::class, Malformed::class, Misuse::class], $call);
        }
        $this->assertFalse($this->verifier->triage($huge, $now)->worthVerifying);
    }

    public function testNow(): void
    {
        $now = $this->case['now'];
        $moment = (new DateTimeImmutable('@' . intdiv($now, 1000)))
            ->setTimezone(new \DateTimeZone('-0700'));
        $this->assertTrue(
            $this->verifier->verifyTransaction($this->jws, $moment)->document()->ok
        );
        foreach ([0, -1, PHP_INT_MAX, PHP_INT_MIN, new DateTimeImmutable('9999-12-31'),
            new DateTimeImmutable('@' . PHP_INT_MAX)] as $outside) {
            $this->refused('misuse.call.now', fn () =>
                $this->verifier->verifyTransaction($this->jws, $outside));
        }
        $document = $this->verifier->verify(Kind::Transaction, $this->jws);
        $this->assertNotContains($document->code & 0xff, [Header::MISUSE, Header::INTERNAL]);
    }

    public function testKindsAndSubjects(): void
    {
        $this->assertNull(Kind::tryFrom('any'));
        $call = fn () => $this->verifier->verify(Kind::Transaction, $this->jws, null, 'subject');
        $this->assertThrows(\ValueError::class, $call);
        $uuid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6';
        $case = $this->appReceipt();
        $answers = [];
        foreach ([$uuid, hex2bin(str_replace('-', '', $uuid))] as $subject) {
            $answers[] = CaseTable::get()->verifier($case['verifier'])
                ->verify(Kind::AppReceipt, CaseTable::evidence($case), $case['now'], $subject)
                ->text();
        }
        $this->assertSame($answers[0], $answers[1]);
        $this->assertStringContainsString('rejected.account.device', $answers[0]);
    }

    public function testClientData(): void
    {
        foreach ([[null, null], ['data', 'hash']] as [$data, $hash]) {
            $this->assertThrows(
                \ValueError::class,
                fn () => $this->verifier->verifyAttestation('a', 'b', $data, $hash),
            );
            $this->assertThrows(
                \ValueError::class,
                fn () => $this->verifier->verifyAssertion('a', 'b', 0, $data, $hash),
            );
        }
        foreach ([-1, 1 << 32, PHP_INT_MAX] as $counter) {
            $this->assertThrows(
                \ValueError::class,
                fn () => $this->verifier->verifyAssertion('a', 'b', $counter, 'data'),
            );
        }
    }

    public function testEvidence(): void
    {
        $now = $this->case['now'];
        $transaction = $this->verifier->verifyTransaction($this->jws, $now);
        foreach (
            [
                $transaction, $transaction->document(), [$transaction],
                new \ArrayIterator([$transaction, $transaction->document()]),
                (static fn () => yield 'name' => $transaction)(),
            ] as $evidence
        ) {
            $decision = $this->verifier->decide($evidence, null, $now);
            $this->assertSame(['transaction'], $decision->evidence->kinds);
        }
        $refused = $this->verifier->verify(Kind::Transaction, 'a.b.c', $now);
        foreach ([[[], 'misuse.decision.empty'], [$refused, 'misuse.decision.evidence']] as $case) {
            $this->refused($case[1], fn () => $this->verifier->decide($case[0], null, $now));
        }
        $forged = new Document(Loader::library(), new \stdClass(), 0);
        $this->assertThrows(
            [\TypeError::class],
            fn () => $this->verifier->decide($forged, null, $now),
        );
        $failing = (static function () use ($transaction) {
            yield $transaction;
            throw new \RuntimeException('in the middle');
        })();
        $this->assertThrows(
            \RuntimeException::class,
            fn () => $this->verifier->decide($failing, null, $now),
        );
    }

    public function testConfiguration(): void
    {
        $apps = [['bundleId' => 'com.example.app', 'appAppleId' => 1]];
        $array = new Verifier(['apps' => $apps]);
        foreach ([(object) ['apps' => $apps], json_encode(['apps' => $apps])] as $form) {
            $this->assertSame(
                $array->configuration(),
                (new Verifier($form))->configuration(),
            );
        }
        $circle = [];
        $circle['apps'] = &$circle;
        foreach ([['apps' => NAN], ['apps' => "\xff"], ['apps' => fopen('php://memory', 'r')],
            $circle] as $bad) {
            $this->assertThrows(\ValueError::class, fn () => new Verifier($bad));
        }
        foreach ([[], '', "\0", '[]', 'null', ['apps' => 5], str_repeat('[', 100_000)] as $bad) {
            $this->assertThrows(Configuration::class, fn () => new Verifier($bad));
        }
        $this->assertThrows(
            [Configuration::class],
            fn () => new Verifier('{"apps":"' . str_repeat('a', 64 << 20) . '"}'),
        );
    }

    public function testConfigurationFile(): void
    {
        $path = tempnam(sys_get_temp_dir(), 'assay');
        try {
            $config = '{"apps":[{"bundleId":"com.example.app","appAppleId":1}]}';
            file_put_contents($path, $config);
            $this->assertSame(
                (new Verifier($config))->configuration(),
                Verifier::fromFile($path)->configuration(),
            );
            file_put_contents($path, '{');
            $this->assertThrows(Configuration::class, fn () => Verifier::fromFile($path));
        } finally {
            unlink($path);
        }
        foreach ([$path, \dirname($path), 'http://127.0.0.1:9/config.json'] as $bad) {
            $this->assertThrows([\RuntimeException::class], fn () => Verifier::fromFile($bad));
        }
        foreach (['', "a\0b"] as $bad) {
            $this->assertThrows(\ValueError::class, fn () => Verifier::fromFile($bad));
        }
    }

    public function testDates(): void
    {
        $this->assertThrows(\ValueError::class, fn () => Verifier::checkExpiry(PHP_INT_MIN));
        $this->assertThrows(Misuse::class, fn () => Verifier::checkExpiry(1, now: 5));
        $this->assertTrue(Verifier::checkExpiry(Expiry::FOREVER)->inForce);
        $this->assertFalse(Verifier::checkExpiry(null)->inForce);
        $this->assertTrue(Verifier::checkExpiry(new DateTimeImmutable('+1 hour'))->inForce);
        $revoked = Verifier::checkExpiry(Expiry::FOREVER, null, new DateTimeImmutable('-1 day'));
        $this->assertSame('rejected.expiry.revoked', $revoked->status());
    }

    public function testBase64(): void
    {
        foreach (["\xfb\xff\xfe", '', 'a', "ab\0"] as $octets) {
            $text = base64_encode($octets);
            $safe = rtrim(strtr($text, '+/', '-_'), '=');
            $this->assertSame($octets, Base64::decode($text));
            $this->assertSame($octets, Base64::decode($safe));
        }
        foreach (['a', 'YQ==YQ==', "YQ\n", 'Y Q', 'ü', "YQ\0"] as $bad) {
            $this->assertThrows(\ValueError::class, fn () => Base64::decode($bad), $bad);
        }
    }

    public function testClosed(): void
    {
        $verifier = new Verifier(['apps' => [['bundleId' => 'a.b', 'appAppleId' => 1]]]);
        $document = $verifier->verify(Kind::Transaction, 'a.b.c');
        $verifier->close();
        $verifier->close();
        $this->assertTrue($verifier->isClosed());
        foreach (
            [
                fn () => $verifier->verifyTransaction($this->jws),
                fn () => $verifier->verify(Kind::AppReceipt, $this->jws),
                fn () => $verifier->readVerifyReceiptResponse('{}'),
                fn () => $verifier->triage('a'),
                fn () => $verifier->verifyAttestation('a', 'b', 'c'),
                fn () => $verifier->verifyAssertion('a', 'b', 0, 'c'),
                fn () => $verifier->decide($document),
                fn () => $verifier->exchange(['operation' => 'assess-risk']),
                fn () => $verifier->assessRisk([]),
            ] as $call
        ) {
            $this->assertThrows(\LogicException::class, $call);
        }
        $this->assertSame('transaction', $document->json()['kind']);
        $this->assertArrayHasKey('apps', $verifier->configuration());
    }

    /** Asserts that handles that were freed by force, cloned or recreated are refused. */
    public function testAbusedHandles(): void
    {
        $now = $this->case['now'];
        $transaction = $this->verifier->verifyTransaction($this->jws, $now);
        $handle = $transaction->document()->handle();
        $this->assertThrows(\Error::class, fn () => clone $handle);
        if (!$handle instanceof FfiHandle) {
            return;
        }
        $inside = fn (): object => clone $this;
        $this->assertNull($inside->call($handle)->pointer());
        $this->assertSame('transaction', $transaction->document()->kind());
        $pointer = $handle->pointer();
        $again = fn () => $handle->__construct(\FFI::cdef('typedef int x;'), 'doc', $pointer);
        $this->assertThrows(\LogicException::class, $again);
        $handle->__destruct();
        $handle->__destruct();
        $this->assertSame('', $transaction->document()->kind());
        $this->assertSame([], $transaction->document()->checks());
        $this->assertNull($transaction->productId);
        $this->assertThrows(
            Misuse::class,
            fn () => $this->verifier->decide($transaction, null, $now),
        );
    }

    private function appReceipt(): array
    {
        foreach (CaseTable::get()->of('verify_receipt') as $case) {
            if ($case['kind'] === 'app-receipt' && $case['expect']['status'] === 'ok') {
                return $case;
            }
        }
        throw new \LogicException('the case table has no accepted app receipt');
    }

    /** @param class-string|list<class-string> $classes */
    private function assertThrows(string|array $classes, callable $call, string $what = ''): void
    {
        try {
            $call();
        } catch (\Throwable $error) {
            $fits = array_filter((array) $classes, static fn ($class) => $error instanceof $class);
            $this->assertNotSame([], $fits, $what . $error::class . ': ' . $error->getMessage());

            return;
        }
        $this->fail("$what: nothing was thrown");
    }
}
