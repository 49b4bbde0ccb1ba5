<?php

// Frame of a purchase that is paid out once, from an empty folder to the wallet.

namespace Page;

use PDO;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$account = \ACCOUNT;
$jws = \minted('transaction', '--type', 'consumable', '--product', 'com.example.app.coins100');
$configuration = \authority();
$wallet = new PDO('sqlite:shop.db');
$wallet->exec('DROP TABLE IF EXISTS wallet');
// A customer without a row yet.
$wallet->exec('CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)');
// SNIPPET
\must($wallet->query('SELECT coins FROM wallet')->fetchColumn() === 100, 'the wallet');
$whole = true;
