<?php

declare(strict_types=1);

namespace Assay\Ledger;

/** Carries out the steps of an exchange with a store, over one connection of the host's. */
interface Executor
{
    /** "sqlite", "postgres", "mariadb", "redis": what `ledger.engine` calls it. */
    public function engine(): string;

    /**
     * One step, in order, up to the first failure; after one nothing of an open transaction
     * is left.
     *
     * @param array<string, mixed> $step the value of `store` (docs/exchanges.md)
     *
     * @return array<string, mixed> the answer for `Exchange::step`
     */
    public function run(array $step): array;

    /** Undoes what is open; nothing where nothing is. */
    public function rollBack(): void;

    /** What a host writes with outside of a transaction of the ledger's: the PDO, the Redis. */
    public function connection(): object;

    /**
     * What a grant writes with, inside the open transaction. It lets nothing through that would
     * end the transaction (STO-38).
     */
    public function enterGrant(): object;

    /**
     * After the grant. Null: the transaction is still the one that was begun, or the engine
     * undid it and `$thrown` says so. Else what the grant's step is answered, beside its id:
     * code 0 where the session was lost; 500 with error code "transaction" where the grant
     * ended the transaction. Then nothing is open any more.
     *
     * @param \Throwable|null $thrown what the grant threw
     *
     * @return array<string, mixed>|null
     */
    public function leaveGrant(?\Throwable $thrown): ?array;
}
