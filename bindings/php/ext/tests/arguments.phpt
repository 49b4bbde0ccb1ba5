--TEST--
Wrong arguments are errors of PHP, or statuses of the library; never a crash
--EXTENSIONS--
assay
--FILE--
<?php
declare(strict_types=1);

use Assay\Extension as C;

C\verifier_new('{"apps":[{"bundleId":"a.b","appAppleId":1}]}', $verifier, $made);
$now = 1793000000000;
$attempts = [
    fn () => C\verify_jws($made, 1, 'a.b.c', $now, $document),
    fn () => C\verify_jws(null, 1, 'a.b.c', $now, $document),
    fn () => C\verify_jws(new stdClass(), 1, 'a.b.c', $now, $document),
    fn () => C\verify_jws($verifier, 1 << 40, 'a.b.c', $now, $document),
    fn () => C\verify_jws($verifier, '1', 'a.b.c', $now, $document),
    fn () => C\verify_jws($verifier, 1, ['a'], $now, $document),
    fn () => C\verify_jws($verifier, 1, 'a.b.c', 1.5, $document),
    fn () => C\verify_jws($verifier, 1, 'a.b.c'),
    fn () => C\verify_assertion($verifier, '', '', -1, 1, '', $now, $document),
    fn () => C\verify_assertion($verifier, '', '', 1 << 32, 1, '', $now, $document),
    fn () => C\decide($verifier, [$verifier], null, $now, $document),
    fn () => C\decide($verifier, [$made, 5], null, $now, $document),
    fn () => C\decide($verifier, $made, null, $now, $document),
    fn () => C\exchange_new($verifier, '{}', ['x' => null], $now, $exchange, $document),
    fn () => C\exchange_step($verifier, '{}', $now, $document),
    fn () => C\status_name(PHP_INT_MAX),
    fn () => C\doc_text($made, null),
];
foreach ($attempts as $attempt) {
    try {
        var_dump($attempt());
    } catch (Throwable $error) {
        echo $error::class, ': ', $error->getMessage(), "\n";
    }
}

echo "-- statuses\n";
$name = function (int $code): void {
    echo C\status_name($code), "\n";
};
$name(C\verify_jws($verifier, 77, 'a.b.c', $now, $document));
$name(C\verify_jws($verifier, 1, '', $now, $document));
$name(C\verify_jws($verifier, 1, str_repeat('a', 50_000_000), $now, $document));
$name(C\verify_jws($verifier, 1, "\0\0.\0", $now, $document));
$name(C\verify_jws($verifier, 1, 'a.b.c', PHP_INT_MIN, $document));
$name(C\decide($verifier, [], null, $now, $document));
$name(C\decide($verifier, [7 => $made, 'x' => $made], null, $now, $document));
$name(C\exchange_new($verifier, "\xff", [], $now, $exchange, $document));
var_dump($exchange, C\doc_status($document) & 0xff);
var_dump(C\doc_text($document, ''), C\doc_text($document, "\0"), C\doc_text($document, 'kind'));
var_dump(C\doc_integer($document, 'kind', -7), C\doc_integer($document, 'assay', -7));
?>
--EXPECT--
TypeError: Assay\Extension\verify_jws(): Argument #1 ($verifier) must be of type Assay\Extension\Verifier, Assay\Extension\Document given
TypeError: Assay\Extension\verify_jws(): Argument #1 ($verifier) must be of type Assay\Extension\Verifier, null given
TypeError: Assay\Extension\verify_jws(): Argument #1 ($verifier) must be of type Assay\Extension\Verifier, stdClass given
ValueError: Assay\Extension\verify_jws(): Argument #2 ($kind) must be between -2147483648 and 2147483647
TypeError: Assay\Extension\verify_jws(): Argument #2 ($kind) must be of type int, string given
TypeError: Assay\Extension\verify_jws(): Argument #3 ($jws) must be of type string, array given
TypeError: Assay\Extension\verify_jws(): Argument #4 ($now_ms) must be of type int, float given
ArgumentCountError: Assay\Extension\verify_jws() expects exactly 5 arguments, 3 given
ValueError: Assay\Extension\verify_assertion(): Argument #4 ($counter) must be between 0 and 4294967295
ValueError: Assay\Extension\verify_assertion(): Argument #4 ($counter) must be between 0 and 4294967295
TypeError: Assay\Extension\decide(): Argument #2 ($evidence) must hold objects of Assay\Extension\Document, Assay\Extension\Verifier given
TypeError: Assay\Extension\decide(): Argument #2 ($evidence) must hold objects of Assay\Extension\Document, int given
TypeError: Assay\Extension\decide(): Argument #2 ($evidence) must be of type array, Assay\Extension\Document given
TypeError: Assay\Extension\exchange_new(): Argument #3 ($evidence) must hold objects of Assay\Extension\Document, null given
TypeError: Assay\Extension\exchange_step(): Argument #1 ($exchange) must be of type Assay\Extension\Exchange, Assay\Extension\Verifier given
ValueError: Assay\Extension\status_name(): Argument #1 ($status) must be between -2147483648 and 2147483647
TypeError: Assay\Extension\doc_text(): Argument #2 ($path) must be of type string, null given
-- statuses
misuse.call.kind
malformed.jws.form
too-large.jws.input
malformed.jws.form
misuse.call.now
misuse.decision.empty
misuse.decision.evidence
misuse.exchange.request
NULL
int(5)
NULL
NULL
string(8) "exchange"
int(-7)
int(1)
