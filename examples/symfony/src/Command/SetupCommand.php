<?php

declare(strict_types=1);

namespace App\Command;

use Assay\Ledger\Ledger;
use Doctrine\DBAL\Connection;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** Makes the tables of the ledger and the shop's own: once, before the first request. */
#[AsCommand('app:setup')]
final class SetupCommand extends Command
{
    public function __construct(private Ledger $ledger, private Connection $database)
    {
        parent::__construct();
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $this->ledger->createSchema();
        $this->database->executeStatement('CREATE TABLE booking'
            . ' (id TEXT PRIMARY KEY, account TEXT NOT NULL, units INTEGER NOT NULL)');

        return Command::SUCCESS;
    }
}
