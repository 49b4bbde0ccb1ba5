<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * The system on the device, as Apple wrote it into the certificate. Undocumented:
 * proof of nothing, and absent at times.
 */
final class System extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'version' => [Member::TEXT, 'version'],
        'build' => [Member::TEXT, 'build'],
        'platform' => [Member::TEXT, 'platform'],
    ];

    /** "27.0.1". */
    public readonly ?string $version;
    /** "24A446". */
    public readonly ?string $build;
    /** "iphoneos", "macosx" …; null before iOS 16. */
    public readonly ?string $platform;
}
