--TEST--
What a call makes goes into any reference, or is given back when it cannot
--EXTENSIONS--
assay
--FILE--
<?php
use Assay\Extension as C;

class Holder
{
    public ?C\Document $document = null;
    public int $number = 5;
    public readonly mixed $once;

    public function fill(): void
    {
        C\verifier_new('{', $this->once, $ignored);
    }
}

class Watched
{
    public function __destruct()
    {
        echo "given up\n";
        throw new LogicException('in a destructor');
    }
}

$config = '{"apps":[{"bundleId":"a.b","appAppleId":1}]}';
$holder = new Holder();
C\verifier_new($config, $verifier, $holder->document);
var_dump(C\doc_text($holder->document, 'kind'));
try {
    C\verifier_new($config, $verifier, $holder->number);
} catch (TypeError $error) {
    echo $error->getMessage(), "\n";
}
var_dump($holder->number);
try {
    C\verifier_new($config, $holder->number, $holder->document);
} catch (TypeError $error) {
    echo $error->getMessage(), "\n";
}
try {
    $holder->fill();
} catch (Error $error) {
    echo $error->getMessage(), "\n";
}
$document = new Watched();
try {
    C\verify_jws($verifier, 1, 'a.b.c', 1793000000000, $document);
} catch (LogicException $error) {
    echo $error->getMessage(), "\n";
}
var_dump(get_class($document));
// Both references are one variable: it keeps the last value, and the other is freed.
var_dump(C\verifier_new($config, $same, $same), get_class($same));
// A call replaces the variable of its own verifier.
C\verify_jws($verifier, 1, 'a.b.c', 1793000000000, $verifier);
var_dump(get_class($verifier));
$list = [];
C\verifier_new($config, $list['verifier'], $list['documents'][]);
var_dump(count($list['documents']), C\doc_status($list['documents'][0]));
?>
--EXPECT--
string(13) "configuration"
Cannot assign Assay\Extension\Document to reference held by property Holder::$number of type int
int(5)
Cannot assign Assay\Extension\Verifier to reference held by property Holder::$number of type int
Cannot indirectly modify readonly property Holder::$once
given up
in a destructor
string(24) "Assay\Extension\Document"
int(0)
string(24) "Assay\Extension\Document"
string(24) "Assay\Extension\Document"
int(1)
int(0)
