<?php

// Preloads the binding's classes, so that they may use FFI with PHP's default ffi.enable=preload.
// This file is the value of the ini line opcache.preload; README.md has the other lines.

declare(strict_types=1);

(static function (string $folder): void {
    require_once $folder . '/autoload.php';
    $files = new RegexIterator(
        new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder . '/src')),
        '/\.php$/',
    );
    foreach ($files as $file) {
        // A class whose parent is missing cannot be preloaded.
        if (extension_loaded('pdo') || $file->getFilename() !== 'GuardedConnection.php') {
            require_once (string) $file;
        }
    }
})(__DIR__);
