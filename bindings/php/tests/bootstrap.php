<?php

// What every test starts from: the binding's classes, and those that tests share.

declare(strict_types=1);

error_reporting(E_ALL);
require __DIR__ . '/../autoload.php';
require __DIR__ . '/CaseTable.php';
require __DIR__ . '/Places.php';
require __DIR__ . '/PlayedLibrary.php';
require __DIR__ . '/Subprocess.php';
require __DIR__ . '/GenuineEvidence.php';
require __DIR__ . '/fpm/FastCgiServer.php';
