<?php

// Frame of a refund: a purchase that was paid out, and Apple's notification about it, twice.

namespace Page;

use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Ledger\Take;
use PDO;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$coins = ['--type', 'consumable', '--product', 'com.example.app.coins100'];
$jws = \minted('transaction', ...$coins);
$refund = \minted('notification', '--notification-type', 'REFUND', '--refunded', ...$coins);
$wallet = new PDO('sqlite:event.db');
$wallet->exec('CREATE TABLE taken (take_id TEXT PRIMARY KEY, account TEXT, coins INTEGER)');
$ledger = Ledger::open('sqlite:./event.db', \authority());
$ledger->createSchema();
$pay = static function (Grant $grant): void {
};
\must($ledger->claim($jws, \ACCOUNT, $pay)->clientResult === 'granted', 'the claim');
$notification = $ledger->verifier->verifyNotification($refund);
for ($delivery = 0; $delivery < 2; $delivery++) {
// SNIPPET
    \must($event->ok, $event->status);
}
\must($wallet->query('SELECT coins FROM taken')->fetchAll(PDO::FETCH_COLUMN) === [100], 'taken');
$whole = true;
