<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** How the evidence was packed when it came. */
final class Transport extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'form' => [Member::TEXT, 'form'],
        'levels' => [Member::INTEGER, 'levels'],
        'spaceAsPlus' => [Member::BOOLEAN, 'spaceAsPlus'],
    ];

    /** "raw", "base64" or "base64-twice". */
    public readonly ?string $form;
    /** How many times it was base64: 0, 1 or 2. */
    public readonly ?int $levels;
    /** Whether spaces had to be read as +: a form field decoded twice. */
    public readonly ?bool $spaceAsPlus;
}
