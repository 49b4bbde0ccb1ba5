<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Kind;
use Assay\Verifier;

final class GenuineJwsTest extends GenuineEvidence
{
    /** Names of the manifest's facts => properties. */
    private const PROPERTIES = [
        'signed_date_ms' => 'signedDate',
        'environment' => 'environment',
        'type' => 'type',
        'product_id' => 'productId',
        'bundle_id' => 'bundleId',
        'transaction_id' => 'transactionId',
        'original_transaction_id' => 'originalTransactionId',
        'purchase_date_ms' => 'purchaseDate',
        'expires_date_ms' => 'expiresDate',
        'revocation_date_ms' => 'revocationDate',
        'auto_renew_product_id' => 'autoRenewProductId',
        'auto_renew_status' => 'autoRenewStatus',
        'notification_type' => 'notificationType',
        'subtype' => 'subtype',
    ];
    /** Facts that no property repeats. */
    private const OTHERS = ['leaf_generation', 'nested', 'signing_date_ms'];

    protected function area(): string
    {
        return 'jws';
    }

    public function testFamiliesAndFacts(): void
    {
        $this->assertGreaterThan(30, count($this->cases));
        foreach ($this->cases as $case) {
            $document = $this->document($case);
            $said = "{$case['name']}: {$document->status()}";
            $family = self::family($document->status());
            $this->assertContains($family, $case['expect']['families'], $said);
            if ($document->ok) {
                $this->checkFacts($case, $document->facts());
                Places::check($document->facts(), $case['name']);
            }
        }
    }

    private function checkFacts(array $case, Facts $found): void
    {
        foreach ($case['facts'] ?? [] as $name => $value) {
            $property = self::PROPERTIES[$name] ?? null;
            if ($property === null) {
                $this->assertContains($name, self::OTHERS);
            } elseif ($value !== null || isset($found::members()[$property])) {
                $this->assertSame($value, $found->{$property}, "{$case['name']}: $name");
            }
        }
        $this->assertSame($case['config']['effective_ms'], $found->effectiveDate->ms);
        $named = array_column($this->cases, null, 'name');
        foreach ($case['facts']['nested'] ?? [] as $member => $name) {
            $alone = $this->document($named[$name])->facts();
            $property = lcfirst(str_replace(' ', '', ucwords(str_replace('_', ' ', $member))));
            $inside = $found->{$property};
            $this->assertSame($alone->payload(), $inside->payload());
            $this->assertSame($alone->keys?->payload(), $inside->keys?->payload());
        }
    }

    public function testApplesRootIsCompiledIn(): void
    {
        $seen = 0;
        foreach ($this->cases as $case) {
            if ($case['genuine'] && $case['expect']['families'] === ['ok']) {
                $case['config']['roots'] = [];
                $document = $this->document($case);
                $this->assertTrue($document->ok, "{$case['name']}: {$document->status()}");
                $seen++;
            }
        }
        $this->assertGreaterThan(0, $seen);
    }

    public function testAnotherAppIsRefused(): void
    {
        $seen = 0;
        foreach ($this->cases as $case) {
            if ($case['genuine'] && $case['kind'] === 'transaction') {
                $case['config']['bundle_ids'] = ['com.example.another'];
                $this->assertSame('rejected', self::family($this->document($case)->status()));
                $seen++;
            }
        }
        $this->assertGreaterThan(0, $seen);
    }

    private function document(array $case): Document
    {
        $verifier = new Verifier($this->configuration($case['config']));

        return $verifier->verify(
            Kind::from($case['kind']),
            $this->file($case['file']),
            $case['config']['now_ms'],
        );
    }

    /** @return array<string, mixed> the verifier's configuration for one case */
    private function configuration(array $config): array
    {
        $app = $config['app_apple_id'] ? ['appAppleId' => $config['app_apple_id']] : [];
        $storekit = [];
        if ($config['roots']) {
            $storekit['anchors'] = $this->certificates($config['roots']);
        }
        if (isset($config['pinned_certificate'])) {
            $pinned = hash('sha256', $this->file($config['pinned_certificate']));
            $storekit['xcodeCertificates'] = [$pinned];
        }

        return [
            'apps' => array_map(
                static fn (string $bundle): array => ['bundleId' => $bundle] + $app,
                $config['bundle_ids'],
            ),
            'environments' => $config['environments'],
            'storekit' => (object) $storekit,
        ];
    }
}
