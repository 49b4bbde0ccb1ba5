<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Verifier;

/**
 * Conducts conversations with a store to their end.
 *
 * @internal
 */
final class Conversation
{
    /** The library's own waits are shorter: a fifth of a second, pace.take a second. */
    private const PATIENCE_MS = 5000;

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
     */
    public function about(
        array $request,
        Document|Facts|iterable $evidence = [],
        ?callable $grant = null,
    ): Document {
        $request = array_filter($request, static fn (mixed $value): bool => $value !== null);
        $exchange = $this->verifier->exchange($request, $evidence, ($this->clock)());
        try {
            while (!$exchange->isDone()) {
                $open = $exchange->payload();
                $answer = match ($open['state']) {
                    'store' => $this->executor->carryOut($open['store']),
                    'grant' => $this->granted($open['grant'], $grant),
                    'wait' => $this->waited($open['notBeforeMs']),
                };
                if ($answer === null) {
                    break;
                }
                $exchange->step($answer, ($this->clock)());
            }
        } finally {
            $this->executor->rollBack();
            $exchange->close();
        }

        return $exchange->document();
    }

    /**
     * An exception of the grant goes on to the caller, and the claim is undone with it; false
     * undoes it too.
     *
     * @return array<string, mixed>
     */
    private function granted(array $given, ?callable $grant): array
    {
        $grant ?? throw new \LogicException('mode "transaction" needs a grant');
        if ($grant(Grant::of($given), $this->executor->connection()) === false) {
            $this->executor->rollBack();

            return ['id' => $given['id'], 'code' => 500];
        }
        if (!$this->executor->isInside()) {
            throw new \LogicException('a grant neither commits nor rolls back: the ledger does');
        }

        return ['id' => $given['id'], 'code' => 200];
    }

    /** Null: it is too far away. */
    private function waited(int $untilMs): ?string
    {
        $left = $untilMs - ($this->clock)();
        if ($left > self::PATIENCE_MS) {
            return null;
        }
        while ($left > 0) {
            usleep($left * 1000);
            $left = $untilMs - ($this->clock)();
        }

        return '{}';
    }
}
