<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** The body `externalPurchaseToken`. */
final class NotificationExternalPurchaseToken extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'externalPurchaseId' => [Member::TEXT, 'externalPurchaseId'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'tokenCreationDate' => [Member::TIME, 'tokenCreationDate'],
        'tokenCreationAt' => [Member::MOMENT, 'tokenCreationDate'],
        'tokenExpirationDate' => [Member::TIME, 'tokenExpirationDate'],
        'tokenExpirationAt' => [Member::MOMENT, 'tokenExpirationDate'],
        'tokenType' => [Member::TEXT, 'tokenType'],
    ];

    /** Id of the token. */
    public readonly ?string $externalPurchaseId;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** The app. */
    public readonly ?string $bundleId;
    /** When it was made. Milliseconds since 1970 UTC. */
    public readonly ?int $tokenCreationDate;
    /** `tokenCreationDate` in UTC. */
    public readonly ?DateTimeImmutable $tokenCreationAt;
    /** When it ends. Milliseconds since 1970 UTC. */
    public readonly ?int $tokenExpirationDate;
    /** `tokenExpirationDate` in UTC. */
    public readonly ?DateTimeImmutable $tokenExpirationAt;
    /** "SERVICES" or "ACQUISITION". */
    public readonly ?string $tokenType;
}
