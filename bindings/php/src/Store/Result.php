<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\OwnFacts;
use Assay\Internal\Member;
use Assay\Internal\Refusal;

/** What every operation of the store says: `ok`, `status` and `httpStatus` beside its own. */
abstract class Result extends OwnFacts
{
    /** @internal */
    protected const STATUS = [
        'ok' => [Member::OWN, ''],
        'status' => [Member::OWN, ''],
        'httpStatus' => [Member::OWN, ''],
    ];

    protected function own(string $name): mixed
    {
        return match ($name) {
            'ok' => $this->document->ok,
            'status' => $this->document->status(),
            'httpStatus' => $this->document->ok ? 200 : Refusal::httpStatus($this->document->code),
            default => parent::own($name),
        };
    }
}
