<?php

declare(strict_types=1);

namespace Assay\Tests\Engines;

final class PostgresLedgerTest extends EngineLedgerTest
{
    protected const NAME = 'postgres';
    protected const DRIVER = 'pgsql';

    protected function readOnly(bool $is): void
    {
        $this->pdo()->exec('BEGIN READ WRITE; ALTER ROLE CURRENT_USER SET'
            . ' default_transaction_read_only = ' . ($is ? 'on' : 'off') . '; COMMIT');
    }
}
