<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Verifier;

/**
 * Runs the operations of a ledger to their end.
 *
 * @internal
 */
final class OperationRunner
{
    /** The library's own waits are shorter: a fifth of a second, acquire-rate-permit a second. */
    private const MAX_WAIT_MS = 5000;

    /** Whether one is being conducted: its transaction is that of the connection. */
    private bool $isOpen = false;

    /** The end of the last wait of the exchange. Milliseconds since 1970 UTC. */
    private int $reachedMs = 0;

    /** @param \Closure(): int $clock milliseconds since 1970 UTC */
    public function __construct(
        private Verifier $verifier,
        private Executor $executor,
        private \Closure $clock,
    ) {
    }

    /**
     * The last document; a refused one is an answer. Whatever ends this, nothing stays open in
     * the store.
     *
     * @param array<string, mixed> $request null: left out
     * @param Document|Facts|iterable<Document|Facts> $evidence
     * @param callable(Grant, object): mixed|null $grant
     * @param callable(Take, object): mixed|null $takeBack
     */
    public function run(
        array $request,
        Document|Facts|iterable $evidence = [],
        ?callable $grant = null,
        ?callable $takeBack = null,
    ): Document {
        if ($this->isOpen) {
            throw new \LogicException(
                'the ledger is carrying a grant out: what the grant asks of a ledger, it asks'
                . ' of another one, with a connection of its own',
            );
        }
        $request = array_filter($request, static fn (mixed $value): bool => $value !== null);
        $this->reachedMs = 0;
        $exchange = $this->verifier->exchange($request, $evidence, $this->now());
        $this->isOpen = true;
        try {
            while (!$exchange->isDone()) {
                $open = $exchange->payload();
                $answer = match ($open['step']) {
                    'database' => $this->executor->run($open['database']),
                    'grant' => $this->granted($open['grant'], $grant, $takeBack),
                    'wait' => $this->waited($open['notBeforeMs']),
                };
                if ($answer === null) {
                    break;
                }
                $exchange->step($answer, $this->now());
            }
        } finally {
            $this->isOpen = false;
            $this->executor->rollBack();
            $exchange->close();
        }

        return $exchange->document();
    }

    /**
     * An exception of the grant goes on to the caller, and the claim is undone with it; false
     * undoes it too. A grant that ended the transaction (STO-38), or whose session was lost
     * (STO-39), is told to the library, whatever it threw.
     *
     * @return array<string, mixed>
     */
    private function granted(array $given, ?callable $grant, ?callable $takeBack): array
    {
        $isTake = ($given['what'] ?? null) === 'take';
        $called = $isTake ? $takeBack : $grant;
        $called ?? throw new \LogicException(
            'mode "transaction" needs a ' . ($isTake ? 'take-back' : 'grant'),
        );
        $thrown = null;
        $said = null;
        $connection = $this->executor->enterGrant();
        try {
            $said = $called($isTake ? Take::of($given) : Grant::of($given), $connection);
        } catch (\Throwable $thrown) {
        }
        $instead = $this->executor->leaveGrant($thrown);
        if ($instead !== null) {
            return ['id' => $given['id']] + $instead;
        }
        if ($thrown !== null) {
            throw $thrown;
        }
        if ($said === false) {
            $this->executor->rollBack();
        }

        return ['id' => $given['id'], 'code' => $said === false ? 500 : 200];
    }

    /** Null: it is too far away. */
    private function waited(int $untilMs): ?string
    {
        $left = $untilMs - $this->now();
        if ($left > self::MAX_WAIT_MS) {
            return null;
        }
        usleep(max(0, $left) * 1000);
        // A clock that stands still, or is set back, would never end a wait.
        $this->reachedMs = $untilMs;

        return '{}';
    }

    private function now(): int
    {
        return max(($this->clock)(), $this->reachedMs);
    }
}
