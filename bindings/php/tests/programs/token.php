<?php

// Verifies a token with fetched keys, for KeysetCacheTest; prints the account.

declare(strict_types=1);

require_once __DIR__ . '/../../autoload.php';

[$config, $hosts, $folder, $token, $issuer] = json_decode(
    (string) stream_get_contents(STDIN),
    true,
);
$keys = new Assay\KeysetCache(new Assay\Verifier($config), $folder, new Assay\Sender($hosts));
echo $keys->verifyToken($token, $issuer)->subject;
