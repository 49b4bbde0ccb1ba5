<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Arguments;
use Assay\Internal\Header;
use Assay\Internal\Library;
use Assay\Internal\Refusal;
use DateTimeInterface;
use SensitiveParameter;

/**
 * An exchange: until `isDone()`, carry out what `document()` says and pass its answer to
 * `step`. Made by `Verifier::exchange`.
 *
 *     $document = $verifier->exchange($request)->run();
 *     $document->throwIfFailed();
 *
 * Nothing is kept beyond it; giving it up at any time is allowed.
 */
final class Exchange
{
    private ?object $handle = null;
    private bool $busy = false;

    /** @internal exchanges are made by a Verifier */
    public function __construct(
        private Library $library,
        ?object $handle,
        private Document $document,
    ) {
        $family = $document->code & 0xff;
        if ($family === Header::MISUSE || $family === Header::INTERNAL) {
            throw Refusal::of($document);
        }
        if ($family === Header::PENDING) {
            $this->handle = $handle;
        }
    }

    /** The open step, or the result: whatever the last call answered. */
    public function document(): Document
    {
        return $this->document;
    }

    /**
     * What the document says under its kind: `step`, `http` …
     *
     * @return array<string, mixed>
     */
    public function payload(): array
    {
        return $this->document->at($this->document->kind()) ?? [];
    }

    /** The typed facts of the result, for the kinds that have them. */
    public function facts(): ?Facts\Facts
    {
        return $this->document->facts();
    }

    /** Whether nothing is left to carry out: finished, refused or closed. */
    public function isDone(): bool
    {
        return $this->handle === null;
    }

    /**
     * Hand in the result of the last step, and learn the next step or the outcome. A refused
     * result is an answer: look at the document.
     *
     * @param array<string, mixed>|object|string $reply of the form that the step asks for
     *     (docs/exchanges.md), or JSON text
     *
     * @throws Exception\Misuse for a reply of the wrong form or to another step, after which
     *     the step is still open
     * @throws \LogicException when nothing is open, or from inside this call
     */
    public function step(
        #[SensitiveParameter] array|object|string $reply,
        int|DateTimeInterface|null $now = null,
    ): Document {
        if ($this->busy) {
            throw new \LogicException('this exchange is in the middle of a step');
        }
        $this->busy = true;
        try {
            return $this->next(Arguments::json($reply, 'the reply'), $now);
        } finally {
            $this->busy = false;
        }
    }

    /**
     * Conduct the exchange to its end, and close it; returns its last document. A refused
     * result is an answer: look at the document.
     *
     * @param callable(array<string, mixed>): array<string, mixed>|null $send takes a request
     *     and returns its answer (docs/exchanges.md); null: a Sender
     * @param float $maxWait how many seconds to wait before a step. If Apple asks for more,
     *     the document of that wait is the last one: put its `exchange.retry` into your own
     *     queue
     */
    public function run(?callable $send = null, float $maxWait = 30.0): Document
    {
        $send ??= new Sender();
        try {
            while (!$this->isDone()) {
                $open = $this->payload();
                if ($open['step'] === 'http') {
                    $this->step($send($open['http']));
                    continue;
                }
                if ($open['step'] !== 'wait') {
                    throw new \LogicException("the step {$open['step']} is not a request");
                }
                $left = $open['notBeforeMs'] / 1000 - microtime(true);
                if ($left > $maxWait) {
                    break;
                }
                usleep((int) (max($left, 0) * 1_000_000));
                $this->step('{}');
            }
        } finally {
            $this->close();
        }

        return $this->document;
    }

    /** Give the exchange up. Documents stay valid. Closing twice is allowed. */
    public function close(): void
    {
        $this->handle = null;
    }

    private function next(
        #[SensitiveParameter] string $text,
        int|DateTimeInterface|null $now,
    ): Document {
        $handle = $this->handle ?? throw new \LogicException('the exchange is over');
        $now = Arguments::milliseconds($now);
        $code = $this->library->exchangeStep($handle, $text, $now, $answer);
        if ($answer === null) {
            throw Refusal::ofStatus($code);
        }

        return $this->took(new Document($this->library, $answer, $code));
    }

    /** What the library made of an answer. */
    private function took(Document $document): Document
    {
        $family = $document->code & 0xff;
        if ($family === Header::MISUSE) {
            throw Refusal::of($document);
        }
        $this->document = $document;
        if ($family !== Header::PENDING) {
            $this->handle = null;
        }
        if ($family === Header::INTERNAL) {
            throw Refusal::of($document);
        }

        return $document;
    }

    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException('an Exchange lives in one process');
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException('an Exchange is made by a Verifier');
    }
}
