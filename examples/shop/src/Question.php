<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exchange;

/** Runs one exchange with Apple within the shop's own time limit (BCK-43). */
final class Question
{
    /** A time-out may end this many milliseconds early. */
    private const EARLY_MS = 100;

    private int $end;
    /** Whether the time passed without a response. */
    public bool $wasSilent = false;

    /**
     * @param \Closure(array<string, mixed>): array<string, mixed> $send runs an HTTP step
     * @param int $maxWaitMs the limit of all responses and waits together
     */
    public function __construct(private \Closure $send, int $maxWaitMs)
    {
        $this->end = hrtime(true) + $maxWaitMs * 1_000_000;
    }

    /** Returns the last document; that of a wait if the time ends before it. */
    public function put(Exchange $exchange): Document
    {
        while (!$exchange->isDone()) {
            $open = $exchange->payload();
            if ($open['step'] === 'http') {
                $exchange->step($this->answer($open['http']));
                continue;
            }
            $waitMs = max($open['notBeforeMs'] - Clock::ms(), 0);
            if ($waitMs >= $this->leftMs()) {
                break;
            }
            usleep($waitMs * 1000);
            $exchange->step('{}');
        }
        $exchange->close();

        return $exchange->document();
    }

    /**
     * @param array<string, mixed> $request
     *
     * @return array<string, mixed>
     */
    private function answer(array $request): array
    {
        $timeoutMs = max(1, min($request['timeoutMs'], $this->leftMs()));
        $answer = ($this->send)(['timeoutMs' => $timeoutMs] + $request);
        $this->wasSilent = $answer['status'] === 0 && $this->leftMs() < self::EARLY_MS;

        return $answer;
    }

    private function leftMs(): int
    {
        return intdiv($this->end - hrtime(true), 1_000_000);
    }
}
