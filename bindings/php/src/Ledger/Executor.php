<?php

declare(strict_types=1);

namespace Assay\Ledger;

/** Runs the database steps of exchanges, over one connection of the host. */
interface Executor
{
    /** Returns the engine's name in `ledger.engine`: "sqlite", "postgres", "mariadb", "redis". */
    public function engine(): string;

    /**
     * Runs one step up to its first failure, after which an open transaction has been rolled back.
     *
     * @param array<string, mixed> $step the member `database` (docs/exchanges.md)
     *
     * @return array<string, mixed> the reply for `Exchange::step`
     */
    public function run(array $step): array;

    /** Rolls back the open transaction, if there is one. */
    public function rollBack(): void;

    /**
     * Returns what a host writes with outside of a transaction of the ledger: the PDO, the Redis.
     */
    public function connection(): object;

    /**
     * Returns what a grant writes with, inside the open transaction. It refuses every statement
     * that would end the transaction (STO-38).
     */
    public function enterGrant(): object;

    /**
     * Ends the grant. Returns null if the open transaction is still the one that was begun, or if
     * the engine rolled it back and `$thrown` is that error. Otherwise returns the reply to the
     * grant step, without its id: code 0 if the session was lost, 500 with error code "transaction"
     * if the grant ended the transaction. No transaction is open then.
     *
     * @param \Throwable|null $thrown what the grant threw
     *
     * @return array<string, mixed>|null
     */
    public function leaveGrant(?\Throwable $thrown): ?array;
}
