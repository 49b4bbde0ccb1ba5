<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The body `data`. The JWS in it are verified: see the notification's facts. */
final class NotificationData extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'bundleVersion' => [Member::TEXT, 'bundleVersion'],
        'signedTransactionInfo' => [Member::TEXT, 'signedTransactionInfo'],
        'signedRenewalInfo' => [Member::TEXT, 'signedRenewalInfo'],
        'status' => [Member::INTEGER, 'status'],
        'consumptionRequestReason' => [Member::TEXT, 'consumptionRequestReason'],
    ];

    /** Where it happened. */
    public readonly ?string $environment;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** The app. */
    public readonly ?string $bundleId;
    /** Version of the app. */
    public readonly ?string $bundleVersion;
    /** JWS text. */
    public readonly ?string $signedTransactionInfo;
    /** JWS text. */
    public readonly ?string $signedRenewalInfo;
    /** 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. */
    public readonly ?int $status;
    /** Why the customer asks for a refund. */
    public readonly ?string $consumptionRequestReason;
}
