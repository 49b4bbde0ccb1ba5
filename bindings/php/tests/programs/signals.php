<?php

// Receives signals while the library is called, and calls it in their handler too. Prints how often
// the handler did, and "same" if every result was right.

declare(strict_types=1);

use Assay\Kind;
use Assay\Tests\CaseTable;

require __DIR__ . '/../bootstrap.php';

const SECONDS = 2.0;

$case = CaseTable::get()->accepted('transaction');
$jws = CaseTable::evidence($case);
$forged = substr($jws, 0, -4) . 'AAAA';
$verifier = CaseTable::get()->verifier($case['verifier']);
$product = $verifier->verifyTransaction($jws, $case['now'])->productId;

// PHP does not load a class in a handler that interrupted the loading of the same class, so every
// class is loaded before the first signal.
$verifier->verify(Kind::Transaction, $jws, $case['now'])->facts()?->productId;
$verifier->verify(Kind::Transaction, $forged, $case['now'])->status();

$handled = $wrong = 0;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$handled, &$wrong, $verifier, $forged, $case): void {
    $handled++;
    $document = $verifier->verify(Kind::Transaction, $forged, $case['now']);
    $wrong += $document->status() === 'rejected.jws.signature' ? 0 : 1;
});

$sender = pcntl_fork();
if ($sender === 0) {
    $parent = posix_getppid();
    $end = microtime(true) + SECONDS + 1;
    while (microtime(true) < $end && posix_kill($parent, SIGUSR1)) {
        usleep(100);
    }
    posix_kill(getmypid(), SIGKILL);
}

$end = microtime(true) + SECONDS;
while (microtime(true) < $end) {
    $document = $verifier->verify(Kind::Transaction, $jws, $case['now']);
    $wrong += $document->ok && $document->textAt('transaction.productId') === $product ? 0 : 1;
    $wrong += $document->facts()->productId === $product ? 0 : 1;
}
pcntl_signal(SIGUSR1, SIG_IGN);
posix_kill($sender, SIGKILL);
pcntl_waitpid($sender, $status);
echo $handled > 10 ? 'many' : $handled, ' ', $wrong === 0 ? 'same' : "$wrong wrong", "\n";
