<?php

// Frame of a notification, and of a receipt that is claimed once.

namespace Page;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

final class Ledger
{
    public array $claimed = [];

    public function claim(string $key, string $account): void
    {
        \must(!isset($this->claimed[$key]), 'claimed once');
        $this->claimed[$key] = $account;
    }
}

$account = \ACCOUNT;
$body = ['signedPayload' => \minted('notification', '--notification-type', 'DID_RENEW')];
$vendorId = '8F1A2B3C-4D5E-4F60-8A7B-9C0D1E2F3A4B';
$device = str_replace('-', '', $vendorId);
$blob = \minted('app-receipt', '--device', $device, '--purchases', '3');
$ledger = new Ledger();
$verifier = new \Assay\Verifier(\authority());
// SNIPPET
\must($note->notificationType === 'DID_RENEW', 'the type');
\must(count($ledger->claimed) === 3, 'three claims');
$whole = true;
