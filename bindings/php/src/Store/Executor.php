<?php

declare(strict_types=1);

namespace Assay\Store;

/** Carries out the steps of a conversation with a store, over one connection of the host's. */
interface Executor
{
    /** "sqlite", "postgres", "mysql", "redis": what `stores.dialect` calls it. */
    public function dialect(): string;

    /**
     * One step, in order, up to the first failure; after one nothing of an open transaction
     * is left.
     *
     * @param array<string, mixed> $step the value of `store` (docs/exchanges.md)
     *
     * @return array<string, mixed> the answer for `Exchange::step`
     */
    public function carryOut(array $step): array;

    /** Whether the transaction that was begun is still the open one. */
    public function isInside(): bool;

    /** Undoes what is open; nothing where nothing is. */
    public function rollBack(): void;

    /** What a grant writes with, inside the open transaction: the PDO, the Redis. */
    public function connection(): object;
}
