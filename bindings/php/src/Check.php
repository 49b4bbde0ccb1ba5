<?php

declare(strict_types=1);

namespace Assay;

/** One check of a document. */
final class Check
{
    /**
     * @param string $id such as "chain.root"; docs/documents.md lists all ids
     * @param bool|null $ok true if passed, false if the check is the reason of the refusal, null if
     *     skipped
     * @param string|null $reason why the check was skipped
     */
    public function __construct(
        public readonly string $id,
        public readonly ?bool $ok,
        public readonly ?string $reason,
    ) {
    }
}
