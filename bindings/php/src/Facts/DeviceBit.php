<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** One of the two bits that Apple keeps for a device and a developer team. */
final class DeviceBit extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'name' => [Member::TEXT, 'name'],
        'value' => [Member::BOOLEAN, 'value'],
        'aged' => [Member::BOOLEAN, 'aged'],
        'set' => [Member::BOOLEAN, 'set'],
    ];

    /** Its meaning by `deviceCheck.bits`; null: not configured. */
    public readonly ?string $name;
    /** As Apple has it. */
    public readonly ?bool $value;
    /** Older than its `resetAfterMonths`: counts as clear. */
    public readonly ?bool $aged;
    /** Whether it counts as set. */
    public readonly ?bool $set;
}
