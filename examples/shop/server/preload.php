<?php

// The value of opcache.preload for php-fpm: classes of the binding and the shop that every worker
// has from its start. FFI then needs only ffi.preload (bindings/php/examples/fpm/php.ini).

declare(strict_types=1);

require __DIR__ . '/../../../bindings/php/preload.php';
require __DIR__ . '/../autoload.php';
array_map(static fn (string $file): mixed => require_once $file, glob(__DIR__ . '/../src/*.php'));
