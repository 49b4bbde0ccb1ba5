<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exchange;
use Assay\Sender;

/** Conducts one exchange with Apple within a time of the shop's own (BCK-43). */
final class Question
{
    /** A time-out may be a little early. */
    private const EARLY_MS = 100;

    private int $end;
    /** Whether the time went by without an answer. */
    public bool $wasSilent = false;

    /** @param int $maxWaitMs how long answers and waits may take together */
    public function __construct(private Sender $sender, int $maxWaitMs)
    {
        $this->end = hrtime(true) + $maxWaitMs * 1_000_000;
    }

    /** The last document; that of a wait where the time is over before it. */
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
        $answer = ($this->sender)(['timeoutMs' => $timeoutMs] + $request);
        $this->wasSilent = $answer['status'] === 0 && $this->leftMs() < self::EARLY_MS;

        return $answer;
    }

    private function leftMs(): int
    {
        return intdiv($this->end - hrtime(true), 1_000_000);
    }
}
