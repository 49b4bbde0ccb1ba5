<?php

declare(strict_types=1);

namespace Assay;

/** A finding that led to no refusal, but needs attention. */
final class Warning
{
    /**
     * @param string $id "unknown-value"
     * @param string|null $at the location, a member path
     */
    public function __construct(
        public readonly string $id,
        public readonly ?string $at,
    ) {
    }
}
