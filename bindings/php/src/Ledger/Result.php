<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Exception\Unavailable;
use Assay\Facts\OwnFacts;
use Assay\Internal\Member;
use Assay\Internal\Refusal;

/** The members that the results of all operations share: `ok`, `status` and `httpStatus`. */
abstract class Result extends OwnFacts
{
    /** @internal */
    protected const STATUS = [
        'ok' => [Member::OWN, ''],
        'status' => [Member::OWN, ''],
        'httpStatus' => [Member::OWN, ''],
    ];

    /** The reason why what the host did could not be completed; it is returned again. */
    protected ?Unavailable $away = null;

    /** @internal */
    public function withAway(?Unavailable $away): static
    {
        $next = static::in($this->document, $this->path);
        $next->away = $away;

        return $next;
    }

    protected function own(string $name): mixed
    {
        return match ($name) {
            'ok' => $this->away === null && $this->document->ok,
            'status' => $this->away?->status ?? $this->document->status(),
            'httpStatus' => $this->away?->httpStatus
                ?? Refusal::httpStatus($this->document->code),
            default => parent::own($name),
        };
    }
}
