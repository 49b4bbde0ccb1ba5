<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\AssayException;
use Assay\Exception\Internal;
use Assay\Exception\Misuse;
use Assay\Exception\Rejected;
use Assay\Facts\Assertion;
use Assay\Facts\Attestation;
use Assay\Verifier;

final class GenuineAttestTest extends GenuineEvidence
{
    protected function area(): string
    {
        return 'attest';
    }

    public function testAttestations(): void
    {
        foreach ($this->genuine('attestation') as $case) {
            if ($case['expect']['families'] !== ['ok']) {
                try {
                    $this->attest($case);
                    $this->fail("{$case['name']} was accepted");
                } catch (AssayException $refusal) {
                    $family = self::family($refusal->status);
                    $this->assertContains($family, $case['expect']['families']);
                }
                continue;
            }
            $found = $this->attest($case);
            $wanted = $case['facts'];
            $key = base64_decode($wanted['public_key_x963_b64'], true);
            $this->assertSame($wanted['environment'], $found->environment);
            $this->assertSame($key, $found->publicKey);
            $this->assertSame($case['config']['key_id_b64'], $found->keyId);
            $this->assertSame($case['config']['app_id'], $found->appId);
            $this->assertSame(hexdec($wanted['flags']), $found->flags);
            $this->assertSame($wanted['receipt']['type'], $found->receipt->type);
            Places::check($found, $case['name']);
        }
    }

    /** Anywhere but in the receipt, whose copy of Apple's root is not looked at. */
    public function testOneAlteredByteIsRefused(): void
    {
        foreach ($this->genuine('attestation') as $case) {
            if ($case['expect']['families'] !== ['ok']) {
                continue;
            }
            $octets = $this->file($case['file']);
            $receipt = $this->attest($case)->receipt->raw;
            $start = strpos($octets, $receipt);
            for ($at = 0; $at < strlen($octets); $at += 41) {
                if ($at >= $start && $at < $start + strlen($receipt)) {
                    continue;
                }
                $altered = $octets;
                $altered[$at] = chr(ord($altered[$at]) ^ 1);
                try {
                    $this->attest($case, $altered);
                    $this->fail("{$case['name']}, altered at $at, was accepted");
                } catch (AssayException $refusal) {
                    $this->assertNotInstanceOf(Internal::class, $refusal);
                    $this->assertNotInstanceOf(Misuse::class, $refusal);
                }
            }
        }
    }

    public function testAssertions(): void
    {
        foreach ($this->genuine('assertion') as $case) {
            $found = $this->signed($case, 0);
            $this->assertSame($case['facts']['counter'], $found->counter);
            Places::check($found, $case['name']);
            try {
                $this->signed($case, $found->counter);
                $this->fail("{$case['name']}, replayed, was accepted");
            } catch (Rejected $refusal) {
                $this->assertSame('rejected.assertion.counter', $refusal->status);
            }
        }
    }

    public function testReceipts(): void
    {
        $families = [];
        foreach ($this->genuine('app-attest-receipt') as $case) {
            $config = $case['config'];
            $key = $this->octets($config['public_key_x963_b64'] ?? null);
            $verifier = $this->verifier($config, ['time' => 'stored']);
            $receipt = $this->file($case['file']);
            try {
                $found = $verifier->verifyAttestReceipt($receipt, $key, $config['now_ms']);
                Places::check($found, $case['name']);
                $this->assertSame($key !== null, $found->bound);
                $this->assertSame($found->type === 'ATTEST', $found->risk === null);
                $family = 'ok';
            } catch (AssayException $refusal) {
                $family = self::family($refusal->status);
            }
            $this->assertContains($family, $case['expect']['families'], $case['name']);
            $families[] = $family;
        }
        $this->assertContains('ok', $families);
    }

    private function attest(array $case, ?string $octets = null): Attestation
    {
        $config = $case['config'];

        return $this->verifier($config)->verifyAttestation(
            $octets ?? $this->file($case['file']),
            $config['key_id_b64'],
            ...$this->clientData($config),
            now: $config['now_ms'],
        );
    }

    private function signed(array $case, int $counter): Assertion
    {
        $config = $case['config'];

        return $this->verifier($config)->verifyAssertion(
            $this->file($case['file']),
            $this->octets($config['public_key_x963_b64']),
            $counter,
            ...$this->clientData($config),
            now: $config['now_ms'],
        );
    }

    /** @return array<string, string> the client data, or their hash where only that is known */
    private function clientData(array $config): array
    {
        return isset($config['client_data_b64'])
            ? ['clientData' => $this->octets($config['client_data_b64'])]
            : ['clientDataHash' => $this->octets($config['client_data_hash_b64'])];
    }

    private function octets(?string $base64): ?string
    {
        return $base64 === null ? null : (string) base64_decode($base64, true);
    }

    /** @param array<string, mixed> $attest */
    private function verifier(array $config, array $attest = []): Verifier
    {
        $production = ($config['environment'] ?? '') === 'production';

        return new Verifier([
            'apps' => [['bundleId' => $config['bundle_id'], 'teamId' => $config['team_id'],
                'appAppleId' => 1]],
            'environments' => [$production ? 'Production' : 'Sandbox'],
            'attest' => (object) $attest,
        ]);
    }

    /** @return list<array<string, mixed>> */
    private function genuine(string $kind): array
    {
        $found = array_filter(
            $this->cases,
            static fn (array $case): bool => $case['kind'] === $kind && $case['genuine'],
        );
        $this->assertNotSame([], $found, "the manifest has no $kind");

        return array_values($found);
    }
}
