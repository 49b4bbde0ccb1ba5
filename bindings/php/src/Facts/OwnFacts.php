<?php

declare(strict_types=1);

namespace Assay\Facts;

/** Facts whose JSON is the library's own: nothing of it is signed as JSON. */
abstract class OwnFacts extends Facts
{
    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
