<?php

// Frame of docs/tasks/run-exchange.md: Apple is a function that says what was minted.
// REPLACES run($send, WITH run($apple($send),

require getenv('ASSAY_EVIDENCE') . '/evidence.php';

$verifier = new \Assay\Verifier((string) \file_get_contents('authority/config.json'));
$request = ['operation' => 'call-verify-receipt', 'receipt' => \minted('app-receipt')];
$said = \minted('verify-receipt-response');
$apple = static fn (\Assay\Sender $sender): callable =>
    static fn (array $request): array =>
        ['id' => $request['id'], 'status' => 200, 'body' => ['text' => $said]];
function queue(array $retry): void
{
    throw new \LogicException('nothing is to be queued');
}
// SNIPPET
\must($verifier->decide($document)->plan === 'premium', 'the plan');
$whole = true;
