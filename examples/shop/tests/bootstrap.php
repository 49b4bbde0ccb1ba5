<?php

// Loads the classes of the binding's tests, and those of the shop's tests.

declare(strict_types=1);

require __DIR__ . '/../../../bindings/php/tests/bootstrap.php';

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/' . substr($class, strlen('Assay\\Tests\\Shop\\')) . '.php';
    if (str_starts_with($class, 'Assay\\Tests\\Shop\\') && is_file($file)) {
        require $file;
    }
});
