<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

final class MariaDbLedgerTest extends EngineLedgerTest
{
    protected const NAME = 'mariadb';
    protected const DRIVER = 'mysql';

    protected function readOnly(bool $is): void
    {
        $this->pdo()->exec('SET GLOBAL read_only = ' . ($is ? 'ON' : 'OFF'));
    }
}
