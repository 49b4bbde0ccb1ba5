<?php

// Claims the purchase in standard input: dsn, configuration, JWS, and whether to be killed inside
// the grant. Prints the client result.

declare(strict_types=1);

require __DIR__ . '/../bootstrap.php';

[$dsn, $configuration, $jws, $end] = json_decode((string) stream_get_contents(STDIN), true);
$ledger = Assay\Ledger\Ledger::open($dsn, $configuration);
$claimed = $ledger->claim($jws, 'ann', static function ($grant, PDO $pdo) use ($end): void {
    $pdo->prepare('INSERT INTO wallet VALUES (?,?,?)')->execute([$grant->grantId, $grant->account, 100]);
    if ($end === 'killed') {
        posix_kill(posix_getpid(), 9);
    }
});
echo $claimed->clientResult;
