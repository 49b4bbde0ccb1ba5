<?php

declare(strict_types=1);

namespace Assay\Facts;

/** What the status of a decision says. */
abstract class Ruling extends OwnFacts
{
    protected function own(string $name): mixed
    {
        return $this->document->ok;
    }
}
