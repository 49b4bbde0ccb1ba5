<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Header;
use Assay\Internal\Refusal;

/** What the document of a triage says beside the finding. */
abstract class Finding extends OwnFacts
{
    protected function own(string $name): mixed
    {
        $document = $this->document;
        $worth = ($document->code & 0xff) === Header::PENDING;

        return match ($name) {
            'unverified' => Claims::of($document->at('unverified') ?? []),
            'worthVerifying' => $worth,
            'status' => $document->status(),
            'httpStatus' => $worth ? null : Refusal::httpStatus($document->code),
            default => parent::own($name),
        };
    }
}
