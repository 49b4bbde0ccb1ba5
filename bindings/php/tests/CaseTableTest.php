<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Internal;
use Assay\Exception\Misuse;
use Assay\Exchange;
use Assay\Facts\Facts;
use Assay\Internal\Header;
use Assay\Internal\Kinds;
use Assay\Internal\Loader;
use Assay\Internal\Refusal;
use Assay\Keyset;
use Assay\Kind;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Asserts that every case of the shared table has its expected result. */
final class CaseTableTest extends TestCase
{
    private const METHODS = [
        'transaction' => 'verifyTransaction',
        'renewal-info' => 'verifyRenewalInfo',
        'notification' => 'verifyNotification',
        'app-transaction' => 'verifyAppTransaction',
        'realtime-request' => 'verifyRealtimeRequest',
    ];

    /** @return iterable<string, array{array<string, mixed>}> */
    public function cases(): iterable
    {
        $names = [];
        foreach (CaseTable::get()->cases as $case) {
            $name = "{$case['call']}: {$case['name']}";
            if (isset($names[$name])) {
                throw new \LogicException("a case name stands twice: $name");
            }
            $names[$name] = true;
            yield $name => [$case];
        }
    }

    public function testEveryCallHasCases(): void
    {
        $calls = array_count_values(array_column(CaseTable::get()->cases, 'call'));
        ksort($calls);
        $this->assertSame([
            'check_expiry', 'decide', 'exchange', 'keyset_new', 'read_verify_receipt_response',
            'transcript', 'triage', 'verifier_new', 'verify_assertion', 'verify_attestation',
            'verify_jws', 'verify_receipt', 'verify_token',
        ], array_keys($calls));
    }

    /**
     * @dataProvider cases
     *
     * @param array<string, mixed> $case
     */
    public function testCase(array $case): void
    {
        match ($case['call']) {
            'verify_jws' => $this->checkJws($case),
            'verify_receipt' => $this->checkReceipt($case),
            'triage' => $this->checkTriage($case),
            'read_verify_receipt_response' => $this->checkAnswer($case),
            'verify_attestation' => $this->checkSigned(
                $case,
                'verifyAttestation',
                CaseTable::given($case, 'attestation'),
                CaseTable::given($case, 'keyId'),
            ),
            'verify_assertion' => $this->checkSigned(
                $case,
                'verifyAssertion',
                CaseTable::given($case, 'assertion'),
                CaseTable::given($case, 'publicKey'),
                $case['counter'],
            ),
            'verify_token' => $this->checkToken($case),
            'keyset_new' => $this->checkDocument(
                $this->documentOf(fn () => self::keyset($case)),
                $case['expect'],
            ),
            'exchange' => $this->checkExchange($case),
            'transcript' => $this->checkTranscript($case),
            'decide' => $this->checkDecision($case),
            'check_expiry' => $this->checkExpiry($case),
            'verifier_new' => $this->checkDocument(
                $this->documentOf(fn () => new Verifier(CaseTable::given($case, 'config'))),
                $case['expect'],
            ),
        };
    }

    private static function verifier(array $case): Verifier
    {
        return CaseTable::get()->verifier($case['verifier']);
    }

    private function checkJws(array $case): void
    {
        $method = self::METHODS[$case['kind']];
        $jws = CaseTable::evidence($case);
        $found = $this->checkBoth(
            $case,
            fn () => self::verifier($case)->{$method}($jws, $case['now']),
        );
        if ($found !== null) {
            $path = Kinds::FACTS[$case['kind']][1];
            $this->assertSame($found->document()->at("$path.payload"), $found->payload());
        }
    }

    private function checkReceipt(array $case): void
    {
        $verifier = self::verifier($case);
        $receipt = CaseTable::evidence($case);
        $subject = CaseTable::subject($case);
        $this->checkBoth($case, match (Kind::from($case['kind'])) {
            Kind::AppReceipt =>
                fn () => $verifier->verifyAppReceipt($receipt, $subject, $case['now']),
            Kind::AttestReceipt =>
                fn () => $verifier->verifyAttestReceipt($receipt, $subject, $case['now']),
            default => $subject !== null ? null
                : fn () => $verifier->verifyTransactionReceipt($receipt, $case['now']),
        });
    }

    private function checkTriage(array $case): void
    {
        $finding = self::verifier($case)->triage(CaseTable::given($case, 'blob'), $case['now']);
        $this->checkDocument($finding->document(), $case['expect']);
        $pending = $case['expect']['status'] === 'pending.triage.verify-next';
        $this->assertSame($pending, $finding->worthVerifying);
        $this->assertSame($pending, $finding->httpStatus === null);
        $this->assertSame($case['expect']['status'], $finding->status);
        $claimed = $finding->document()->at('unverified') ?? [];
        $this->assertSame($claimed, $finding->unverified->payload());
        Places::check($finding->unverified, 'unverified');
    }

    private function checkAnswer(array $case): void
    {
        $body = CaseTable::given($case, 'body');
        $this->checkBoth(
            ['kind' => 'verify-receipt-response'] + $case,
            fn () => self::verifier($case)->readVerifyReceiptResponse($body, $case['now']),
        );
    }

    /** Checks a method for evidence that is verified with client data. */
    private function checkSigned(array $case, string $method, mixed ...$given): void
    {
        $data = CaseTable::given($case, 'clientData');
        $forms = [Header::CLIENT_DATA => [$data, null], Header::CLIENT_DATA_HASH => [null, $data]];
        $kind = $case['clientDataKind'];
        if (isset($forms[$kind])) {
            array_push($given, ...$forms[$kind], ...[$case['now']]);
            $document = $this->documentOf(fn () => self::verifier($case)->{$method}(...$given));
        } else { // The binding cannot express this kind of client data.
            $handle = (fn (): object => $this->open())->call(self::verifier($case));
            array_push($given, $kind, $data, $case['now']);
            $given[] = &$answer;
            $code = Loader::library()->{$method}($handle, ...$given);
            $document = new Document(Loader::library(), $answer, $code);
        }
        $this->checkDocument($document, $case['expect']);
    }

    private function checkToken(array $case): void
    {
        $keys = new Keyset(CaseTable::given($case, 'jwks'));
        $verify = fn (array $given): Facts => self::verifier($case)
            ->verifyToken(CaseTable::given($given, 'token'), $keys, $given['now']);
        foreach ($case['earlier'] as $seen) {
            try {
                $verify($seen);
            } catch (AssayException) {
                // Any outcome will do: the key set has then seen the token.
            }
        }
        $this->checkDocument($this->documentOf(fn () => $verify($case)), $case['expect']);
    }

    private static function keyset(array $case): Facts
    {
        return (new Keyset(CaseTable::given($case, 'jwks')))->facts();
    }

    /**
     * Returns the document of a call's result or refusal, which must be of one of these classes.
     */
    private function documentOf(callable $call, string ...$classes): Document
    {
        try {
            return $call()->document();
        } catch (AssayException $refusal) {
            $family = Refusal::FAMILIES[$refusal->getCode() & 0xff];
            $this->assertSame($family, $refusal::class);
            $this->assertContains($family, $classes ?: [$family]);

            return $refusal->document;
        }
    }

    private function checkExchange(array $case): void
    {
        $exchange = null;
        $document = $this->documentOf(
            function () use (&$exchange, $case): Exchange {
                return $exchange = $this->exchange($case);
            },
            Misuse::class,
            Internal::class,
        );
        $pending = str_starts_with($case['expect']['status'], 'pending.');
        $this->assertSame($exchange === null ? null : !$pending, $exchange?->isDone());
        $this->checkDocument($document, $case['expect']);
    }

    /** Checks a transcript: the document before each reply, and the one after the last. */
    private function checkTranscript(array $case): void
    {
        $exchange = null;
        $document = $this->documentOf(function () use (&$exchange, $case): Exchange {
            return $exchange = $this->exchange($case);
        }, Misuse::class);
        foreach ($case['steps'] as $step) {
            $this->checkDocument($document, $step['expect']);
            if ($exchange->isDone()) { // the binding reports this itself
                $this->assertSame('misuse.exchange.order', $case['expect']['status']);
                $this->expectException(\LogicException::class);
            }
            $document = $this->documentOf(function () use ($exchange, $step): Exchange {
                $exchange->step(CaseTable::given($step, 'answer'), $step['now']);

                return $exchange;
            }, Misuse::class);
        }
        $this->checkDocument($document, $case['expect']);
        if ($document === $exchange?->document()) {
            $pending = str_starts_with($document->status(), 'pending.');
            $this->assertSame(!$pending, $exchange->isDone());
        }
    }

    private function exchange(array $case): Exchange
    {
        $request = CaseTable::given($case, 'request');

        return self::verifier($case)->exchange($request, $this->evidence($case), $case['now']);
    }

    private function checkDecision(array $case): void
    {
        $evidence = $this->evidence($case);
        $decision = null;
        $document = $this->documentOf(function () use ($case, $evidence, &$decision): Facts {
            return $decision = self::verifier($case)
                ->decide($evidence, $case['account'], $case['now']);
        });
        $this->assertSame($decision === null ? null : $document->ok, $decision?->entitled);
        $this->assertFalse(
            $decision === null && $document->status() === 'rejected.decision.not-entitled',
            'that is an answer',
        );
        $this->checkDocument($document, $case['expect']);
    }

    /** @return list<Document> each verified by the case's verifier unless it names another */
    private function evidence(array $case): array
    {
        return array_map(fn (array $entry): Document => match ($entry['kind']) {
            'keyset' => $this->documentOf(fn () => self::keyset($entry)),
            'attestation' => self::verifier($case)->verifyAttestation(
                CaseTable::given($entry, 'attestation'),
                CaseTable::given($entry, 'keyId'),
                CaseTable::given($entry, 'clientData'),
                now: $case['now'],
            )->document(),
            'assertion' => self::verifier($case)->verifyAssertion(
                CaseTable::given($entry, 'assertion'),
                CaseTable::given($entry, 'publicKey'),
                $entry['counter'],
                CaseTable::given($entry, 'clientData'),
                now: $case['now'],
            )->document(),
            default => self::verifier($entry + $case)->verify(
                Kind::from($entry['kind']),
                CaseTable::evidence($entry),
                $entry['now'] ?? $case['now'],
            ),
        }, $case['evidence']);
    }

    private function checkExpiry(array $case): void
    {
        $date = static fn (mixed $date): ?int => $date === null ? null : (int) $date;
        try {
            $expiry = Verifier::checkExpiry(
                $date($case['expires']),
                $date($case['grace']),
                $date($case['revoked']),
                $date($case['now']),
            );
        } catch (Misuse $refusal) {
            $this->assertSame($case['expect']['status'], $refusal->status);

            return;
        }
        $this->assertSame($case['expect']['status'], $expiry->status());
        $this->assertSame($case['expect']['status'] === 'ok', $expiry->inForce);
    }

    /** Checks `verify` and the method of the kind, and returns the facts. */
    private function checkBoth(array $case, ?callable $call): ?Facts
    {
        $document = self::verifier($case)->verify(
            Kind::from($case['kind']),
            CaseTable::evidence($case),
            $case['now'],
            CaseTable::subject($case),
        );
        $this->checkDocument($document, $case['expect']);
        if ($call === null) {
            return null;
        }
        $found = null;
        $answered = $this->documentOf(function () use ($call, &$found): Facts {
            return $found = $call();
        });
        $this->assertSame($case['expect']['status'], $answered->status());
        $this->assertSame($answered->ok, $found !== null);

        return $found;
    }

    private function checkDocument(Document $document, array $expect): void
    {
        $json = $document->json();
        $this->assertSame($expect['status'], $document->status(), $document->text());
        $this->assertSame($expect['status'], $json['status']['name']);
        $this->assertSame($document->code, $json['status']['code']);
        $this->assertSame($document->ok, $json['ok']);
        foreach (['check', 'at'] as $member) {
            if (array_key_exists($member, $expect)) {
                $this->assertSame($expect[$member], $document->error()[$member]);
            }
        }
        if (isset($expect['hint'])) {
            $this->assertStringStartsWith($expect['hint'], $document->error()['hint']);
        }
        foreach ($expect['facts'] ?? [] as $path => $value) {
            $this->assertSame($value, $document->at((string) $path), (string) $path);
            // The getters of the C library are equal to the JSON.
            if (is_string($value)) {
                $this->assertSame($value, $document->textAt($path), $path);
            } elseif (is_int($value)) {
                $this->assertSame($value, $document->integerAt($path), $path);
            }
        }
        $facts = $document->facts();
        if ($facts !== null) {
            Places::check($facts, $document->kind());
        }
        $this->checkEnvelope($json);
    }

    /** Checks that the binding knows every member of the document. */
    private function checkEnvelope(array $json): void
    {
        $known = ['assay', 'kind', 'ok', 'status', 'error', 'checks', 'warnings', 'unverified',
            'configuration', 'digests'];
        $facts = array_map(static fn (array $fact): string => explode('.', $fact[1])[0],
            Kinds::FACTS);
        $this->assertSame([], array_values(array_diff(array_keys($json), $known, $facts)));
        foreach ($json['checks'] as $check) {
            $this->assertSame([], array_diff(array_keys($check), ['id', 'ok', 'reason']));
        }
        foreach ($json['warnings'] ?? [] as $warning) {
            $this->assertSame([], array_diff(array_keys($warning), ['id', 'at']));
        }
        $error = ['message', 'check', 'rule', 'at', 'hint', 'retryClass', 'keyset'];
        $this->assertSame([], array_diff(array_keys($json['error'] ?? []), $error));
    }
}
