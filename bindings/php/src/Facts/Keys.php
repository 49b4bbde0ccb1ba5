<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** Names under which a store keeps the evidence. null where a part is missing. */
final class Keys extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'transaction' => [Member::TEXT, 'transaction'],
        'purchase' => [Member::TEXT, 'purchase'],
        'subscription' => [Member::TEXT, 'subscription'],
        'notification' => [Member::TEXT, 'notification'],
        'app' => [Member::TEXT, 'app'],
    ];

    /** One signed transaction. */
    public readonly ?string $transaction;
    /** What may be paid out once. */
    public readonly ?string $purchase;
    /** One line of renewals. */
    public readonly ?string $subscription;
    /** One notification: retries repeat it. */
    public readonly ?string $notification;
    /** One customer's download of the app. */
    public readonly ?string $app;
}
