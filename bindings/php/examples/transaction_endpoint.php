<?php

// An endpoint for the signed transaction that an app sends after a purchase.
//
//   POST {"transaction": "<JWS>"} returns {"plan": "premium", "until": 1797006385000}
//
// To try it here (the built-in server needs ffi.enable=1, or the extension):
//
//   ASSAY_CONFIG=config.json php -d ffi.enable=1 -S 127.0.0.1:8080 transaction_endpoint.php
//
// In production it runs under php-fpm: fpm/ has the ini lines. ASSAY_CONFIG names the
// configuration (docs/config.md).

declare(strict_types=1);

use Assay\Exception\AssayException;
use Assay\Verifier;

// With Composer: require 'vendor/autoload.php'.
require_once __DIR__ . '/../autoload.php';

const LONGEST_BODY = 64 * 1024;

/** @return array{int, array<string, mixed>} HTTP status and the JSON of the response */
function respond(string $method, string $body, ?string $account): array
{
    if ($method !== 'POST') {
        return [405, ['error' => 'POST it']];
    }
    if (strlen($body) > LONGEST_BODY) {
        return [413, ['error' => 'too long']];
    }
    $jws = json_decode($body, true)['transaction'] ?? null;
    if (!is_string($jws)) {
        return [400, ['error' => 'not accepted']];
    }
    try {
        $verifier = new Verifier((string) file_get_contents((string) getenv('ASSAY_CONFIG')));
        $transaction = $verifier->verifyTransaction($jws);
        $decision = $verifier->decide($transaction, $account);
    } catch (AssayException $refusal) {
        // The reason is for the log; the client receives nothing that helps a forger.
        error_log($refusal->getMessage());

        return [$refusal->httpStatus, ['error' => 'not accepted']];
    }
    // Store $jws, not the objects, and verify it again when it is needed.
    return [200, ['plan' => $decision->plan, 'until' => $decision->expiresAtMs]];
}

// The UUID of the account from your own sign-in; null if it is not checked.
$account = $_SERVER['REMOTE_USER'] ?? null;
$body = (string) file_get_contents('php://input', length: LONGEST_BODY + 1);
[$status, $answer] = respond($_SERVER['REQUEST_METHOD'], $body, $account);
http_response_code($status);
header('content-type: application/json');
echo json_encode($answer);
