<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Facts\OwnFacts;

/**
 * What the status of a decision says.
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
