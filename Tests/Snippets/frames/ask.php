<?php

// Frame of docs/tasks/verify-receipt.md: Apple is a function that says what was minted.
// REPLACES ->run() WITH ->run($send)

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$verifier = new \Assay\Verifier((string) \file_get_contents('authority/config.json'));
$text = \minted('app-receipt');
$said = [
    \minted('verify-receipt-response', '--apple-status', '21007'),
    \minted('verify-receipt-response'),
];
$asked = [];
$send = static function (array $request) use ($said, &$asked): array {
    $asked[] = $request['url'];

    return ['id' => $request['id'], 'status' => 200, 'body' => ['text' => $said[count($asked) - 1]]];
};
// SNIPPET
\must($decision->plan === 'premium', 'the plan');
\must(\count($asked) === 2, 'the hop');
$whole = true;
