<?php

// Frame of a page that makes a verifier with Apple's roots, verifies and decides.

namespace Page;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$account = \ACCOUNT;
$jws = \minted('transaction', '--product', 'premium.monthly', '--environment', 'Production',
    '--account', $account);
$plan = null;
// REPLACES new Verifier( WITH \verifierUnderTest(
// SNIPPET
\must($plan === 'premium', 'the plan');
$whole = true;
