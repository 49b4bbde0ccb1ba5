<?php

// Leaves handles behind in every way in which a program may end. Prints "end" and exits.

declare(strict_types=1);

use Assay\Kind;
use Assay\Tests\CaseTable;
use Assay\Verifier;

require __DIR__ . '/../bootstrap.php';

$case = CaseTable::get()->accepted('transaction');
$jws = CaseTable::evidence($case);
$configuration = CaseTable::get()->configuration($case['verifier']);

final class Kept
{
    public static array $handles = [];
    public mixed $self = null;
    public mixed $facts = null;

    public function __destruct()
    {
        // The library is still loaded when PHP releases everything.
        $this->facts?->productId;
        $this->facts?->document()->text();
    }
}

$verifier = new Verifier($configuration);
for ($index = 0; $index < 100; $index++) {
    $kept = new Kept();
    $kept->self = $kept;
    $kept->facts = $verifier->verifyTransaction($jws, $case['now']);
    Kept::$handles[] = $kept->facts->document();
}
$verifier = null;
gc_collect_cycles();
register_shutdown_function(static function () use ($configuration, $jws, $case): void {
    $late = new Verifier($configuration);
    Kept::$handles[] = $late->verify(Kind::Transaction, $jws, $case['now']);
    $handle = Kept::$handles[0]->handle();
    if (method_exists($handle, '__destruct')) {
        $handle->__destruct();
        $handle->__destruct();
    }
    Kept::$handles[0]->text();
    Kept::$handles[0]->status();
    echo Kept::$handles[1]->facts()->productId === null ? 'nothing' : 'end', "\n";
    throw new RuntimeException('nobody catches this');
});
