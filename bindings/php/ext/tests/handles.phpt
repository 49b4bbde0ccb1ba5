--TEST--
Handles are made by calls alone: no new, no clone, no serialising, no members
--EXTENSIONS--
assay
--FILE--
<?php
use Assay\Extension as C;

$code = C\verifier_new('{"apps":[{"bundleId":"a.b","appAppleId":1}]}', $verifier, $document);
var_dump($code, $verifier, $document);
foreach (['Verifier', 'Document', 'Exchange'] as $name) {
    $class = "Assay\\Extension\\$name";
    $attempts = [
        fn () => new $class(),
        fn () => (new ReflectionClass($class))->newInstance(),
        fn () => (new ReflectionClass($class))->newInstanceWithoutConstructor(),
        fn () => unserialize('O:' . strlen($class) . ":\"$class\":0:{}"),
    ];
    var_dump((new ReflectionClass($class))->isFinal());
    foreach ($attempts as $attempt) {
        try {
            $attempt();
            echo "made\n";
        } catch (Throwable $error) {
            echo $error->getMessage(), "\n";
        }
    }
}
foreach (
    [
        fn () => clone $verifier,
        fn () => serialize($document),
        function () use ($verifier) {
            $verifier->member = 1;
        },
        fn () => var_export($verifier == $document),
    ] as $attempt
) {
    try {
        $attempt();
    } catch (Throwable $error) {
        echo $error->getMessage(), "\n";
    }
}
?>
--EXPECTF--
int(0)
object(Assay\Extension\Verifier)#%d (0) {
}
object(Assay\Extension\Document)#%d (0) {
}
bool(true)
Assay\Extension\Verifier is made by a call of the library
Assay\Extension\Verifier is made by a call of the library
Class Assay\Extension\Verifier is an internal class marked as final that cannot be instantiated without invoking its constructor
Unserialization of 'Assay\Extension\Verifier' is not allowed
bool(true)
Assay\Extension\Document is made by a call of the library
Assay\Extension\Document is made by a call of the library
Class Assay\Extension\Document is an internal class marked as final that cannot be instantiated without invoking its constructor
Unserialization of 'Assay\Extension\Document' is not allowed
bool(true)
Assay\Extension\Exchange is made by a call of the library
Assay\Extension\Exchange is made by a call of the library
Class Assay\Extension\Exchange is an internal class marked as final that cannot be instantiated without invoking its constructor
Unserialization of 'Assay\Extension\Exchange' is not allowed
Trying to clone an uncloneable object of class Assay\Extension\Verifier
Serialization of 'Assay\Extension\Document' is not allowed
Cannot create dynamic property Assay\Extension\Verifier::$member
false