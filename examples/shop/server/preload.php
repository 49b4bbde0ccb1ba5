<?php

// The value of opcache.preload for php-fpm: classes that every worker has from its start, those
// of the binding and of the shop. With it FFI needs no more than ffi.preload (../../fpm/php.ini).

declare(strict_types=1);

require __DIR__ . '/../../../bindings/php/preload.php';
require __DIR__ . '/../autoload.php';
array_map(static fn (string $file): mixed => require_once $file, glob(__DIR__ . '/../src/*.php'));
