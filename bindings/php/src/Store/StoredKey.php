<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Facts\Details;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** An attested key, as `Verifier::verifyAssertion` needs it. */
final class StoredKey extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'keyId' => [Member::TEXT, 'keyId'],
        'publicKey' => [Member::OCTETS, 'publicKey'],
        'counter' => [Member::INTEGER, 'counter'],
        'appId' => [Member::TEXT, 'appId'],
        'environment' => [Member::TEXT, 'environment'],
        'createdMs' => [Member::TIME, 'createdMs'],
        'usedMs' => [Member::TIME, 'usedMs'],
        'receipt' => [Member::OCTETS, 'receipt'],
        'nextMs' => [Member::TIME, 'nextMs'],
        'risk' => [Member::INTEGER, 'risk'],
    ];

    /** Base64. */
    public readonly string $keyId;
    /** 65 bytes. */
    public readonly string $publicKey;
    /** The largest of an assertion so far. */
    public readonly int $counter;
    /** Prefix, dot, bundle id. */
    public readonly string $appId;
    /** Where it was attested. See Names\AttestEnvironment. */
    public readonly string $environment;
    /** When it was bound. Milliseconds since 1970 UTC. */
    public readonly int $createdMs;
    /** When it was used last. Milliseconds since 1970 UTC. */
    public readonly int $usedMs;
    /** The newest App Attest receipt; null: none was kept. */
    public readonly ?string $receipt;
    /** When to ask Apple for a newer receipt; null: never. Milliseconds since 1970 UTC. */
    public readonly ?int $nextMs;
    /** The risk metric of the receipt. */
    public readonly ?int $risk;
}
