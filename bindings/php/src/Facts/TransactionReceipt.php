<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * One purchase, restore or renewal, as apps of iOS 3 to 6 sent it.
 *
 * It states the past: it can show neither a refund nor whether the subscription
 * renewed. It is not bound to a device or an account: whoever has the text can
 * send it. Pay out once per `keys.purchase`.
 */
final class TransactionReceipt extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'version' => [Member::INTEGER, 'version'],
        'productId' => [Member::TEXT, 'productId'],
        'quantity' => [Member::INTEGER, 'quantity'],
        'transactionId' => [Member::TEXT, 'transactionId'],
        'originalTransactionId' => [Member::TEXT, 'originalTransactionId'],
        'webOrderLineItemId' => [Member::TEXT, 'webOrderLineItemId'],
        'purchaseDate' => [Member::TIME, 'purchaseDate'],
        'purchaseAt' => [Member::MOMENT, 'purchaseDate'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'expiresDate' => [Member::TIME, 'expiresDate'],
        'expiresAt' => [Member::MOMENT, 'expiresDate'],
        'isTrialPeriod' => [Member::BOOLEAN, 'isTrialPeriod'],
        'isInIntroOfferPeriod' => [Member::BOOLEAN, 'isInIntroOfferPeriod'],
        'bundleVersion' => [Member::TEXT, 'bundleVersion'],
        'itemId' => [Member::TEXT, 'itemId'],
        'appItemId' => [Member::TEXT, 'appItemId'],
        'versionExternalIdentifier' => [Member::TEXT, 'versionExternalIdentifier'],
        'environmentSource' => [Member::TEXT, 'environmentSource'],
        'outerAltered' => [Member::BOOLEAN, 'outerAltered'],
        'signedAfterPurchase' => [Member::BOOLEAN, 'signedAfterPurchase'],
        'weakKey' => [Member::BOOLEAN, 'weakKey'],
        'uniqueIdentifier' => [Member::TEXT, 'uniqueIdentifier'],
        'uniqueVendorIdentifier' => [Member::TEXT, 'uniqueVendorIdentifier'],
        'keys' => [Member::DETAILS, 'keys', Keys::class],
        'chain' => [Member::DETAILS, 'chain', ReceiptChain::class],
        'transport' => [Member::DETAILS, 'transport', Transport::class],
    ];

    /** "Production", "Sandbox" or "Xcode". */
    public readonly ?string $environment;
    /** The app. */
    public readonly ?string $bundleId;
    /** Of the signature: 2 (until 2016) or 3. */
    public readonly ?int $version;
    /** What was bought. */
    public readonly ?string $productId;
    /** How many were bought. */
    public readonly ?int $quantity;
    /** This purchase, restore or renewal. */
    public readonly ?string $transactionId;
    /** The first purchase of the line. */
    public readonly ?string $originalTransactionId;
    /** One paid period, the same on all devices. */
    public readonly ?string $webOrderLineItemId;
    /** Purchase, restore, start of the period. Milliseconds since 1970 UTC. */
    public readonly ?int $purchaseDate;
    /** `purchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $purchaseAt;
    /** The first purchase. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /** End of the paid period. Milliseconds since 1970 UTC. */
    public readonly ?int $expiresDate;
    /** `expiresDate` in UTC. */
    public readonly ?DateTimeImmutable $expiresAt;
    /** A free trial. */
    public readonly ?bool $isTrialPeriod;
    /** An introductory price. */
    public readonly ?bool $isInIntroOfferPeriod;
    /** Version of the app, free text. */
    public readonly ?string $bundleVersion;
    /** Apple's number of the product. */
    public readonly ?string $itemId;
    /** Apple's number of the app. */
    public readonly ?string $appItemId;
    /** Apple's number of the app's version. */
    public readonly ?string $versionExternalIdentifier;
    /** "transaction-id", which is signed; null where that id tells nothing. */
    public readonly ?string $environmentSource;
    /** The unsigned outer keys contradict the signed transaction id. */
    public readonly ?bool $outerAltered;
    /** Signed by a certificate that is younger than the purchase. */
    public readonly ?bool $signedAfterPurchase;
    /** Version 2: rests on 1,024-bit RSA. */
    public readonly ?bool $weakKey;
    /** Device id; only with `receipts.deviceIds: report`. */
    public readonly ?string $uniqueIdentifier;
    /** Vendor id; only with `receipts.deviceIds: report`. */
    public readonly ?string $uniqueVendorIdentifier;
    /** Names for stores and replay checks. */
    public readonly ?Keys $keys;
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
