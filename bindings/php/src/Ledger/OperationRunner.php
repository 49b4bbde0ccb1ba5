<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Sender;
use Assay\Verifier;

/**
 * Runs the operations of a ledger to their end.
 *
 * @internal
 */
final class OperationRunner
{
    /** Longer than any wait that the library asks for: 0.2 s, 1 s for acquire-rate-permit. */
    private const MAX_WAIT_MS = 5000;

    /** Whether an exchange is running, which uses the transaction of the connection. */
    private bool $isOpen = false;

    /** The end of the last wait of the exchange, in milliseconds since 1970 UTC. */
    private int $reachedMs = 0;

    /**
     * @param \Closure(): int $clock milliseconds since 1970 UTC
     * @param callable(array<string, mixed>): array<string, mixed>|null $sender sends the requests of
     *     `reconcile`; null for a Sender
     */
    public function __construct(
        private Verifier $verifier,
        private Executor $executor,
        private \Closure $clock,
        private mixed $sender = null,
    ) {
    }

    /**
     * Runs an exchange and returns its last document, accepted or refused. No transaction stays
     * open, however the exchange ends.
     *
     * @param array<string, mixed> $request members that are null are left out
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
                    'http' => ($this->sender ??= new Sender())($open['http']),
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
     * Runs the grant and returns the reply to its step. An exception of the grant is passed on to
     * the caller, and the claim is rolled back; false rolls it back too. If the grant ended the
     * transaction (STO-38), or its session was lost (STO-39), the reply reports that, whatever the
     * grant threw.
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

    /** Waits; returns null if the wait is too long. */
    private function waited(int $untilMs): ?string
    {
        $left = $untilMs - $this->now();
        if ($left > self::MAX_WAIT_MS) {
            return null;
        }
        usleep(max(0, $left) * 1000);
        // A clock that stops or is set back would never reach the end of a wait.
        $this->reachedMs = $untilMs;

        return '{}';
    }

    private function now(): int
    {
        return max(($this->clock)(), $this->reachedMs);
    }
}
