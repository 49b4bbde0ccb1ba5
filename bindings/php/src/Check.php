<?php

declare(strict_types=1);

namespace Assay;

/** One check of a document. */
final class Check
{
    /**
     * @param string $id "chain.root"; docs/documents.md lists them
     * @param bool|null $ok true: passed; false: this is why it was refused; null: not made
     * @param string|null $reason why it was not made
     */
    public function __construct(
        public readonly string $id,
        public readonly ?bool $ok,
        public readonly ?string $reason,
    ) {
    }
}
