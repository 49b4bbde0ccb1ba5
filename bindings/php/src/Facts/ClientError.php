<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** What to do about the error code that the app saw. A code is the client's word. */
final class ClientError extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'code' => [Member::INTEGER, 'code'],
        'name' => [Member::TEXT, 'name'],
        'app' => [Member::TEXT, 'app'],
        'action' => [Member::TEXT, 'action'],
        'text' => [Member::TEXT, 'text'],
    ];

    /** 0 to 4, of com.apple.devicecheck.error. */
    public readonly ?int $code;
    /** "serverUnavailable" … */
    public readonly ?string $name;
    /** What the app does next. */
    public readonly ?string $app;
    /** What the server makes of it. */
    public readonly ?string $action;
    /** What a person may read. */
    public readonly ?string $text;
}
