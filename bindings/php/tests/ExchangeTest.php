<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exception\Internal;
use Assay\Exception\Malformed;
use Assay\Exception\Misuse;
use Assay\Exception\Rejected;
use Assay\Exchange;
use Assay\Facts\Risk;
use Assay\Internal\Header;
use Assay\Internal\Loader;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Tests of exchanges, both those that need no step and those with steps. */
final class ExchangeTest extends TestCase
{
    use Refusals;

    private const RISK = [
        'operation' => 'assess-risk',
        'observations' => ['request' => 'paid', 'attestation' => 'verified'],
    ];
    private const NOW = 1_793_000_000_000;

    private Verifier $verifier;

    protected function setUp(): void
    {
        $this->verifier = new Verifier(
            ['apps' => [['bundleId' => 'com.example.app', 'appAppleId' => 1]]],
        );
    }

    public function testDoneAtOnce(): void
    {
        foreach ([self::RISK, (object) self::RISK, json_encode(self::RISK)] as $request) {
            $found = $this->verifier->exchange($request);
            $this->assertTrue($found->isDone());
            $this->assertTrue($found->document()->ok);
            $this->assertSame('risk', $found->document()->kind());
            $this->assertSame($found->document()->json()['risk'], $found->payload());
            $this->assertInstanceOf(Risk::class, $found->facts());
        }
        $this->expectException(\LogicException::class);
        $this->expectExceptionMessage('over');
        $found->step([]);
    }

    public function testAVerdictIsAnAnswer(): void
    {
        $observed = ['request' => 'paid', 'attestation' => 'refused'];
        $found = $this->verifier->exchange(['observations' => $observed] + self::RISK);
        $this->assertSame('rejected.risk.deny', $found->document()->status());
        $this->assertSame('deny', $found->facts()->verdict);
        $risk = $this->verifier->assessRisk($observed);
        $this->assertFalse($risk->allowed);
        $this->assertSame(403, $risk->httpStatus);
        $this->assertSame('rejected.risk.deny', $risk->status);
        $this->expectException(Rejected::class);
        $found->document()->throwIfFailed();
    }

    public function testRefunds(): void
    {
        $case = ['environment' => 'Sandbox', 'bundleId' => 'com.example.app',
            'transactionId' => '1', 'product' => 'p.1', 'type' => 'Consumable',
            'ownership' => 'PURCHASED', 'purchasedAtMs' => self::NOW, 'askedAtMs' => self::NOW,
            'isGranted' => true];
        $consent = ['isGiven' => true, 'answeredAtMs' => self::NOW];
        $answer = $this->verifier->assessRefund($case, ['consent' => $consent], self::NOW);
        $this->assertSame(['silent', 'send'], [$answer->answer, $answer->would]);
        $this->assertNull($answer->request);
        $this->assertSame('RFA-14', $answer->fields[0]->rule);
        $this->assertSame('silent', $this->verifier->assessRefund($case, [], self::NOW)->would);
        $units = $this->verifier->computeRefundUnits(100, 30000, grantedUnits: 80);
        $this->assertSame([30, 70, 10], [$units->refunded, $units->remaining, $units->take]);
        $this->expectException(Malformed::class);
        $this->verifier->assessRefund($case, ['consented' => true], self::NOW);
    }

    public function testAnswerVerifyReceipt(): void
    {
        $body = '{"receipt-data":"AQIDBA=="}';
        $found = $this->verifier->answerVerifyReceipt($body, 'Production');
        $this->assertSame(200, $found->httpStatus);
        $this->assertSame('application/json', $found->contentType);
        $this->assertSame(21002, $found->appleStatus);
        $this->assertSame(
            '{"status":21002,"assay":{"version":1,"status":"rejected.kind.mismatch"}}',
            $found->body,
        );
        $bare = $this->verifier->answerVerifyReceipt(
            $body, 'Production', [], 'measured', 'tolerant', 'later', false);
        $this->assertSame('{"status":21002}', $bare->body);
        $this->refused('misuse.exchange.request', fn () =>
            $this->verifier->answerVerifyReceipt($body, 'Sandbox'));
    }

    public function testMisuse(): void
    {
        foreach ([[], '{', '', "\xff"] as $request) {
            $this->refused('misuse.exchange.request', fn () => $this->verifier->exchange($request));
        }
        $case = CaseTable::get()->accepted('transaction');
        $owner = CaseTable::get()->verifier($case['verifier']);
        $found = $owner->verifyTransaction(CaseTable::evidence($case), $case['now']);
        $this->expectException(Misuse::class);
        $this->expectExceptionMessage('misuse.exchange.evidence');
        $owner->exchange(self::RISK, $found, $case['now']);
    }

    public function testDeviceCheck(): void
    {
        $verifier = new Verifier([
            'apps' => [['bundleId' => 'com.example.app', 'appAppleId' => 1]],
            'deviceCheck' => $this->deviceCheck(),
        ]);
        $body = '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}';
        $found = $verifier->readDeviceCheckResponse('query', 200, $body, false, self::NOW);
        $this->assertSame('bits', $found->outcome);
        $this->assertTrue($found->bits->bit0->value);
        $observed = ['request' => 'promo', 'attestation' => 'unsupported'];
        $risk = $verifier->assessRisk($observed + ['deviceCheck' => $found], self::NOW);
        $this->assertNotSame('allow', $risk->verdict);
        $refusal = $this->refused('rejected.promo.device-used', fn () =>
            $verifier->readDeviceCheckResponse('query', 200, $body, true, self::NOW));
        $this->assertSame('device-used', $refusal->document->facts()->offer);
        $this->assertSame('YWJj', $verifier->normalizeDeviceToken('YWJj'));
        $this->expectException(Malformed::class);
        $verifier->normalizeDeviceToken('*');
    }

    public function testSigning(): void
    {
        $key = openssl_pkey_new(
            ['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1'],
        );
        openssl_pkey_export($key, $file);
        $block = ['keyId' => 'KEYID12345', 'privateKey' => $file];
        $verifier = new Verifier([
            'apps' => [
                ['bundleId' => 'com.example.app', 'appAppleId' => 1, 'teamId' => 'ABCDE12345'],
            ],
            'appStoreServerApi' => [
                'issuerId' => '57246542-96fe-1a63-e053-0824d011072a', ...$block,
            ],
            'deviceCheck' => $block,
            'appleId' => $block,
        ]);
        $offer = $verifier->signer()->signPromotionalOfferV1('p1', 'o1', 'User', timestamp: self::NOW);
        $fields = ['com.example.app', 'KEYID12345', 'p1', 'o1', 'user', $offer->nonce, self::NOW];
        $public = openssl_pkey_get_details($key)['key'];
        $signature = base64_decode($offer->signature, true);
        $text = implode("\u{2063}", $fields);
        $this->assertSame(1, openssl_verify($text, $signature, $public, OPENSSL_ALGO_SHA256));
        $this->assertSame(0, openssl_verify("$text ", $signature, $public, OPENSSL_ALGO_SHA256));
        $signed = $verifier->signer()->signPromotionalOffer('p1', 'o1', nonce: $offer->nonce);
        $this->assertSame($offer->nonce, $signed->nonce);
        $this->assertCount(3, explode('.', $signed->jws));
        $allowed = $verifier->signer()->signIntroductoryOfferEligibility('p1', true, '7', now: self::NOW);
        $this->assertSame(intdiv(self::NOW, 1000), $allowed->iat);
        $secret = $verifier->signer()->signAppleClientSecret(ttlMs: 60_000, now: self::NOW);
        $this->assertSame(self::NOW + 60_000, $secret->expiresAtMs);
        $this->assertCount(3, explode('.', $verifier->signer()->signApiToken()->token));
        $this->assertCount(3, explode('.', $verifier->signer()->signDeviceCheckToken()->token));
        $this->expectException(Misuse::class);
        $verifier->signer()->signPromotionalOffer('', 'o1');
    }

    public function testKeyId(): void
    {
        $octets = random_bytes(32);
        $normal = base64_encode($octets);
        $this->assertSame($normal, $this->verifier->normalizeKeyId(bin2hex($octets)));
        $this->expectException(Malformed::class);
        $this->verifier->normalizeKeyId("\xff");
    }

    public function testUntilTheEnd(): void
    {
        $case = CaseTable::get()->transcript('a Sandbox receipt at production');
        [$one, $two] = self::answers($case);
        $exchange = self::begin($case);
        $first = $exchange->document();
        $this->assertSame(1, $first->at('exchange.http.id'));
        $second = $exchange->step(json_decode($one, true), $case['now']);
        $this->assertSame($second, $exchange->document());
        $this->assertNotSame($first, $second);
        $this->assertSame(2, $second->at('exchange.http.id'));
        $this->assertFalse($exchange->isDone());
        $this->assertTrue($exchange->step($two, $case['now'])->ok);
        $this->assertTrue($exchange->isDone());
        $this->expectException(\LogicException::class);
        $this->expectExceptionMessage('over');
        $exchange->step('{}');
    }

    public function testMisuseLeavesTheStepOpen(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $exchange = self::begin($case);
        $first = $exchange->document();
        foreach ([[], ['id' => 2, 'status' => 200, 'body' => null], '[]'] as $wrong) {
            $this->thrown(Misuse::class, fn () => $exchange->step($wrong, $case['now']));
            $this->assertSame($first, $exchange->document());
            $this->assertFalse($exchange->isDone());
        }
        $this->assertTrue($exchange->step(self::answers($case)[0], $case['now'])->ok);
        $this->assertTrue($exchange->isDone());
        $exchange = self::begin($case);
        $exchange->close();
        $this->assertTrue($exchange->isDone());
    }

    public function testABugEndsIt(): void
    {
        // No input makes the library report an internal error: the test makes a document with it.
        $exchange = self::begin(CaseTable::get()->transcript('a good answer'));
        $handle = $exchange->document()->handle();
        $document = new Document(Loader::library(), $handle, Header::INTERNAL);
        $this->expectException(Internal::class);
        try {
            (fn () => $this->took($document))->call($exchange);
        } finally {
            $this->assertTrue($exchange->isDone());
        }
    }

    public function testWrongAnswersNeverReachTheLibrary(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $exchange = self::begin($case);
        foreach ([null, 5, ['a' => NAN], ['a' => "\xff"]] as $wrong) {
            try {
                $exchange->step($wrong);
                $this->fail('the answer was taken');
            } catch (\TypeError | \ValueError) {
                $this->assertFalse($exchange->isDone());
            }
        }
        $this->assertTrue($exchange->step(self::answers($case)[0], $case['now'])->ok);
    }

    public function testOneStepAtATime(): void
    {
        $case = CaseTable::get()->transcript('a good answer');
        $exchange = self::begin($case);
        $said = null;
        $again = static function () use ($exchange, &$said): void {
            try {
                $exchange->step('{}');
            } catch (\LogicException $error) {
                $said = $error->getMessage();
            }
        };
        $good = json_decode(self::answers($case)[0]);
        $this->assertTrue($exchange->step(self::whileRead($good, $again), $case['now'])->ok);
        $this->assertSame('this exchange is in the middle of a step', $said);
        $exchange = self::begin($case);
        $this->expectException(\LogicException::class);
        $this->expectExceptionMessage('over');
        try {
            $exchange->step(self::whileRead($good, $exchange->close(...)), $case['now']);
        } finally {
            $this->assertTrue($exchange->isDone());
        }
    }

    /** Returns a reply that calls a function while the step encodes it as JSON. */
    private static function whileRead(object $answer, callable $do): \JsonSerializable
    {
        return new class ($answer, $do) implements \JsonSerializable {
            /** @param callable(): void $do */
            public function __construct(private object $answer, private $do)
            {
            }

            public function jsonSerialize(): object
            {
                ($this->do)();

                return $this->answer;
            }
        };
    }

    /** Returns the open exchange of a transcript. */
    private static function begin(array $case): Exchange
    {
        return CaseTable::get()->verifier($case['verifier'])
            ->exchange(CaseTable::given($case, 'request'), [], $case['now']);
    }

    /** @return list<string> the reply to each step of a transcript */
    private static function answers(array $case): array
    {
        return array_map(
            static fn (array $step): string => CaseTable::given($step, 'answer'),
            $case['steps'],
        );
    }

    /** Returns a block `deviceCheck` of the case table, which has its own key. */
    private function deviceCheck(): object
    {
        return CaseTable::get()->configurationWith('deviceCheck')->deviceCheck;
    }
}
