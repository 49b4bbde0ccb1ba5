<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** What an untrusted blob says of itself. Claims, not facts: anybody can write them. */
final class Claims extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'bundleId' => [Member::TEXT, 'bundleId'],
        'productId' => [Member::TEXT, 'productId'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'webOrderLineItemId' => [Member::TEXT, 'webOrderLineItemId'],
        'purchaseDate' => [Member::TIME, 'purchaseDate'],
        'purchaseAt' => [Member::MOMENT, 'purchaseDate'],
        'environment' => [Member::TEXT, 'environment'],
        'keys' => [Member::TEXTS, 'keys'],
        'issuer' => [Member::TEXT, 'issuer'],
        'appId' => [Member::TEXT, 'appId'],
        'type' => [Member::TEXT, 'type'],
        'creationDate' => [Member::TIME, 'creationDate'],
        'creationAt' => [Member::MOMENT, 'creationDate'],
        'productIds' => [Member::TEXTS, 'productIds'],
        'purchases' => [Member::INTEGER, 'purchases'],
        'complete' => [Member::BOOLEAN, 'complete'],
    ];

    /** The app. */
    public readonly ?string $bundleId;
    /** What was bought. */
    public readonly ?string $productId;
    /** The purchase. */
    public readonly ?string $transactionId;
    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** One paid period. */
    public readonly ?string $webOrderLineItemId;
    /** When it was bought. Milliseconds since 1970 UTC. */
    public readonly ?int $purchaseDate;
    /** `purchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $purchaseAt;
    /** "Production", "Sandbox" … */
    public readonly ?string $environment;
    /**
     * To look up before verifying: for each purchase its transaction key, and its purchase key
     * when that is another one.
     *
     * @var list<string>
     */
    public readonly array $keys;
    /** A JWS alone: who is said to have made it. */
    public readonly ?string $issuer;
    /** An App Attest receipt alone: the whole App ID. */
    public readonly ?string $appId;
    /** An app receipt: "ProductionSandbox" …; App Attest: "ATTEST" or "RECEIPT". */
    public readonly ?string $type;
    /** Of an app or App Attest receipt. Milliseconds since 1970 UTC. */
    public readonly ?int $creationDate;
    /** `creationDate` in UTC. */
    public readonly ?DateTimeImmutable $creationAt;
    /** @var list<string> An app receipt: at most 64 of them. */
    public readonly array $productIds;
    /** An app receipt: how many it lists. */
    public readonly ?int $purchases;
    /** An app receipt: whether `keys` has every purchase of it. */
    public readonly ?bool $complete;
}
