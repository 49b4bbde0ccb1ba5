<?php

// What the tests of the shop start from: those of the binding, and their own classes.

declare(strict_types=1);

require __DIR__ . '/../../../bindings/php/tests/bootstrap.php';

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/' . substr($class, strlen('Assay\\Tests\\Shop\\')) . '.php';
    if (str_starts_with($class, 'Assay\\Tests\\Shop\\') && is_file($file)) {
        require $file;
    }
});
