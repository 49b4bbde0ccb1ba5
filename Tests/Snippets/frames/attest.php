<?php

// Frame of App Attest: what the app sent, the record of its key, the table of keys.

namespace Page;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

final class Keys
{
    public array $rows = [];

    public function insert(string $id, string $of, string $key, int $counter, ?string $r): void
    {
        \must(strlen($key) === 65 && $r !== null, 'the key and the receipt');
        $this->rows[$id] = $counter;
    }

    public function find(string $id, string $of): object
    {
        $known = \device();
        \must($id === $known['keyId'] && $of === \ACCOUNT, 'the normal form');

        return (object) ['keyId' => $id, 'counter' => 7,
            'publicKey' => base64_decode($known['publicKey'])];
    }

    public function advance(string $id, int $counter): void
    {
        \must($this->rows[$id] < $counter, 'a later counter');
        $this->rows[$id] = $counter;
    }
}

$account = \ACCOUNT;
$clientData = $body = 'hello';
$attestation = \minted('attestation', '--client-data', 'hello');
$sent = ['attestation' => $attestation, 'keyId' => \device()['keyId']];
$headers = ['X-Assertion' => \minted('assertion', '--client-data', 'hello', '--counter', '8'),
    'X-Key-Id' => rtrim(strtr($sent['keyId'], '+/', '-_'), '=')];   // as many clients send it
$keys = new Keys();
$verifier = new \Assay\Verifier(\authority());
// SNIPPET
\must($keys->rows === [$sent['keyId'] => 8], 'the counter');
$whole = true;
