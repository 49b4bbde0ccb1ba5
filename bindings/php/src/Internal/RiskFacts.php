<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Facts\OwnFacts;

/**
 * The facts that follow from the status of a risk.
 *
 * @internal
 */
abstract class RiskFacts extends OwnFacts
{
    protected function own(string $name): mixed
    {
        $document = $this->document;

        return match ($name) {
            'allowed' => $document->ok,
            'status' => $document->status(),
            'httpStatus' => Refusal::httpStatus($document->code),
            default => parent::own($name),
        };
    }
}
