<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The two bits. */
final class DeviceBits extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'bit0' => [Member::DETAILS, 'bit0', DeviceBit::class],
        'bit1' => [Member::DETAILS, 'bit1', DeviceBit::class],
    ];

    /** The first one. */
    public readonly ?DeviceBit $bit0;
    /** The second one. */
    public readonly ?DeviceBit $bit1;
}
