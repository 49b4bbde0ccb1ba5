<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\AssayException;
use Assay\Facts\AppleTokens;
use Assay\Facts\FetchedKeyset;
use Assay\Keyset;
use PHPUnit\Framework\TestCase;

/** Tests of Sign in with Apple and of key sets: the methods and their typed results. */
final class AppleTest extends TestCase
{
    public function testTheCasesThroughTheirMethods(): void
    {
        $seen = ['verify-apple-identity-token' => 0, 'verify-sign-in-notification' => 0];
        foreach (CaseTable::get()->cases as $case) {
            $request = $case['call'] === 'exchange'
                ? json_decode(CaseTable::given($case, 'request'), true) : null;
            $operation = $request['operation'] ?? null;
            if (!is_string($operation) || !isset($seen[$operation]) || !$this->canBeSaid($case, $request)) {
                continue;
            }
            $seen[$operation]++;
            $this->assertSame($case['expect']['status'], $this->status($case, $request), $case['name']);
        }
        $this->assertGreaterThan(20, min($seen));
    }

    /** Whether a method can express the request: its evidence is one key set. */
    private function canBeSaid(array $case, array $request): bool
    {
        return array_column($case['evidence'], 'kind') === ['keyset']
            && !str_starts_with($case['expect']['status'], 'misuse.exchange.')
            && array_filter($request, is_string(...)) === $request;
    }

    private function status(array $case, array $request): string
    {
        $verifier = CaseTable::get()->verifier($case['verifier']);
        $keys = new Keyset(CaseTable::evidence($case['evidence'][0]));
        try {
            if ($request['operation'] === 'verify-apple-identity-token') {
                $token = $verifier->verifyAppleIdentityToken(
                    $request['token'],
                    $keys,
                    $request['nonce'] ?? null,
                    $case['now'],
                );
                $this->assertNotSame('', $token->subject);
            } else {
                $event = $verifier->verifySignInNotification(
                    $request['payload'],
                    $keys,
                    $case['now'],
                );
                $this->assertNotSame('', $event->tokenId);
            }
        } catch (AssayException $refusal) {
            return $refusal->status;
        }

        return 'ok';
    }

    public function testFinishedExchanges(): void
    {
        $keys = FetchedKeyset::of($this->finished('KST-12 keys: for the first time'));
        $this->assertTrue($keys->changed);
        $this->assertSame(0, $keys->keysetState->failures);
        $this->assertNotNull((new Keyset($keys->keyset))->facts()->issuer);
        $refused = FetchedKeyset::of($this->finished('KST-13 keys: the first failure'));
        $this->assertNull($refused->keyset);
        $this->assertSame(1, $refused->keysetState->failures);
        $tokens = AppleTokens::of($this->finished('AID-22 Apple: a code')['tokens']);
        $this->assertSame('r-token', $tokens->refreshToken);
    }

    /** Returns the result of a transcript. */
    private function finished(string $name): array
    {
        foreach (CaseTable::get()->cases as $case) {
            if ($case['call'] !== 'transcript' || $case['name'] !== $name) {
                continue;
            }
            $exchange = CaseTable::get()->verifier($case['verifier'])
                ->exchange(CaseTable::given($case, 'request'), [], $case['now']);
            foreach ($case['steps'] as $step) {
                $exchange->step(CaseTable::given($step, 'answer'), $step['now']);
            }

            return $exchange->document()->json()['exchange'];
        }
        $this->fail("the table has no case {$name}");
    }
}
