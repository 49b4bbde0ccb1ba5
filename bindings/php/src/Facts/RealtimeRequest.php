<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** Apple asks which retention message to show; answer in about 700 ms. */
final class RealtimeRequest extends Facts
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
        'signedDate' => [Member::TIME, 'signedDate'],
        'signedAt' => [Member::MOMENT, 'signedDate'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'productId' => [Member::TEXT, 'productId'],
        'requestIdentifier' => [Member::TEXT, 'requestIdentifier'],
        'userLocale' => [Member::TEXT | Member::SIGNED, 'userLocale'],
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
    /** When Apple signed it. Milliseconds since 1970 UTC. */
    public readonly ?int $signedDate;
    /** `signedDate` in UTC. */
    public readonly ?DateTimeImmutable $signedAt;
    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** The subscription. */
    public readonly ?string $productId;
    /** UUID to repeat in the answer. */
    public readonly ?string $requestIdentifier;
    /** The customer's locale. */
    public readonly ?string $userLocale;
}
