<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * All purchases of an app on one device, as of `creationDate`.
 *
 * Consumables vanish from it once they are finished, so an empty list proves
 * nothing. Unless `deviceBound`, the same text can come from any device.
 */
final class AppReceipt extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'type' => [Member::TEXT, 'type'],
        'applicationVersion' => [Member::TEXT, 'applicationVersion'],
        'originalApplicationVersion' => [Member::TEXT, 'originalApplicationVersion'],
        'creationDate' => [Member::TIME, 'creationDate'],
        'creationAt' => [Member::MOMENT, 'creationDate'],
        'asOf' => [Member::TIME, 'asOf'],
        'asOfAt' => [Member::MOMENT, 'asOf'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'expirationDate' => [Member::TIME, 'expirationDate'],
        'expirationAt' => [Member::MOMENT, 'expirationDate'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'downloadId' => [Member::TEXT, 'downloadId'],
        'versionExternalIdentifier' => [Member::INTEGER, 'versionExternalIdentifier'],
        'deviceBound' => [Member::BOOLEAN, 'deviceBound'],
        'purchases' => [Member::DETAILS_LIST, 'purchases', AppReceiptPurchase::class],
        'keptAttributes' => [Member::DETAILS_LIST, 'keptAttributes', KeptAttribute::class],
        'unknownAttributes' => [Member::INTEGER, 'unknownAttributes'],
        'digest' => [Member::TEXT, 'digest'],
        'chain' => [Member::DETAILS, 'chain', ReceiptChain::class],
        'transport' => [Member::DETAILS, 'transport', Transport::class],
    ];

    /** "Production", "Sandbox" or "Xcode". */
    public readonly ?string $environment;
    /** The app. */
    public readonly ?string $bundleId;
    /**
     * "Production", "ProductionSandbox", "ProductionVPP", "ProductionVPPSandbox" or "Xcode".
     */
    public readonly ?string $type;
    /** Version of the app. */
    public readonly ?string $applicationVersion;
    /** Version first bought; a dummy in Sandbox. */
    public readonly ?string $originalApplicationVersion;
    /** When it was made and signed. Milliseconds since 1970 UTC. */
    public readonly ?int $creationDate;
    /** `creationDate` in UTC. */
    public readonly ?DateTimeImmutable $creationAt;
    /** As of when it speaks. Milliseconds since 1970 UTC. */
    public readonly ?int $asOf;
    /** `asOf` in UTC. */
    public readonly ?DateTimeImmutable $asOfAt;
    /** First download. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /**
     * End of a volume purchase; null beyond 2100 (see `payload`). Milliseconds since 1970 UTC.
     */
    public readonly ?int $expirationDate;
    /** `expirationDate` in UTC. */
    public readonly ?DateTimeImmutable $expirationAt;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** Apple's number of the download. */
    public readonly ?string $downloadId;
    /** Apple's number of the app's version. */
    public readonly ?int $versionExternalIdentifier;
    /** Whether it was checked to belong to the device given. */
    public readonly ?bool $deviceBound;
    /** @var list<AppReceiptPurchase> In the order of the receipt, which means nothing. */
    public readonly array $purchases;
    /** @var list<KeptAttribute> Attributes that are known but not understood. */
    public readonly array $keptAttributes;
    /** How many more there were. */
    public readonly ?int $unknownAttributes;
    /** "sha1" or "sha256". */
    public readonly ?string $digest;
    /** The certificates. */
    public readonly ?ReceiptChain $chain;
    /** How it was packed. */
    public readonly ?Transport $transport;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
