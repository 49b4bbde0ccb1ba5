<?php

// Loads the classes of Shop\ from src/, and those of Assay\.

declare(strict_types=1);

// With Composer: require 'vendor/autoload.php'.
require_once __DIR__ . '/../../bindings/php/autoload.php';

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Shop\\')) {
        require __DIR__ . '/src/' . strtr(substr($class, 5), '\\', '/') . '.php';
    }
});
