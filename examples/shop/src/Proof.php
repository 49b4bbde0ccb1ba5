<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\Facts;

/** The verified evidence of one request. */
final class Proof
{
    /**
     * @param list<Facts|Document> $evidence empty if only Apple could verify it and did not respond
     * @param bool $isOpen whether Apple was asked for a newer state and gave no usable response, so
     *     that the result for the client is not definite (BCK-43)
     */
    public function __construct(
        public readonly array $evidence,
        public readonly bool $isOpen = false,
    ) {
    }
}
