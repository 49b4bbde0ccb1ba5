<?php

// Preloads the binding's classes, so that they may use FFI under ffi.enable=preload, which is
// PHP's default. The value of the ini line opcache.preload; README.md has the others.

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
