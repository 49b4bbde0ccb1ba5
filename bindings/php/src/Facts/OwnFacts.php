<?php

declare(strict_types=1);

namespace Assay\Facts;

/** Facts whose JSON the library writes: none of it is signed as JSON. */
abstract class OwnFacts extends Facts
{
    /** Returns the facts' JSON, including members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
