<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use DateTimeImmutable;

/** The receipt inside an attestation: verified with it, about its key. */
final class AttestedReceipt extends Details
{
    use ReadOnce;

    protected const MEMBERS = [
        'type' => [Member::TEXT, 'type'],
        'appId' => [Member::TEXT, 'appId'],
        'environment' => [Member::TEXT, 'environment'],
        'keyId' => [Member::TEXT, 'keyId'],
        'bound' => [Member::BOOLEAN, 'bound'],
        'createdMs' => [Member::TIME, 'createdMs'],
        'createdAt' => [Member::MOMENT, 'createdMs'],
        'notBeforeMs' => [Member::TIME, 'notBeforeMs'],
        'notBeforeAt' => [Member::MOMENT, 'notBeforeMs'],
        'expiresMs' => [Member::TIME, 'expiresMs'],
        'expiresAt' => [Member::MOMENT, 'expiresMs'],
        'expired' => [Member::BOOLEAN, 'expired'],
        'risk' => [Member::INTEGER, 'risk'],
        'refreshAtMs' => [Member::TIME, 'refreshAtMs'],
        'refreshAt' => [Member::MOMENT, 'refreshAtMs'],
        'refreshDue' => [Member::BOOLEAN, 'refreshDue'],
        'token' => [Member::TEXT, 'token'],
        'signer' => [Member::DETAILS, 'signer', Certificate::class],
        'unknownFields' => [Member::NUMBERS, 'unknownFields'],
        'raw' => [Member::OCTETS, 'bytes'],
    ];

    /** "ATTEST", from the app; "RECEIPT", from Apple after a refresh. */
    public readonly ?string $type;
    /** App ID prefix, dot, bundle id. */
    public readonly ?string $appId;
    /** "production" or "sandbox". */
    public readonly ?string $environment;
    /** The key that it is about, base64. */
    public readonly ?string $keyId;
    /** Whether it was checked to be about the key that was given. */
    public readonly ?bool $bound;
    /** When Apple made it. Milliseconds since 1970 UTC. */
    public readonly ?int $createdMs;
    /** `createdMs` in UTC. */
    public readonly ?DateTimeImmutable $createdAt;
    /** Earliest refresh; only "RECEIPT". Milliseconds since 1970 UTC. */
    public readonly ?int $notBeforeMs;
    /** `notBeforeMs` in UTC. */
    public readonly ?DateTimeImmutable $notBeforeAt;
    /** From then on only a new key helps. Milliseconds since 1970 UTC. */
    public readonly ?int $expiresMs;
    /** `expiresMs` in UTC. */
    public readonly ?DateTimeImmutable $expiresAt;
    /** Whether it has ended; true only with `attest.time: stored`. */
    public readonly ?bool $expired;
    /**
     * About how many keys this app attested on this device in the last 30 days; only "RECEIPT".
     * 1 to 3 are everyday.
     */
    public readonly ?int $risk;
    /** When a refresh is due; null: none can be had any more. Milliseconds since 1970 UTC. */
    public readonly ?int $refreshAtMs;
    /** `refreshAtMs` in UTC. */
    public readonly ?DateTimeImmutable $refreshAt;
    /** Whether it is due at `now`. */
    public readonly ?bool $refreshDue;
    /** Apple's token in it, base64. */
    public readonly ?string $token;
    /** The signing certificate. */
    public readonly ?Certificate $signer;
    /** @var list<int|string> Numbers of the fields that this version does not know. */
    public readonly array $unknownFields;
    /** The receipt itself, to be stored and refreshed. */
    public readonly ?string $raw;
}
