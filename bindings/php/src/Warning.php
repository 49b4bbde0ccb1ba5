<?php

declare(strict_types=1);

namespace Assay;

/** Something that led to no refusal, but should be looked at. */
final class Warning
{
    /**
     * @param string $id "unknown-value"
     * @param string|null $at the place, a member path
     */
    public function __construct(
        public readonly string $id,
        public readonly ?string $at,
    ) {
    }
}
