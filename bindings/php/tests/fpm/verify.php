<?php

// The script of the servers under test: verifies the evidence beside this file, and prints the
// worker.

declare(strict_types=1);

use Assay\Assay;
use Assay\Exception\AssayException;
use Assay\Verifier;

require __DIR__ . '/autoload.php';

header('content-type: application/json');
$given = json_decode((string) file_get_contents(__DIR__ . '/evidence.json'));
try {
    $verifier = new Verifier($given->configuration);
    $said = ['worker' => getmypid(), 'library' => Assay::loadedBy() . ' ' . Assay::libraryPath()];
    $jws = ($_GET['forged'] ?? '') ? substr($given->jws, 0, -4) . 'AAAA' : $given->jws;
    $transaction = $verifier->verifyTransaction($jws, $given->now);
    if ($_GET['fatal'] ?? '') {
        ini_set('memory_limit', '16M');
        str_repeat('a', 1 << 26);
    }
    $resident = 4096 * (int) explode(' ', (string) file_get_contents('/proc/self/statm'))[1];
    echo json_encode([...$said, 'product' => $transaction->productId, 'resident' => $resident]);
} catch (AssayException $refusal) {
    http_response_code($refusal->httpStatus);
    echo json_encode([...$said, 'status' => $refusal->status]);
} catch (Throwable $error) {
    http_response_code(500);
    echo $error::class, ': ', $error->getMessage();
}
