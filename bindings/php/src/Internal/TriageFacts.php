<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Facts\OwnFacts;
use Assay\Facts\UnverifiedContent;

/**
 * The members that the document of a triage has beside the triage.
 *
 * @internal
 */
abstract class TriageFacts extends OwnFacts
{
    protected function own(string $name): mixed
    {
        $document = $this->document;
        $worth = ($document->code & 0xff) === Header::PENDING;

        return match ($name) {
            'unverified' => UnverifiedContent::of($document->at('unverified') ?? []),
            'worthVerifying' => $worth,
            'status' => $document->status(),
            'httpStatus' => $worth ? null : Refusal::httpStatus($document->code),
            default => parent::own($name),
        };
    }
}
