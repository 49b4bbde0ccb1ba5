<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\AssayException;
use Assay\Exception\Configuration;
use Assay\Exception\Internal;
use Assay\Exception\Malformed;
use Assay\Exception\Rejected;
use Assay\Exception\TooLarge;
use Assay\Exception\Unsupported;
use Assay\Internal\Header;
use Assay\Internal\Loader;
use Assay\Internal\Refusal;
use Assay\Kind;
use Assay\Names\RetryClass;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Asserts that a refusal throws the class of its family, with rule, location and hint. */
final class ErrorsTest extends TestCase
{
    use Refusals;

    public function testEveryFamilyHasItsClass(): void
    {
        $families = array_filter(
            (new \ReflectionClass(Header::class))->getConstants(),
            static fn (mixed $value, string $name): bool => is_int($value) && $value > 0
                && preg_match('/^(JWS_|RECEIPT_|CLIENT_|STATUS_|VERSION|ABI)/', $name) === 0,
            ARRAY_FILTER_USE_BOTH,
        );
        sort($families);
        $this->assertSame($families, array_keys(Refusal::FAMILIES));
        $this->assertCount(count($families), array_unique(Refusal::FAMILIES));
    }

    public function testEveryStatusOfTheLibrary(): void
    {
        $families = [];
        foreach (Refusal::statuses() as $code) {
            $families[$code & 0xff][] = $code;
            $refusal = Refusal::ofStatus($code);
            $this->assertInstanceOf(Refusal::FAMILIES[$code & 0xff], $refusal);
            $this->assertSame($code, Refusal::named($refusal->status)->getCode());
            $this->assertNotSame('', $refusal->reason, $refusal->status);
            $this->assertNotSame('', (string) $refusal->hint, $refusal->status);
            $this->assertContains($refusal->retryClass, (new \ReflectionClass(RetryClass::class))->getConstants());
            $this->assertContains(intdiv($refusal->httpStatus, 100), [2, 4, 5]);
        }
        $this->assertSame(array_keys(Refusal::FAMILIES), array_keys($families));
        $this->assertGreaterThan(300, array_sum(array_map('count', $families)));
    }

    public function testUnknownDetailKeepsItsFamily(): void
    {
        $refusal = Refusal::ofStatus(Header::TOO_LARGE | 0x7fff00);
        $this->assertInstanceOf(TooLarge::class, $refusal);
        $this->assertSame(413, $refusal->httpStatus);
        $this->assertInstanceOf(Internal::class, Refusal::ofStatus(0xff));
    }

    /** @return iterable<string, array{string, class-string}> */
    public function families(): iterable
    {
        yield 'rejected' => ['rejected', Rejected::class];
        yield 'malformed' => ['malformed', Malformed::class];
        yield 'unsupported' => ['unsupported', Unsupported::class];
        yield 'too-large' => ['too-large', TooLarge::class];
    }

    /** @dataProvider families */
    public function testAttributesAreThoseOfTheDocument(string $family, string $class): void
    {
        $refusal = $this->refusal($family);
        $this->assertSame($class, $refusal::class);
        $error = $refusal->document->json()['error'];
        foreach (['check', 'rule', 'at', 'hint', 'retryClass'] as $name) {
            $this->assertSame($error[$name], $refusal->{$name}, $name);
        }
        $this->assertSame($error['message'], $refusal->reason);
        $this->assertSame($refusal->document->code, $refusal->getCode());
        $this->assertContains($refusal->httpStatus, [200, 400, 401, 403, 409, 413]);
        $this->assertNull($refusal->document->facts());
        foreach ([$refusal->status, $refusal->reason, $refusal->rule, $refusal->hint] as $part) {
            $this->assertStringContainsString((string) $part, $refusal->getMessage());
        }
    }

    public function testTheHintIsThatOfTheKindOfEvidence(): void
    {
        $verifier = new Verifier(['apps' => [['bundleId' => 'com.example.app', 'appAppleId' => 1]]]);
        $refusal = $this->refused('config.attest.app-ids', fn () =>
            $verifier->verifyAttestation('object', 'id', 'data'));
        $this->assertStringContainsString('this verifier knows no App ID', $refusal->hint);
        $this->assertNotSame(Refusal::ofStatus($refusal->getCode())->hint, $refusal->hint);
    }

    public function testChecksSayWhichOneFailed(): void
    {
        $refusal = $this->refusal('rejected');
        $checks = $refusal->document->checks();
        $failed = array_filter($checks, static fn ($check): bool => $check->ok === false);
        $this->assertSame([$refusal->check], array_column($failed, 'id'));
        foreach ($checks as $check) {
            $this->assertSame($check->ok === null, $check->reason !== null);
        }
    }

    public function testSerialisedRefusalKeepsItsWords(): void
    {
        $refusal = $this->refusal('rejected');
        $again = unserialize(serialize($refusal));
        $this->assertSame($refusal::class, $again::class);
        $this->assertSame($refusal->getMessage(), $again->getMessage());
        $this->assertSame($refusal->getCode(), $again->getCode());
        $this->assertSame($refusal->httpStatus, $again->httpStatus);
        $this->assertNull($again->document);
    }

    public function testNoTraceHoldsEvidence(): void
    {
        $case = CaseTable::get()->accepted('transaction');
        $forged = substr(CaseTable::evidence($case), 0, -4) . 'AAAA';
        $refusal = $this->thrown(AssayException::class, fn () =>
            CaseTable::get()->verifier($case['verifier'])->verifyTransaction($forged));
        $this->assertStringNotContainsString(substr($forged, 0, 12), (string) $refusal);
    }

    public function testConfiguration(): void
    {
        $refusal = $this->thrown(Configuration::class, fn () =>
            new Verifier(['apps' => [], 'aps' => 1]));
        $this->assertSame(500, $refusal->httpStatus);
        $this->expectException(Configuration::class);
        $this->expectExceptionMessage('config.document.syntax');
        new Verifier('{');
    }

    public function testLibraryRefusesWhatIsNoHandle(): void
    {
        try {
            $code = Loader::library()->docStatus(new class () {
                public function pointer(): ?object
                {
                    return null;
                }
            });
            $this->assertSame(Header::MISUSE, $code & 0xff);
        } catch (\TypeError $error) {
            $this->assertStringContainsString('Assay\Extension\Document', $error->getMessage());
        }
    }

    private function refusal(string $family): AssayException
    {
        $case = CaseTable::get()->refused($family);
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $jws = CaseTable::evidence($case);
        try {
            $verifier->verify(Kind::from($case['kind']), $jws, $case['now'])->throwIfFailed();
        } catch (AssayException $refusal) {
            return $refusal;
        }
        throw new \LogicException('the evidence was accepted');
    }
}
