<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Kind;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/**
 * Asserts that what Apple signed or answered passes unchanged through the binding, with the
 * built-in roots, if ../shared/vectors exists beside the repository. The library's own tests check
 * the decisions about it (Tests/AssayTests/Genuine….swift).
 */
final class GenuineTest extends TestCase
{
    private const VECTORS = __DIR__ . '/../../../../shared/vectors';

    /**
     * @return iterable<string, array{string, int}> folders, with the least number of their entries
     */
    public function folders(): iterable
    {
        yield 'jws' => ['jws', 15];
        yield 'receipts' => ['receipts', 15];
        yield 'attest' => ['attest', 20];
    }

    /** @dataProvider folders */
    public function testAccepted(string $name, int $least): void
    {
        $folder = self::VECTORS . "/$name";
        if (!is_file("$folder/manifest.json")) {
            $this->markTestSkipped("$folder does not exist");
        }
        $seen = 0;
        foreach (json_decode(file_get_contents("$folder/manifest.json"), true) as $case) {
            $isAnswer = $case['kind'] === 'verify-receipt-response';
            if ($case['expect']['families'] === ['ok'] && ($case['genuine'] || $isAnswer)) {
                $octets = (string) file_get_contents("$folder/$case[file]");
                $document = $this->verified($case['kind'], $octets, $case['config']);
                $this->assertTrue($document->ok, "{$case['name']}: {$document->status()}");
                Places::check($document->facts(), $case['name']);
                $seen++;
            }
        }
        $this->assertGreaterThanOrEqual($least, $seen);
    }

    private function verified(string $kind, string $octets, array $config): Document
    {
        $verifier = new Verifier($this->configuration($config));
        $now = $config['now_ms'];
        $bytes = static fn (string $name): ?string => isset($config[$name])
            ? base64_decode($config[$name], true) : null;
        $data = $bytes('client_data_b64');
        $hash = $data === null ? $bytes('client_data_hash_b64') : null;
        $key = $bytes('public_key_x963_b64');

        return match ($kind) {
            'attestation' => $verifier
                ->verifyAttestation($octets, $config['key_id_b64'], $data, $hash, $now)->document(),
            'assertion' => $verifier
                ->verifyAssertion($octets, $key, 0, $data, $hash, $now)->document(),
            'app-attest-receipt' => $verifier->verify(Kind::AttestReceipt, $octets, $now, $key),
            'renewal' => $verifier->verify(Kind::RenewalInfo, $octets, $now),
            default => $verifier->verify(Kind::from($kind), $octets, $now),
        };
    }

    /** @return array<string, mixed> */
    private function configuration(array $config): array
    {
        return [
            'apps' => array_map(
                static fn (string $bundle): array => ['bundleId' => $bundle,
                    'appAppleId' => $config['app_apple_id'] ?? 1,
                    'teamId' => $config['team_id'] ?? 'ABCDE12345'],
                $config['bundle_ids'] ?? [$config['bundle_id']],
            ),
            'environments' => $config['environments']
                ?? [($config['environment'] ?? '') === 'production' ? 'Production' : 'Sandbox'],
            'products' => (object) array_fill_keys(
                $config['product_ids'] ?? [],
                ['type' => 'consumable'],
            ),
            'attest' => ['time' => 'stored'],
        ];
    }
}
