--TEST--
Documents outlive their verifier; memory stays flat
--EXTENSIONS--
assay
--FILE--
<?php
use Assay\Extension as C;

function resident(): int
{
    return 4096 * (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
}

$config = '{"apps":[{"bundleId":"a.b","appAppleId":1}]}';
C\verifier_new($config, $verifier, $made);
C\verify_jws($verifier, 1, 'a.b.c', 1793000000000, $document);
$verifier = null;
$made = null;
var_dump(json_decode(C\doc_json($document))->ok, C\doc_text($document, 'kind'));

$work = function (int $count) use ($config): void {
    C\verifier_new($config, $verifier, $document);
    for ($index = 0; $index < $count; $index++) {
        C\verify_jws($verifier, 1, 'a.b.c', 1793000000000, $document);
        C\decide($verifier, [$document, $document], null, 1793000000000, $answer);
        C\doc_text($answer, 'status.name');
    }
};
$work(20_000);
$before = resident();
$work(50_000);
var_dump(resident() - $before < 1 << 20);
$many = [];
for ($index = 0; $index < 200; $index++) {
    C\verifier_new($config, $many["v$index"], $many["d$index"]);
}
echo "end with ", count($many), " handles\n";
?>
--EXPECT--
bool(false)
string(11) "transaction"
bool(true)
end with 400 handles
