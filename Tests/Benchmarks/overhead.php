<?php

// What a call through the PHP binding costs, facts read out; by the extension where PHP has
// loaded it, else by FFI.
//
//   php overhead.php CONFIG_FILE JWS_FILE NOW_MS COUNT
//
// Prints {"language": "php-ffi" or "php-ext", "ns": [seven rounds, nanoseconds of work a call]},
// and the same with "-request" after the name: what a request of PHP-FPM after the first costs,
// which makes a verifier, verifies, reads the facts and forgets both.

declare(strict_types=1);

use Assay\Assay;
use Assay\Verifier;

require __DIR__ . '/../../bindings/php/autoload.php';

const WARM_UP = 200;
const ROUNDS = 7;

function verify_and_read(Verifier $verifier, string $jws, int $now): int
{
    $transaction = $verifier->verifyTransaction($jws, $now);
    $read = [
        $transaction->transactionId,
        $transaction->originalTransactionId,
        $transaction->productId,
        $transaction->bundleId,
        $transaction->environment,
        $transaction->type,
        $transaction->purchaseDate,
        $transaction->expiresDate,
        $transaction->quantity,
        $transaction->inAppOwnershipType,
    ];

    return count($read);
}

/** CPU time of this process in nanoseconds: what a busy machine does not change. */
function worked(): int
{
    $usage = getrusage();
    $seconds = $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'];

    return ($seconds * 1_000_000 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1000;
}

/** Seven rounds of the work, in nanoseconds each time. */
function rounds(callable $work, int $count): array
{
    for ($index = 0; $index < WARM_UP; $index++) {
        $work();
    }
    $rounds = [];
    for ($round = 0; $round < ROUNDS; $round++) {
        $begin = worked();
        for ($index = 0; $index < $count; $index++) {
            $work();
        }
        $rounds[] = (worked() - $begin) / $count;
    }

    return $rounds;
}

[, $config, $file, $now, $count] = $argv;
$config = file_get_contents($config);
$verifier = new Verifier($config);
$jws = rtrim(file_get_contents($file), "\n");
$now = (int) $now;
$count = (int) $count;
$language = Assay::loadedBy() === 'ffi' ? 'php-ffi' : 'php-ext';
$call = rounds(fn () => verify_and_read($verifier, $jws, $now), $count);
echo json_encode(['language' => $language, 'ns' => $call]), "\n";
unset($verifier);
$request = rounds(fn () => verify_and_read(new Verifier($config), $jws, $now), $count);
echo json_encode(['language' => $language . '-request', 'ns' => $request]), "\n";
