<?php

// Frame of a metered call: two of an empty quota, over a ledger that is there.

namespace Page;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$account = \ACCOUNT;
\minted('transaction');
$limits = ['quotas' => ['free' => ['premium' => 1, 'free' => 9]]];
$ledger = \Assay\Ledger\Ledger::open('sqlite:./quota.db', $limits + \authority());
$ledger->createSchema();
$call = static function () use ($ledger, $account) {
// SNIPPET
    return null;
};
\must($call() === null && $call() === 'free', 'the second one falls back');
$whole = true;
