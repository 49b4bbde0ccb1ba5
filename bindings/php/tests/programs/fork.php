<?php

// Uses a verifier made before fork in parent and children, which may make their own. Prints "same"
// if all of them have the results from before.

declare(strict_types=1);

use Assay\Tests\CaseTable;
use Assay\Verifier;

require __DIR__ . '/../bootstrap.php';

const CHILDREN = 6;

$case = CaseTable::get()->accepted('transaction');
$jws = CaseTable::evidence($case);
$configuration = CaseTable::get()->configuration($case['verifier']);
$verifier = new Verifier($configuration);
$before = $verifier->verifyTransaction($jws, $case['now']);
$product = $before->productId;

$children = [];
for ($index = 0; $index < CHILDREN; $index++) {
    $child = pcntl_fork();
    if ($child === 0) {
        $own = new Verifier($configuration);
        for ($round = 0; $round < 50; $round++) {
            $found = [
                $verifier->verifyTransaction($jws, $case['now'])->productId,
                $own->verifyTransaction($jws, $case['now'])->productId,
                $before->document()->facts()->productId,
                $verifier->decide($before, null, $case['now'])->productId ?? $product,
            ];
            if ($found !== array_fill(0, 4, $product)) {
                exit(1);
            }
        }
        $verifier->close();
        exit(0);
    }
    $children[] = $child;
}
$codes = [];
foreach ($children as $child) {
    $verifier->verifyTransaction($jws, $case['now']);
    pcntl_waitpid($child, $status);
    $codes[] = pcntl_wifexited($status) ? pcntl_wexitstatus($status) : -1;
}
$after = $verifier->verifyTransaction($jws, $case['now'])->productId;
echo $codes === array_fill(0, CHILDREN, 0) && $after === $product ? 'same' : 'different', "\n";
