<?php

// Loads what every test needs: the binding's classes, and those that tests share.

declare(strict_types=1);

error_reporting(E_ALL);
require_once __DIR__ . '/../autoload.php';

spl_autoload_register(static function (string $class): void {
    $path = strtr(substr($class, strlen('Assay\\Tests\\')), '\\', '/');
    // The folders of tests are in lower case.
    $file = __DIR__ . '/' . (str_contains($path, '/') ? lcfirst($path) : $path) . '.php';
    if (str_starts_with($class, 'Assay\\Tests\\') && is_file($file)) {
        require $file;
    }
});
