--TEST--
Minted evidence is verified, and decided from
--EXTENSIONS--
assay
--SKIPIF--
<?php
if (!is_file((string) getenv('ASSAY_CASES'))) {
    die('skip ASSAY_CASES is not set: run make check, which mints the cases');
}
?>
--FILE--
<?php
use Assay\Extension as C;

$table = json_decode(file_get_contents(getenv('ASSAY_CASES')));
foreach ($table->cases as $case) {
    if ($case->call === 'verify_jws' && $case->kind === 'transaction') {
        break;
    }
}
$config = json_encode($table->verifiers->{$case->verifier});
var_dump(C\verifier_new($config, $verifier, $made));
var_dump(C\verify_jws($verifier, 1, $case->jws, $case->now, $document));
var_dump(C\doc_text($document, 'transaction.bundleId'));
var_dump(C\doc_integer($document, 'transaction.purchaseDate', -1) > 0);
var_dump(C\decide($verifier, [$document], null, $case->now, $decision));
var_dump(C\doc_text($decision, 'decision.plan'));
?>
--EXPECT--
int(0)
int(0)
string(15) "com.example.app"
bool(true)
int(0)
string(7) "premium"
