<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** The customer's download of the app. */
final class AppTransaction extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'environmentSource' => [Member::TEXT, 'environmentSource'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'effectiveDate' => [Member::DETAILS, 'effectiveDate', EffectiveDate::class],
        'keys' => [Member::DETAILS, 'keys', Keys::class],
        'chain' => [Member::DETAILS, 'chain', Chain::class],
        'receiptCreationDate' => [Member::TIME, 'receiptCreationDate'],
        'receiptCreationAt' => [Member::MOMENT, 'receiptCreationDate'],
        'receiptType' => [Member::TEXT, 'receiptType'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'appTransactionId' => [Member::TEXT, 'appTransactionId'],
        'applicationVersion' => [Member::TEXT | Member::SIGNED, 'applicationVersion'],
        'versionExternalIdentifier' => [
            Member::INTEGER | Member::SIGNED, 'versionExternalIdentifier',
        ],
        'originalApplicationVersion' => [
            Member::TEXT | Member::SIGNED, 'originalApplicationVersion',
        ],
        'deviceVerification' => [Member::TEXT | Member::SIGNED, 'deviceVerification'],
        'deviceVerificationNonce' => [Member::TEXT | Member::SIGNED, 'deviceVerificationNonce'],
        'preorderDate' => [Member::TIME | Member::SIGNED, 'preorderDate'],
        'preorderAt' => [Member::MOMENT | Member::SIGNED, 'preorderDate'],
        'originalPlatform' => [Member::TEXT | Member::SIGNED, 'originalPlatform'],
        'requestDate' => [Member::TIME | Member::SIGNED, 'requestDate'],
        'requestAt' => [Member::MOMENT | Member::SIGNED, 'requestDate'],
    ];

    /** "Production", "Sandbox", "Xcode" or "LocalTesting". */
    public readonly ?string $environment;
    /** "payload", or "transaction-id" when it was derived. */
    public readonly ?string $environmentSource;
    /** The app. */
    public readonly ?string $bundleId;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** When the certificates were judged. */
    public readonly ?EffectiveDate $effectiveDate;
    /** Names for stores and replay checks. */
    public readonly ?Keys $keys;
    /** The certificates. */
    public readonly ?Chain $chain;
    /** When it was signed. Milliseconds since 1970 UTC. */
    public readonly ?int $receiptCreationDate;
    /** `receiptCreationDate` in UTC. */
    public readonly ?DateTimeImmutable $receiptCreationAt;
    /** The environment, as signed. */
    public readonly ?string $receiptType;
    /** First download. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /** One per Apple Account and app. */
    public readonly ?string $appTransactionId;
    /** Version that asked. */
    public readonly ?string $applicationVersion;
    /** Apple's number of the version. */
    public readonly ?int $versionExternalIdentifier;
    /** Version first bought; a dummy in Sandbox. */
    public readonly ?string $originalApplicationVersion;
    /** Base64. */
    public readonly ?string $deviceVerification;
    /** UUID. */
    public readonly ?string $deviceVerificationNonce;
    /** When it was pre-ordered. Milliseconds since 1970 UTC. */
    public readonly ?int $preorderDate;
    /** `preorderDate` in UTC. */
    public readonly ?DateTimeImmutable $preorderAt;
    /** "iOS", "macOS", "tvOS" or "visionOS". */
    public readonly ?string $originalPlatform;
    /** Xcode only. Milliseconds since 1970 UTC. */
    public readonly ?int $requestDate;
    /** `requestDate` in UTC. */
    public readonly ?DateTimeImmutable $requestAt;
}
