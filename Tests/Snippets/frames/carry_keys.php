<?php

// Frame of docs/tasks/run-exchange.md: the issuer is a function that says what was minted.
// REPLACES '/var/lib/app/keys'); WITH $folder, $published);

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$issuer = 'https://issuer.example.com/tenant';
$verifier = verifierUnderTest([
    'apps' => [['bundleId' => 'com.example.app', 'appAppleId' => 1234567890]],
    'tokens' => [['profile' => 'jwt', 'issuers' => [$issuer], 'algorithm' => 'RS256',
        'audiences' => ['games'], 'jwksUri' => 'https://issuer.example.com/keys']],
]);
$set = json_decode(minted('keyset'), true);
$text = minted('token', '--profile', 'jwt');
$folder = sys_get_temp_dir() . '/assay-keys-' . bin2hex(random_bytes(6));
mkdir($folder, 0700);
$published = static fn (array $request): array => [
    'id' => $request['id'], 'status' => 200,
    'body' => ['text' => json_encode(['keys' => $set['keys']])],
];
// SNIPPET
must($token->subject === 'user-1', 'the subject');
must((new Assay\KeysetCache($verifier, $folder))->verifyToken($text, $issuer)->subject === 'user-1',
    'what was kept serves the next request');
array_map(unlink(...), glob("$folder/*"));
rmdir($folder);
$whole = true;
