<?php

// Verifies COUNT times and more, and prints the growth of the process's memory.
//
//   php soak.php COUNT
//
// Prints {"verified": COUNT, "growth": bytes, "seconds": …}.

declare(strict_types=1);

use Assay\Exception\Rejected;
use Assay\Kind;
use Assay\Tests\CaseTable;
use Assay\Verifier;

require __DIR__ . '/../bootstrap.php';

const WARM_UP = 3_000;

function resident(): int
{
    gc_collect_cycles();

    return 4096 * (int) explode(' ', (string) file_get_contents('/proc/self/statm'))[1];
}

function work(Verifier $verifier, object $configuration, array $case, int $count): void
{
    $jws = CaseTable::evidence($case);
    $forged = substr($jws, 0, -4) . 'AAAA';
    for ($index = 0; $index < $count; $index++) {
        if ($index % 5 === 4) {
            try {
                $verifier->verifyTransaction($forged, $case['now']);
                throw new LogicException('a forgery was accepted');
            } catch (Rejected $refusal) {
                $refusal->document->error();
            }
            continue;
        }
        $transaction = $verifier->verifyTransaction($jws, $case['now']);
        if ($transaction->productId === null || $transaction->purchaseAt === null) {
            throw new LogicException('facts are missing');
        }
        if ($index % 50 === 0) {
            $verifier->decide([$transaction], null, $case['now'])->evidence->kinds;
            $verifier->triage($jws, $case['now'])->unverified->keys;
            $verifier->assessRisk(['request' => 'paid', 'attestation' => 'refused'])->rules;
        }
        if ($index % 5_000 === 0) {
            $other = new Verifier($configuration);
            $other->verify(Kind::Transaction, $jws, $case['now'])->checks();
        }
    }
}

$count = (int) $argv[1];
$case = CaseTable::get()->accepted('transaction');
$configuration = CaseTable::get()->configuration($case['verifier']);
$verifier = new Verifier($configuration);
work($verifier, $configuration, $case, WARM_UP);
$before = resident();
$begin = hrtime(true);
work($verifier, $configuration, $case, $count);
echo json_encode([
    'verified' => $count,
    'growth' => resident() - $before,
    'seconds' => round((hrtime(true) - $begin) / 1e9, 1),
]), "\n";
