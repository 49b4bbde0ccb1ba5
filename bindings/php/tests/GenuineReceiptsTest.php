<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Kind;
use Assay\Verifier;

final class GenuineReceiptsTest extends GenuineEvidence
{
    private const PROPERTIES = [
        'version' => 'version',
        'bundle_id' => 'bundleId',
        'product_id' => 'productId',
        'transaction_id' => 'transactionId',
        'environment' => 'environment',
        'receipt_type' => 'type',
        'application_version' => 'applicationVersion',
        'creation_date_ms' => 'creationDate',
        'digest' => 'digest',
        'status' => 'appleStatus',
        'style' => 'style',
    ];
    private const ANSWER = 'verify-receipt-response';
    /** Any number: the manifest has none, and no case holds a production app's. */
    private const APP_APPLE_ID = 1;

    protected function area(): string
    {
        return 'receipts';
    }

    public function testFamiliesAndFacts(): void
    {
        $this->assertGreaterThan(20, count($this->cases));
        foreach ($this->cases as $case) {
            $document = $this->document($case);
            $allowed = $case['expect']['families'];
            if ($case['kind'] === self::ANSWER && in_array('rejected', $allowed, true)) {
                $allowed[] = 'unavailable';
            }
            $said = "{$case['name']}: {$document->status()}";
            $this->assertContains(self::family($document->status()), $allowed, $said);
            if ($document->ok) {
                $this->checkFacts($case, $document->facts());
                Places::check($document->facts(), $case['name']);
            }
        }
    }

    private function checkFacts(array $case, Facts $found): void
    {
        foreach ($case['facts'] ?? [] as $name => $value) {
            $said = match ($name) {
                'purchases' => count($found->purchases),
                'leaf_serial' => ltrim(strtolower($found->chain->leaf->serial), '0'),
                // The manifest has whole seconds.
                'purchase_date_ms' => intdiv($found->purchaseDate, 1000) * 1000,
                default => $found->{self::PROPERTIES[$name]},
            };
            if ($name === 'leaf_serial') {
                $value = ltrim(strtolower(preg_replace('/^0x/i', '', $value)), '0');
            }
            $this->assertSame($value, $said, "{$case['name']}: $name");
        }
    }

    public function testDevice(): void
    {
        $seen = 0;
        foreach ($this->cases as $case) {
            $device = $case['config']['device_guid_hex'] ?? null;
            if ($device && $case['genuine']) {
                $subject = hex2bin($device);
                $this->assertTrue($this->document($case, $subject)->facts()->deviceBound);
                $other = substr($subject, 0, -1) . chr(ord(substr($subject, -1)) ^ 1);
                $document = $this->document($case, $other);
                $this->assertSame('rejected.account.device', $document->status());
                $seen++;
            }
        }
        $this->assertGreaterThan(0, $seen);
    }

    /** Ours is worth verifying, a cracker's is not. */
    public function testTriage(): void
    {
        foreach ($this->cases as $case) {
            if ($case['kind'] === self::ANSWER) {
                continue;
            }
            $verifier = new Verifier($this->configuration($case['config']));
            $blob = $this->file($case['file']);
            $finding = $verifier->triage($blob, $case['config']['now_ms']);
            $this->assertSame(
                !str_starts_with($case['name'], 'cracker'),
                $finding->worthVerifying,
                $case['name'],
            );
            if ($case['genuine']) {
                $this->assertSame($case['kind'], $finding->form);
                $this->assertSame($case['config']['bundle_ids'][0], $finding->claimed->bundleId);
            }
        }
    }

    private function document(array $case, ?string $subject = null): Document
    {
        $kind = $case['kind'] === self::ANSWER ? Kind::VerifyReceipt : Kind::from($case['kind']);

        return (new Verifier($this->configuration($case['config'])))
            ->verify($kind, $this->file($case['file']), $case['config']['now_ms'], $subject);
    }

    /** @return array<string, mixed> */
    private function configuration(array $config): array
    {
        $production = in_array('Production', $config['environments'], true);
        $app = $production ? ['appAppleId' => self::APP_APPLE_ID] : [];
        $block = [];
        foreach (['roots' => 'anchors', 'intermediates' => 'intermediates'] as $from => $to) {
            if ($config[$from] ?? []) {
                $block[$to] = $this->certificates($config[$from]);
            }
        }
        $storekit = [];
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
            'products' => (object) array_fill_keys(
                $config['product_ids'] ?? [],
                ['type' => 'consumable'],
            ),
            'receipts' => (object) $block,
            'storekit' => (object) $storekit,
        ];
    }
}
