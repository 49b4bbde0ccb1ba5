<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * The attested key signed these client data, later than the last time.
 *
 * Store `counter` with "only if the stored one is still smaller": of two requests
 * with one counter exactly one may pass.
 */
final class Assertion extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'category' => [Member::INTEGER, 'category'],
        'categoryName' => [Member::TEXT, 'categoryName'],
        'bundleVersion' => [Member::TEXT, 'bundleVersion'],
        'otherExtensions' => [Member::MAP, 'otherExtensions'],
        'appId' => [Member::TEXT, 'appId'],
        'counter' => [Member::INTEGER, 'counter'],
        'previousCounter' => [Member::INTEGER, 'previousCounter'],
        'flags' => [Member::INTEGER, 'flags'],
        'nonce' => [Member::TEXT, 'nonce'],
        'challengeSha256' => [Member::INNER_TEXT, 'challenge', 'sha256'],
    ];

    /** Where the build came from: 2 TestFlight, 4 App Store …; null: not said. */
    public readonly ?int $category;
    /**
     * "operating-system", "testflight", "development", "app-store", "enterprise", "developer-
     * id", "other"; null for numbers without a meaning.
     */
    public readonly ?string $categoryName;
    /** CFBundleVersion, the build number: "1314". */
    public readonly ?string $bundleVersion;
    /** @var array<string, mixed> Further ones by name; each value's encoding (CBOR) in hex. */
    public readonly array $otherExtensions;
    /** App ID prefix, dot, bundle id: the one that matched. */
    public readonly ?string $appId;
    /** The new one, to be stored. */
    public readonly ?int $counter;
    /** The one that was given. */
    public readonly ?int $previousCounter;
    /** Of the authenticator data; reported, not judged. */
    public readonly ?int $flags;
    /** SHA-256 that was signed, hex. */
    public readonly ?string $nonce;
    /**
     * SHA-256 of the challenge in the client data, hex. null: it was not looked for, and
     * comparing it is up to you (`attest.challenge` of the configuration).
     */
    public readonly ?string $challengeSha256;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
