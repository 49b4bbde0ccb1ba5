<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * An App Store Server Notification V2, with everything signed inside verified.
 *
 * Type and subtype say why it was sent; `transaction` and `renewal` say what is
 * true. They come late, twice and out of order: keep one by `notificationUuid`,
 * and apply only evidence with a later `signedDate` than what is stored.
 */
final class Notification extends Facts
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
        'notificationType' => [Member::TEXT, 'type'],
        'subtype' => [Member::TEXT, 'subtype'],
        'known' => [Member::BOOLEAN, 'known'],
        'notificationUuid' => [Member::TEXT, 'uuid'],
        'body' => [Member::TEXT, 'body'],
        'signedDate' => [Member::TIME, 'signedDate'],
        'signedAt' => [Member::MOMENT, 'signedDate'],
        'version' => [Member::TEXT | Member::SIGNED, 'version'],
        'data' => [Member::DETAILS | Member::SIGNED, 'data', NotificationData::class],
        'summary' => [Member::DETAILS | Member::SIGNED, 'summary', NotificationSummary::class],
        'externalPurchaseToken' => [
            Member::DETAILS | Member::SIGNED,
            'externalPurchaseToken',
            NotificationExternalPurchaseToken::class,
        ],
        'appData' => [Member::DETAILS | Member::SIGNED, 'appData', NotificationAppData::class],
        'status' => [Member::INTEGER, 'status'],
        'effect' => [Member::TEXT, 'effect'],
        'transaction' => [Member::NESTED, 'transaction', Transaction::class],
        'renewal' => [Member::NESTED, 'renewal', Renewal::class],
        'appTransaction' => [Member::NESTED, 'appTransaction', AppTransaction::class],
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
    /** "DID_RENEW", "REFUND" … */
    public readonly ?string $notificationType;
    /** "VOLUNTARY", "UPGRADE" … */
    public readonly ?string $subtype;
    /** Whether this version knows the type and subtype. */
    public readonly ?bool $known;
    /** The same in every retry. */
    public readonly ?string $notificationUuid;
    /** "data", "summary", "externalPurchaseToken" or "appData". */
    public readonly ?string $body;
    /** When Apple signed it. Milliseconds since 1970 UTC. */
    public readonly ?int $signedDate;
    /** `signedDate` in UTC. */
    public readonly ?DateTimeImmutable $signedAt;
    /** "2.0". */
    public readonly ?string $version;
    /** Body. */
    public readonly ?NotificationData $data;
    /** Body. */
    public readonly ?NotificationSummary $summary;
    /** Body. */
    public readonly ?NotificationExternalPurchaseToken $externalPurchaseToken;
    /** Body. */
    public readonly ?NotificationAppData $appData;
    /**
     * Apple's view at `signedDate`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5
     * revoked; null where the notification does not tell.
     */
    public readonly ?int $status;
    /**
     * What type and subtype mean for access: "grant", "keep", "end", "recompute" (decide anew) or
     * "none". A hint: the decision follows the evidence.
     */
    public readonly ?string $effect;
    /** The verified transaction inside, or null. */
    public readonly ?Transaction $transaction;
    /** The verified renewal info inside, or null. */
    public readonly ?Renewal $renewal;
    /** The verified app transaction inside, or null. */
    public readonly ?AppTransaction $appTransaction;
}
