<?php

// Writes the public classes of the PHP package as JSON, by reflection:
//   php php_reference.php bindings/php/src

declare(strict_types=1);

$root = $argv[1];
spl_autoload_register(static function (string $class) use ($root): void {
    $file = $root . '/' . str_replace('\\', '/', substr($class, strlen('Assay\\'))) . '.php';
    if (is_file($file)) {
        require $file;
    }
});

/** A comment without its frame and without its tags of types. */
function words(string|false $comment): string
{
    $text = preg_replace('~^\s*/\*\*[ \t]?|\s*\*/$~', '', (string) $comment);
    return trim(preg_replace('~^[ \t]*\* ?~m', '', $text));
}

function declared(ReflectionMethod $method): string
{
    $parameters = [];
    foreach ($method->getParameters() as $parameter) {
        $text = ($parameter->getType() ?? '') . ' '
            . ($parameter->isVariadic() ? '...' : '') . '$' . $parameter->getName();
        if ($parameter->isDefaultValueAvailable()) {
            $value = $parameter->isDefaultValueConstant()
                ? $parameter->getDefaultValueConstantName()
                : str_replace('NULL', 'null', var_export($parameter->getDefaultValue(), true));
            $text .= ' = ' . preg_replace('~\s+~', ' ', $value);
        }
        $parameters[] = trim($text);
    }
    $type = $method->hasReturnType() ? ': ' . $method->getReturnType() : '';
    $head = ($method->isStatic() ? 'static ' : '') . 'function ' . $method->getName();
    $line = $head . '(' . implode(', ', $parameters) . ')' . $type;
    return strlen($line) <= 88 || $parameters === []
        ? $line
        : $head . "(\n    " . implode(",\n    ", $parameters) . ",\n)" . $type;
}

$classes = [];
$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator(
    $root,
    FilesystemIterator::SKIP_DOTS,
));
foreach ($files as $file) {
    $path = substr((string) $file, strlen($root) + 1);
    if (!str_ends_with($path, '.php') || str_starts_with($path, 'Internal')) {
        continue;
    }
    $class = new ReflectionClass('Assay\\' . str_replace('/', '\\', substr($path, 0, -4)));
    $constants = $properties = $methods = [];
    foreach ($class->getReflectionConstants(ReflectionClassConstant::IS_PUBLIC) as $constant) {
        $value = $constant->getValue();
        $shown = is_scalar($value) ? ' = ' . var_export($value, true) : '';
        $word = $constant->isEnumCase() ? 'case ' : 'const ';
        $constants[] = [$constant->getName(), $word . $constant->getName() . $shown,
            words($constant->getDocComment())];
    }
    foreach ($class->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
        $name = $property->getName();
        if (str_starts_with((string) $property->class, 'Assay\\')) {
            $properties[] = ['$' . $name, trim($property->getType() . ' $' . $name),
                words($property->getDocComment())];
        }
    }
    foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        $own = str_starts_with($method->class, 'Assay\\') && $method->getDocComment() !== false;
        if ($own && !str_contains($method->getDocComment(), '@internal')) {
            $methods[] = [$method->getName() . '()', declared($method),
                words($method->getDocComment())];
        }
    }
    $word = $class->isEnum() ? 'enum' : ($class->isInterface() ? 'interface' : 'class');
    $parent = $class->getParentClass();
    $code = ($class->isFinal() && !$class->isEnum() ? 'final ' : '') . $word . ' '
        . $class->getShortName() . ($parent ? ' extends ' . $parent->getName() : '');
    $classes[] = ['name' => $class->getName(), 'code' => $code,
        'comment' => words($class->getDocComment()), 'constants' => $constants,
        'properties' => $properties, 'methods' => $methods];
}
echo json_encode($classes, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
