<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * What Apple's verifyReceipt endpoint answered: facts of class "apple-answer".
 *
 * Nothing of it is signed but `latestReceipt`: it is worth as much as the TLS
 * connection that it came over.
 */
final class VerifyReceiptAnswer extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'appleStatus' => [Member::INTEGER, 'appleStatus'],
        'style' => [Member::TEXT, 'style'],
        'environmentSource' => [Member::TEXT, 'environmentSource'],
        'asOf' => [Member::TIME, 'asOf'],
        'asOfAt' => [Member::MOMENT, 'asOf'],
        'clockSkew' => [Member::INTEGER, 'clockSkew'],
        'requestDate' => [Member::TIME, 'requestDate'],
        'requestAt' => [Member::MOMENT, 'requestDate'],
        'cancellationReason' => [Member::INTEGER, 'cancellationReason'],
        'receiptType' => [Member::TEXT, 'receiptType'],
        'adamId' => [Member::INTEGER, 'adamId'],
        'appItemId' => [Member::INTEGER, 'appItemId'],
        'applicationVersion' => [Member::TEXT, 'applicationVersion'],
        'originalApplicationVersion' => [Member::TEXT, 'originalApplicationVersion'],
        'downloadId' => [Member::TEXT, 'downloadId'],
        'versionExternalIdentifier' => [Member::INTEGER, 'versionExternalIdentifier'],
        'receiptCreationDate' => [Member::TIME, 'receiptCreationDate'],
        'receiptCreationAt' => [Member::MOMENT, 'receiptCreationDate'],
        'originalPurchaseDate' => [Member::TIME, 'originalPurchaseDate'],
        'originalPurchaseAt' => [Member::MOMENT, 'originalPurchaseDate'],
        'expirationDate' => [Member::TIME, 'expirationDate'],
        'expirationAt' => [Member::MOMENT, 'expirationDate'],
        'preorderDate' => [Member::TIME, 'preorderDate'],
        'preorderAt' => [Member::MOMENT, 'preorderDate'],
        'transactions' => [Member::DETAILS_LIST, 'transactions', AppleTransaction::class],
        'renewals' => [Member::DETAILS_LIST, 'renewals', AppleRenewal::class],
        'latestReceipt' => [Member::DETAILS, 'latestReceipt', LatestReceipt::class],
        'evidence' => [Member::TEXT, 'evidence'],
    ];

    /** "Production", "Sandbox" or "Xcode". */
    public readonly ?string $environment;
    /** The app. */
    public readonly ?string $bundleId;
    /** 0; or 21006: valid, but ended. */
    public readonly ?int $appleStatus;
    /** "ios6" (about a transaction receipt) or "ios7" (about an app receipt). */
    public readonly ?string $style;
    /** "answer", "endpoint", "receipt-type" or "transaction-id". */
    public readonly ?string $environmentSource;
    /** As of when it speaks. Milliseconds since 1970 UTC. */
    public readonly ?int $asOf;
    /** `asOf` in UTC. */
    public readonly ?DateTimeImmutable $asOfAt;
    /** Milliseconds that Apple's clock is ahead; null within five minutes. */
    public readonly ?int $clockSkew;
    /** Apple's clock at the answer. Milliseconds since 1970 UTC. */
    public readonly ?int $requestDate;
    /** `requestDate` in UTC. */
    public readonly ?DateTimeImmutable $requestAt;
    /** 1: an issue with the app; 0: another reason; iOS 6 style. */
    public readonly ?int $cancellationReason;
    /** "Production", "ProductionSandbox" … */
    public readonly ?string $receiptType;
    /** Apple's number of the app. */
    public readonly ?int $adamId;
    /** The same number. */
    public readonly ?int $appItemId;
    /** Version of the app. */
    public readonly ?string $applicationVersion;
    /** Version first bought; a dummy in Sandbox. */
    public readonly ?string $originalApplicationVersion;
    /** Apple's number of the download. */
    public readonly ?string $downloadId;
    /** Apple's number of the version. */
    public readonly ?int $versionExternalIdentifier;
    /** Of the receipt sent. Milliseconds since 1970 UTC. */
    public readonly ?int $receiptCreationDate;
    /** `receiptCreationDate` in UTC. */
    public readonly ?DateTimeImmutable $receiptCreationAt;
    /** First download. Milliseconds since 1970 UTC. */
    public readonly ?int $originalPurchaseDate;
    /** `originalPurchaseDate` in UTC. */
    public readonly ?DateTimeImmutable $originalPurchaseAt;
    /** End of a volume purchase. Milliseconds since 1970 UTC. */
    public readonly ?int $expirationDate;
    /** `expirationDate` in UTC. */
    public readonly ?DateTimeImmutable $expirationAt;
    /** When it was pre-ordered. Milliseconds since 1970 UTC. */
    public readonly ?int $preorderDate;
    /** `preorderDate` in UTC. */
    public readonly ?DateTimeImmutable $preorderAt;
    /** @var list<AppleTransaction> Each once, ordered by the end of the period. */
    public readonly array $transactions;
    /** @var list<AppleRenewal> Renewal facts, one a line. */
    public readonly array $renewals;
    /** The newest receipt, if the answer has one. */
    public readonly ?LatestReceipt $latestReceipt;
    /** "apple-answer". */
    public readonly ?string $evidence;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
