<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Facts\OwnFacts;

/**
 * The facts that follow from the status of a decision.
 *
 * @internal
 */
abstract class DecisionFacts extends OwnFacts
{
    protected function own(string $name): mixed
    {
        return $this->document->ok;
    }
}
