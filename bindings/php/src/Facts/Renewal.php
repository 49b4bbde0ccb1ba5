<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/**
 * How a subscription goes on.
 *
 * It proves nothing about the app by itself: there is no bundle id in it. Decide
 * with it only together with a transaction of the same `originalTransactionId`.
 */
final class Renewal extends Facts
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
        'autoRenewProductId' => [Member::TEXT, 'autoRenewProductId'],
        'autoRenewStatus' => [Member::INTEGER, 'autoRenewStatus'],
        'isInBillingRetryPeriod' => [Member::BOOLEAN, 'isInBillingRetryPeriod'],
        'gracePeriodExpiresDate' => [Member::TIME, 'gracePeriodExpiresDate'],
        'gracePeriodExpiresAt' => [Member::MOMENT, 'gracePeriodExpiresDate'],
        'renewalDate' => [Member::TIME, 'renewalDate'],
        'renewalAt' => [Member::MOMENT, 'renewalDate'],
        'expirationIntent' => [Member::INTEGER, 'expirationIntent'],
        'offerType' => [Member::INTEGER, 'offerType'],
        'appAccountToken' => [Member::TEXT, 'appAccountToken'],
        'appTransactionId' => [Member::TEXT, 'appTransactionId'],
        'priceIncreaseStatus' => [Member::INTEGER | Member::SIGNED, 'priceIncreaseStatus'],
        'offerIdentifier' => [Member::TEXT | Member::SIGNED, 'offerIdentifier'],
        'offerPeriod' => [Member::TEXT | Member::SIGNED, 'offerPeriod'],
        'offerDiscountType' => [Member::TEXT | Member::SIGNED, 'offerDiscountType'],
        'recentSubscriptionStartDate' => [
            Member::TIME | Member::SIGNED, 'recentSubscriptionStartDate',
        ],
        'recentSubscriptionStartAt' => [
            Member::MOMENT | Member::SIGNED, 'recentSubscriptionStartDate',
        ],
        'currency' => [Member::TEXT | Member::SIGNED, 'currency'],
        'renewalPrice' => [Member::INTEGER | Member::SIGNED, 'renewalPrice'],
        'eligibleWinBackOfferIds' => [Member::TEXTS | Member::SIGNED, 'eligibleWinBackOfferIds'],
        'advancedCommerceInfo' => [
            Member::DETAILS | Member::SIGNED,
            'advancedCommerceInfo',
            AdvancedCommerceRenewalInfo::class,
        ],
        'commitmentInfo' => [
            Member::DETAILS | Member::SIGNED,
            'commitmentInfo',
            RenewalCommitmentInfo::class,
        ],
        'renewalBillingPlanType' => [Member::TEXT | Member::SIGNED, 'renewalBillingPlanType'],
        'deviceVerification' => [Member::TEXT | Member::SIGNED, 'deviceVerification'],
        'deviceVerificationNonce' => [Member::TEXT | Member::SIGNED, 'deviceVerificationNonce'],
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
    /** The product of this period. */
    public readonly ?string $productId;
    /** The product of the next period. */
    public readonly ?string $autoRenewProductId;
    /** 0 off, 1 on; not the state of the subscription. */
    public readonly ?int $autoRenewStatus;
    /** Apple still tries to charge; only when expired. */
    public readonly ?bool $isInBillingRetryPeriod;
    /** End of the billing grace period. Milliseconds since 1970 UTC. */
    public readonly ?int $gracePeriodExpiresDate;
    /** `gracePeriodExpiresDate` in UTC. */
    public readonly ?DateTimeImmutable $gracePeriodExpiresAt;
    /** When the latest purchase ends or renews. Milliseconds since 1970 UTC. */
    public readonly ?int $renewalDate;
    /** `renewalDate` in UTC. */
    public readonly ?DateTimeImmutable $renewalAt;
    /** 1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5 other. */
    public readonly ?int $expirationIntent;
    /** 1 introductory, 2 promotional, 3 offer code, 4 win-back. */
    public readonly ?int $offerType;
    /** UUID that the app set, in lower case. */
    public readonly ?string $appAccountToken;
    /** The customer's download of the app. */
    public readonly ?string $appTransactionId;
    /** 0 not answered, 1 consented or only informed. */
    public readonly ?int $priceIncreaseStatus;
    /** Offer id or code. */
    public readonly ?string $offerIdentifier;
    /** ISO 8601 duration. */
    public readonly ?string $offerPeriod;
    /** "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME". */
    public readonly ?string $offerDiscountType;
    /** Start of the series of renewals. Milliseconds since 1970 UTC. */
    public readonly ?int $recentSubscriptionStartDate;
    /** `recentSubscriptionStartDate` in UTC. */
    public readonly ?DateTimeImmutable $recentSubscriptionStartAt;
    /** ISO 4217. */
    public readonly ?string $currency;
    /** Thousandths of the currency unit. */
    public readonly ?int $renewalPrice;
    /** @var list<string> Offers to win the customer back, best first. */
    public readonly array $eligibleWinBackOfferIds;
    /** Advanced Commerce only. */
    public readonly ?AdvancedCommerceRenewalInfo $advancedCommerceInfo;
    /** Commitment, if any. */
    public readonly ?RenewalCommitmentInfo $commitmentInfo;
    /** "BILLED_UPFRONT" or "MONTHLY". */
    public readonly ?string $renewalBillingPlanType;
    /** Base64; only from a device. */
    public readonly ?string $deviceVerification;
    /** UUID; only from a device. */
    public readonly ?string $deviceVerificationNonce;
}
