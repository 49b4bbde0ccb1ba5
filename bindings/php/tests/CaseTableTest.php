<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Internal;
use Assay\Exception\Misuse;
use Assay\Facts\Facts;
use Assay\Internal\Header;
use Assay\Internal\Kinds;
use Assay\Internal\Loader;
use Assay\Internal\Refusal;
use Assay\Keyset;
use Assay\Kind;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Every case of the shared table gets the answer that it must get. */
final class CaseTableTest extends TestCase
{
    private const METHODS = [
        'transaction' => 'verifyTransaction',
        'renewal' => 'verifyRenewal',
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
            'check_expiry', 'conversation', 'decide', 'exchange', 'keyset_new',
            'read_verify_receipt', 'triage', 'verifier_new', 'verify_assertion',
            'verify_attestation', 'verify_jws', 'verify_receipt', 'verify_token',
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
            'read_verify_receipt' => $this->checkAnswer($case),
            'verify_attestation' => $this->checkAttestation($case),
            'verify_assertion' => $this->checkAssertion($case),
            'verify_token' => $this->checkToken($case),
            'keyset_new' => $this->checkKeyset($case),
            'exchange' => $this->checkExchange($case),
            'conversation' => $this->checkConversation($case),
            'decide' => $this->checkDecision($case),
            'check_expiry' => $this->checkExpiry($case),
            'verifier_new' => $this->checkConfiguration($case),
        };
    }

    private function checkJws(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $jws = CaseTable::evidence($case);
        $document = $verifier->verify(Kind::from($case['kind']), $jws, $case['now']);
        $this->checkDocument($document, $case['expect']);
        $method = self::METHODS[$case['kind']];
        $found = $this->outcome($case, fn () => $verifier->{$method}($jws, $case['now']));
        if ($found !== null) {
            $path = Kinds::FACTS[$case['kind']][1];
            $this->assertSame($found->document()->at("$path.payload"), $found->payload());
        }
    }

    private function checkReceipt(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $receipt = CaseTable::evidence($case);
        $subject = CaseTable::subject($case);
        $kind = Kind::from($case['kind']);
        $document = $verifier->verify($kind, $receipt, $case['now'], $subject);
        $this->checkDocument($document, $case['expect']);
        if ($kind === Kind::AppReceipt) {
            $this->outcome(
                $case,
                fn () => $verifier->verifyAppReceipt($receipt, $subject, $case['now']),
            );
        } elseif ($kind === Kind::AttestReceipt) {
            $this->outcome(
                $case,
                fn () => $verifier->verifyAttestReceipt($receipt, $subject, $case['now']),
            );
        } elseif ($subject === null) {
            $this->outcome(
                $case,
                fn () => $verifier->verifyTransactionReceipt($receipt, $case['now']),
            );
        }
    }

    private function checkTriage(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $finding = $verifier->triage(CaseTable::given($case, 'blob'), $case['now']);
        $this->checkDocument($finding->document(), $case['expect']);
        $pending = $case['expect']['status'] === 'pending.triage.unverified';
        $this->assertSame($pending, $finding->worthVerifying);
        $this->assertSame($pending, $finding->httpStatus === null);
        $this->assertSame($case['expect']['status'], $finding->status);
        $claimed = $finding->document()->at('claimed') ?? [];
        $this->assertSame($claimed, $finding->claimed->payload());
        Places::check($finding->claimed, 'claimed');
    }

    private function checkAnswer(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $body = CaseTable::given($case, 'body');
        $document = $verifier->verify(Kind::VerifyReceipt, $body, $case['now']);
        $this->checkDocument($document, $case['expect']);
        $this->outcome($case, fn () => $verifier->readVerifyReceipt($body, $case['now']));
    }

    private function checkAttestation(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $attestation = CaseTable::given($case, 'attestation');
        $key = CaseTable::given($case, 'keyId');
        $document = $this->signedData(
            $case,
            fn (?string $data, ?string $hash): Facts =>
                $verifier->verifyAttestation($attestation, $key, $data, $hash, $case['now']),
        ) ?? $this->document(
            // A kind of client data that the binding cannot express.
            fn (object $handle, ?object &$answer): int =>
                Loader::library()->verifyAttestation(
                    $handle,
                    $attestation,
                    $key,
                    $case['clientDataKind'],
                    CaseTable::given($case, 'clientData'),
                    $case['now'],
                    $answer,
                ),
            $verifier,
        );
        $this->checkDocument($document, $case['expect']);
    }

    private function checkAssertion(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $assertion = CaseTable::given($case, 'assertion');
        $key = CaseTable::given($case, 'publicKey');
        $document = $this->signedData(
            $case,
            fn (?string $data, ?string $hash): Facts => $verifier->verifyAssertion(
                $assertion,
                $key,
                $case['counter'],
                $data,
                $hash,
                $case['now'],
            ),
        ) ?? $this->document(
            fn (object $handle, ?object &$answer): int =>
                Loader::library()->verifyAssertion(
                    $handle,
                    $assertion,
                    $key,
                    $case['counter'],
                    $case['clientDataKind'],
                    CaseTable::given($case, 'clientData'),
                    $case['now'],
                    $answer,
                ),
            $verifier,
        );
        $this->checkDocument($document, $case['expect']);
    }

    private function checkToken(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $keys = new Keyset(CaseTable::given($case, 'jwks'));
        $verify = fn (array $given): Facts =>
            $verifier->verifyToken(CaseTable::given($given, 'token'), $keys, $given['now']);
        foreach ($case['earlier'] as $seen) {
            try {
                $verify($seen);
            } catch (AssayException) {
                // Whatever it answers: the key set has seen it.
            }
        }
        $this->checkDocument($this->documentOf(fn () => $verify($case)), $case['expect']);
    }

    private function checkKeyset(array $case): void
    {
        $document = $this->documentOf(
            fn () => (new Keyset(CaseTable::given($case, 'jwks')))->facts(),
        );
        $this->checkDocument($document, $case['expect']);
    }

    /** The document of what a call returned, or was refused with. */
    private function documentOf(callable $call): Document
    {
        try {
            return $call()->document();
        } catch (AssayException $refusal) {
            $this->assertInstanceOf(Refusal::FAMILIES[$refusal->getCode() & 0xff], $refusal);

            return $refusal->document;
        }
    }

    /** A verification with client data: its document; null for another kind of them. */
    private function signedData(array $case, callable $call): ?Document
    {
        $data = CaseTable::given($case, 'clientData');
        try {
            $found = match ($case['clientDataKind']) {
                Header::CLIENT_DATA => $call($data, null),
                Header::CLIENT_DATA_HASH => $call(null, $data),
                default => null,
            };
        } catch (AssayException $refusal) {
            $this->assertInstanceOf(Refusal::FAMILIES[$refusal->getCode() & 0xff], $refusal);

            return $refusal->document;
        }

        return $found?->document();
    }

    /** The document of a call to the library itself. */
    private function document(callable $call, Verifier $verifier): Document
    {
        $handle = (fn (): object => $this->open())->call($verifier);
        $answer = null;
        $code = $call($handle, $answer);

        return new Document(Loader::library(), $answer, $code);
    }

    private function checkExchange(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $request = CaseTable::given($case, 'request');
        $evidence = $this->evidence($case);
        try {
            $exchange = $verifier->exchange($request, $evidence, $case['now']);
            $pending = str_starts_with($case['expect']['status'], 'pending.');
            $this->assertSame(!$pending, $exchange->isDone());
            $document = $exchange->document();
        } catch (AssayException $refusal) {
            $this->assertContains($refusal::class, [Misuse::class, Internal::class]);
            $document = $refusal->document;
        }
        $this->checkDocument($document, $case['expect']);
    }

    /** A transcript: the document before each answer, and the one after the last. */
    private function checkConversation(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $request = CaseTable::given($case, 'request');
        $exchange = null;
        $document = $this->said(function () use (&$exchange, $verifier, $request, $case) {
            $exchange = $verifier->exchange($request, $this->evidence($case), $case['now']);

            return $exchange->document();
        });
        foreach ($case['steps'] as $step) {
            $this->checkDocument($document, $step['expect']);
            $answer = CaseTable::given($step, 'answer');
            if ($exchange->isDone()) { // which the binding says itself
                $this->assertSame('misuse.exchange.order', $case['expect']['status']);
                $this->expectException(\LogicException::class);
            }
            $document = $this->said(fn () => $exchange->step($answer, $step['now']));
        }
        $this->checkDocument($document, $case['expect']);
    }

    /** What a call answers, or is refused with as misuse. */
    private function said(callable $call): Document
    {
        try {
            return $call();
        } catch (Misuse $refusal) {
            return $refusal->document;
        }
    }

    private function checkDecision(array $case): void
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $evidence = $this->evidence($case);
        try {
            $decision = $verifier->decide($evidence, $case['account'], $case['now']);
            $this->assertSame($decision->document()->ok, $decision->entitled);
            $document = $decision->document();
        } catch (AssayException $refusal) {
            $this->assertNotSame('rejected.decide.not-entitled', $refusal->status);
            $document = $refusal->document;
        }
        $this->checkDocument($document, $case['expect']);
    }

    /** @return list<Document> each by the case's verifier unless it names another */
    private function evidence(array $case): array
    {
        return array_map(
            fn (array $entry): Document => $entry['kind'] === 'keyset'
                ? self::keyset(CaseTable::evidence($entry))
                : CaseTable::get()
                    ->verifier($entry['verifier'] ?? $case['verifier'])
                    ->verify(
                        Kind::from($entry['kind']),
                        CaseTable::evidence($entry),
                        $entry['now'] ?? $case['now'],
                    ),
            $case['evidence'],
        );
    }

    /** What reading a key set answered, refused or not. */
    private static function keyset(string $jwks): Document
    {
        try {
            return (new Keyset($jwks))->facts()->document();
        } catch (AssayException $refusal) {
            return $refusal->document;
        }
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

    private function checkConfiguration(array $case): void
    {
        try {
            $document = (new Verifier(CaseTable::given($case, 'config')))->document();
        } catch (AssayException $refusal) {
            $document = $refusal->document;
        }
        $this->checkDocument($document, $case['expect']);
    }

    /** The method of a kind returns facts, or throws the exception of the family. */
    private function outcome(array $case, callable $call): ?Facts
    {
        $status = $case['expect']['status'];
        try {
            $found = $call();
            $this->assertTrue($found->document()->ok);
            $this->assertSame('ok', $status);

            return $found;
        } catch (AssayException $refusal) {
            $this->assertSame($status, $refusal->status);
            $family = Refusal::FAMILIES[$refusal->getCode() & 0xff];
            $this->assertSame($family, $refusal::class);
        }

        return null;
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
            // The getters of the C contract say the same as the JSON.
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

    /** Members of the document itself: what is new must find a place in the binding. */
    private function checkEnvelope(array $json): void
    {
        $known = ['assay', 'kind', 'ok', 'status', 'error', 'checks', 'warnings', 'claimed',
            'configuration', 'digests'];
        $facts = array_map(static fn (array $fact): string => explode('.', $fact[1])[0],
            Kinds::FACTS);
        $this->assertSame([], array_values(array_diff(array_keys($json), $known, $facts)));
        foreach ($json['checks'] as $check) {
            $this->assertSame([], array_diff(array_keys($check), ['id', 'ok', 'why']));
        }
        foreach ($json['warnings'] ?? [] as $warning) {
            $this->assertSame([], array_diff(array_keys($warning), ['id', 'at']));
        }
        $error = ['message', 'check', 'rule', 'at', 'hint', 'retryClass', 'keyset'];
        $this->assertSame([], array_diff(array_keys($json['error'] ?? []), $error));
    }
}
