<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** The body `summary`: the end of a mass extension. */
final class NotificationSummary extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'environment' => [Member::TEXT, 'environment'],
        'appAppleId' => [Member::INTEGER, 'appAppleId'],
        'bundleId' => [Member::TEXT, 'bundleId'],
        'productId' => [Member::TEXT, 'productId'],
        'requestIdentifier' => [Member::TEXT, 'requestIdentifier'],
        'storefrontCountryCodes' => [Member::TEXTS, 'storefrontCountryCodes'],
        'succeededCount' => [Member::INTEGER, 'succeededCount'],
        'failedCount' => [Member::INTEGER, 'failedCount'],
    ];

    /** Where it happened. */
    public readonly ?string $environment;
    /** Apple's number of the app. */
    public readonly ?int $appAppleId;
    /** The app. */
    public readonly ?string $bundleId;
    /** The product that was extended. */
    public readonly ?string $productId;
    /** UUID of your request. */
    public readonly ?string $requestIdentifier;
    /** @var list<string> Countries, three letters each. */
    public readonly array $storefrontCountryCodes;
    /** How many were extended. */
    public readonly ?int $succeededCount;
    /** How many were not. */
    public readonly ?int $failedCount;
}
