<?php

declare(strict_types=1);

namespace Shop;

use Assay\Sender;
use Assay\Store\Ledger;
use PDO;

/** The parts, made when they are needed: one connection and one verifier a request. */
final class Shop
{
    private ?PDO $pdo = null;
    private ?Ledger $ledger = null;

    public function __construct(public readonly Settings $settings)
    {
    }

    public function receipts(): Receipts
    {
        return new Receipts($this->bearer(), $this->judge(), $this->till(), $this->tally());
    }

    public function notifications(): Notifications
    {
        return new Notifications($this->ledger(), $this->till());
    }

    public function support(): Support
    {
        return new Support(
            $this->settings,
            $this->ledger(),
            $this->judge(),
            $this->till(),
            $this->apple(),
        );
    }

    public function dashboard(): Dashboard
    {
        return new Dashboard($this->settings, $this->tally());
    }

    public function sweep(): Sweep
    {
        return new Sweep($this->ledger(), $this->till(), $this->apple());
    }

    /** Makes the tables that are missing. Once, by who may make tables. */
    public function setUp(): void
    {
        if ($this->driver() === 'sqlite') {
            $this->pdo()->exec('PRAGMA journal_mode = WAL');
        }
        $this->ledger()->createSchema();
        $this->wallet()->createTable();
        $this->tally()->createTable();
        $this->ledger()->checkSchema();
    }

    /** An account that its owner deleted. What it bought stays used (STO-93). */
    public function forget(string $account): void
    {
        $this->wallet()->forget($account);
        $this->ledger()->forget($account, 'deleted by its owner');
    }

    private function ledger(): Ledger
    {
        return $this->ledger ??= Ledger::over($this->pdo(), $this->settings->verifier);
    }

    private function wallet(): Wallet
    {
        return new Wallet($this->pdo(), $this->settings->goods);
    }

    private function bearer(): Bearer
    {
        return new Bearer($this->ledger()->verifier, $this->settings->bearer, $this->sender());
    }

    private function judge(): Judge
    {
        return new Judge($this->settings, $this->ledger(), $this->apple());
    }

    private function apple(): Apple
    {
        return new Apple($this->settings, $this->ledger(), $this->sender());
    }

    private function sender(): Sender
    {
        return new Sender($this->settings->appleHosts, error_log(...));
    }

    private function till(): Till
    {
        return new Till($this->settings, $this->ledger(), $this->wallet());
    }

    private function tally(): Tally
    {
        return new Tally($this->pdo());
    }

    private function driver(): string
    {
        return $this->pdo()->getAttribute(PDO::ATTR_DRIVER_NAME);
    }

    private function pdo(): PDO
    {
        if ($this->pdo === null) {
            $engine = $this->settings->database;
            $this->pdo = new PDO($engine->dsn, $engine->user ?? null, $engine->password ?? null, [
                PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
                PDO::ATTR_TIMEOUT => 2,
            ]);
            if ($this->driver() === 'sqlite') {
                $this->pdo->exec('PRAGMA synchronous = FULL');
            }
        }

        return $this->pdo;
    }
}
