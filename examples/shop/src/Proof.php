<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\Facts;

/** Verified evidence of one request. */
final class Proof
{
    /**
     * @param list<Facts|Document> $evidence none: only Apple could judge it, and did not
     * @param bool $isOpen Apple was to be asked for a newer state, and gave no usable answer: an
     *     answer to the client is not definite (BCK-43)
     */
    public function __construct(
        public readonly array $evidence,
        public readonly bool $isOpen = false,
    ) {
    }
}
