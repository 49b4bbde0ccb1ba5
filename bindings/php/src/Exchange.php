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
 * One run of an operation that needs the network or the database. Until `isDone()`, run the step of
 * `document()` and pass the reply to `step`. `Verifier::exchange` makes one.
 *
 *     $document = $verifier->exchange($request)->run();
 *     $document->throwIfFailed();
 *
 * An exchange may be abandoned at any time; the library keeps nothing of it.
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

    /** Returns the open step, or the result: the document of the last call. */
    public function document(): Document
    {
        return $this->document;
    }

    /**
     * Returns the member that is named as the document's kind: `step`, `http` …
     *
     * @return array<string, mixed>
     */
    public function payload(): array
    {
        return $this->document->at($this->document->kind()) ?? [];
    }

    /** Returns the typed facts of the result, for kinds that have them. */
    public function facts(): ?Facts\Facts
    {
        return $this->document->facts();
    }

    /** Whether no step is open: the exchange is finished, refused or closed. */
    public function isDone(): bool
    {
        return $this->handle === null;
    }

    /**
     * Passes the reply to the open step, and returns the next step or the result. A refused result
     * is no exception: read the document.
     *
     * @param array<string, mixed>|object|string $reply in the form that the step requires
     *     (docs/exchanges.md), or JSON text
     *
     * @throws Exception\Misuse for a reply of the wrong form or to another step, after which
     *     the step is still open
     * @throws \LogicException if no step is open, or from inside this call
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
     * Runs the exchange to its end, closes it and returns its last document. A refused result is no
     * exception: read the document.
     *
     * @param callable(array<string, mixed>): array<string, mixed>|null $send sends a request and
     *     returns the response (docs/exchanges.md); null for a Sender
     * @param float $maxWait the longest wait before a step, in seconds. If Apple asks for more, the
     *     document of that wait is the last one: put its `exchange.retry` into your own queue
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

    /** Abandons the exchange. Documents stay valid. Closing twice is allowed. */
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

    /** Stores the document of a call as the current one. */
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
