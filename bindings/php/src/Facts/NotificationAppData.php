<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The body `appData`. The JWS in it is verified: see `appTransaction`. */
final class NotificationAppData extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'signedAppTransactionInfo' => [Member::TEXT, 'signedAppTransactionInfo'],
    ];

    /** Where it happened. */
    public readonly ?string $environment;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** The app. */
    public readonly ?string $bundleId;
    /** JWS text. */
    public readonly ?string $signedAppTransactionInfo;
}
