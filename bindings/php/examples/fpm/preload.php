<?php

// The value of opcache.preload: the classes that every worker has from its start. An application
// adds its own below.

declare(strict_types=1);

// With Composer: require 'vendor/autoload.php' and 'vendor/assay/assay/preload.php'.
require __DIR__ . '/../../preload.php';
