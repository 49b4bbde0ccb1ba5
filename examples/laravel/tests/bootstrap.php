<?php

// The binding with its tests' classes, and Debian's Laravel where it is installed.

declare(strict_types=1);

require __DIR__ . '/../../../bindings/php/tests/bootstrap.php';
const LARAVEL = '/usr/share/php/Illuminate/autoload.php';
is_file(LARAVEL) && require LARAVEL;
