<?php

// Prints the public classes of the PHP binding and their public members, one a line, for
// Tests/Gates/api_of_hosts.py. What is marked @internal, or comes from there, is left out.

declare(strict_types=1);

require __DIR__ . '/../../bindings/php/autoload.php';

$shown = static fn (mixed $value): string => match (true) {
    is_array($value) => json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE),
    $value === null => 'null',
    default => ltrim(var_export($value, true), '\\'),
};

$parameter = static fn (ReflectionParameter $it): string =>
    ltrim("{$it->getType()} ") . ($it->isPassedByReference() ? '&' : '')
    . ($it->isVariadic() ? '...' : '') . "\${$it->getName()}" . match (true) {
        !$it->isDefaultValueAvailable() => '',
        $it->isDefaultValueConstant() => " = {$it->getDefaultValueConstantName()}",
        default => " = {$shown($it->getDefaultValue())}",
    };

// A name, then what it is: "final", "static", "readonly".
$said = static fn (string $name, ReflectionClass|ReflectionMethod|ReflectionProperty $it): string =>
    implode(' ', [$name, ...array_diff(Reflection::getModifierNames($it->getModifiers()),
        ['public'])]);

$source = realpath(__DIR__ . '/../../bindings/php/src');
$isOurs = static fn (string $path): bool => str_starts_with($path, "$source/")
    && !str_starts_with($path, "$source/Internal/");

$list = static function (string $name) use ($shown, $parameter, $said, $isOurs): void {
    $class = new ReflectionClass($name);
    $isInternal = static fn ($it): bool => str_contains((string) $it->getDocComment(), '@internal');
    if ($isInternal($class)) {
        return;
    }
    $own = static fn (array $members): array => array_filter($members, static fn ($it): bool =>
        $it->isPublic() && $it->getDeclaringClass()->getName() === $name && !$isInternal($it));
    $parent = $class->getParentClass();
    $has = array_diff($class->getInterfaceNames(), $parent ? $parent->getInterfaceNames() : []);
    sort($has);
    echo $said($name, $class),
        $class->isEnum() ? ' enum' : ($class->isInterface() ? ' interface' : ' class'),
        $parent ? " extends {$parent->getName()}" : '',
        $has ? ' implements ' . implode(', ', $has) : '', "\n";
    foreach ($own($class->getReflectionConstants()) as $it) {
        $value = $it->isEnumCase() ? $it->getValue()->value ?? null : $it->getValue();
        // A version is not a name.
        echo "$name::{$it->getName()}", $it->isEnumCase() ? ' case' : '',
            $it->getName() === 'VERSION' ? '' : " = {$shown($value)}", "\n";
    }
    foreach ($own($class->getProperties()) as $it) {
        echo $said("$name::\${$it->getName()}", $it), rtrim(": {$it->getType()}", ': '), "\n";
    }
    foreach ($own($class->getMethods()) as $it) {
        // That of a trait stands in the trait's file.
        if ($isOurs((string) $it->getFileName())) {
            echo $said("$name::{$it->getName()}", $it),
                '(', implode(', ', array_map($parameter, $it->getParameters())), ')',
                rtrim(": {$it->getReturnType()}", ': '), "\n";
        }
    }
};

foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($source)) as $file) {
    $path = (string) $file;
    if (str_ends_with($path, '.php') && $isOurs($path)) {
        $list('Assay\\' . strtr(substr($path, strlen($source) + 1, -4), '/', '\\'));
    }
}
