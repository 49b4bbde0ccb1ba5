<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * A key in the Secure Enclave of a genuine Apple device, made by your app.
 *
 * Store `keyId`, `publicKey`, `appId`, `environment`, the counter 0 and
 * `receipt.raw`, bound to the account; refuse a key that another account has. It
 * says neither who the person is nor that the device is free of tampering.
 */
final class Attestation extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'category' => [Member::INTEGER, 'category'],
        'categoryName' => [Member::TEXT, 'categoryName'],
        'bundleVersion' => [Member::TEXT, 'bundleVersion'],
        'otherExtensions' => [Member::MAP, 'otherExtensions'],
        'keyId' => [Member::TEXT, 'keyId'],
        'publicKey' => [Member::INNER_OCTETS, 'publicKey', 'x963'],
        'publicKeySpki' => [Member::INNER_OCTETS, 'publicKey', 'spki'],
        'appId' => [Member::TEXT, 'appId'],
        'environment' => [Member::TEXT, 'environment'],
        'aaguid' => [Member::TEXT, 'aaguid'],
        'flags' => [Member::INTEGER, 'flags'],
        'counter' => [Member::INTEGER, 'counter'],
        'nonce' => [Member::TEXT, 'nonce'],
        'os' => [Member::DETAILS, 'os', System::class],
        'acl' => [Member::TEXT, 'acl'],
        'challengeSha256' => [Member::INNER_TEXT, 'challenge', 'sha256'],
        'leaf' => [Member::DETAILS, 'leaf', Certificate::class],
        'receipt' => [Member::DETAILS, 'receipt', AttestedReceipt::class],
        'revocation' => [Member::TEXT, 'revocation'],
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
    /** SHA-256 of the key, standard base64. */
    public readonly ?string $keyId;
    /** The point 04 || X || Y, 65 bytes: what `verifyAssertion` takes. */
    public readonly ?string $publicKey;
    /** The same as SubjectPublicKeyInfo, 91 bytes. */
    public readonly ?string $publicKeySpki;
    /** App ID prefix, dot, bundle id: the one that matched. */
    public readonly ?string $appId;
    /** "production" or "development". */
    public readonly ?string $environment;
    /** What the environment was told by, hex. */
    public readonly ?string $aaguid;
    /** Of the authenticator data; reported, not judged. */
    public readonly ?int $flags;
    /** 0: the first value to store. */
    public readonly ?int $counter;
    /** SHA-256 that the certificate carries, hex. */
    public readonly ?string $nonce;
    /** The system on the device. */
    public readonly ?System $os;
    /** Access control octets of the key, hex. */
    public readonly ?string $acl;
    /**
     * SHA-256 of the challenge in the client data, hex. null: it was not looked for, and
     * comparing it is up to you (`attest.challenge` of the configuration).
     */
    public readonly ?string $challengeSha256;
    /** The key's certificate. */
    public readonly ?Certificate $leaf;
    /** null only with `attest.receipt: ignore`. */
    public readonly ?AttestedReceipt $receipt;
    /** "not-available": Apple offers none. */
    public readonly ?string $revocation;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
