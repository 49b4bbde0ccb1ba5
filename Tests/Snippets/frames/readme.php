<?php

// Frame of a page that has a configuration, verifies and decides.

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$account = \ACCOUNT;
$config = (string) \file_get_contents('authority/config.json');
$jws = \minted('transaction', '--product', 'com.example.app.premium.monthly', '--environment',
    'Production', '--account', $account);
$plan = null;
// SNIPPET
\must($plan === 'premium', 'the plan');
$whole = true;
