<?php

declare(strict_types=1);

namespace Assay;

use DateTimeInterface;
use SensitiveParameter;

/**
 * Issues and verifies session tokens. `Verifier::sessions` makes one.
 *
 *     $session = $verifier->sessions()->issueSession($assertion, $account);
 */
final class Sessions
{
    /**
     * @param \Closure(array<string, mixed>, int|DateTimeInterface|null, mixed=): Document $atOnce
     *     runs an operation that needs no step, with evidence if there is some
     *
     * @internal made by a Verifier
     */
    public function __construct(private \Closure $atOnce)
    {
    }

    /**
     * Issues a session token: this account proved possession of this device key a short while ago.
     * Issue one only after challenge and counter were stored: the library does not check the
     * database.
     *
     * @param Document|Facts\Attestation|Facts\Assertion $evidence of this verifier
     * @param string $account 1 to 255 bytes, without a space at either end
     * @param bool $limited whether the session is good only for free requests, and for metered ones
     *     that you count
     * @param int|null $risk the risk metric of the key's receipt; null if unknown
     * @param string|null $binding what the caller must present again, preferably `origin_jti` of
     *     its access token
     * @param int|null $ttlMs at most an hour, in milliseconds; null for `session.ttlMs` of the
     *     configuration
     *
     * @throws Exception\Misuse for evidence that was refused, is of another kind or was verified
     *     with `attest.time` "stored"
     * @throws Exception\Configuration without the block `session`
     */
    public function issueSession(
        Document|Facts\Attestation|Facts\Assertion $evidence,
        string $account,
        bool $limited = false,
        ?int $risk = null,
        #[SensitiveParameter] ?string $binding = null,
        ?int $ttlMs = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\IssuedSession {
        $document = ($this->atOnce)([
            'operation' => 'issue-session',
            'account' => $account,
            'verdict' => $limited ? 'limited' : 'allow',
            'risk' => $risk,
            'binding' => $binding,
            'ttlMs' => $ttlMs,
        ], $now, $evidence);
        $document->throwIfFailed();

        return Facts\IssuedSession::of($document->json()['exchange']['session']);
    }

    /**
     * Verifies a session token, without any database.
     *
     * @param string $session the session token that the app sent
     * @param string $purpose "read", "free", "metered", "restore"; "promo" and "paid" need an
     *     assertion
     * @param string|null $account that of the caller's access token: always pass it if there is one
     * @param string|null $binding the one with which the session was issued
     *
     * @throws Exception\AssayException for a token that is forged, expired, of another account or
     *     not sufficient for the purpose: ask the app for a new assertion
     */
    public function verifySession(
        #[SensitiveParameter] string $session,
        string $purpose,
        ?string $account = null,
        #[SensitiveParameter] ?string $binding = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\Session {
        $document = ($this->atOnce)([
            'operation' => 'verify-session',
            'session' => $session,
            'purpose' => $purpose,
            'account' => $account,
            'binding' => $binding,
        ], $now);
        $document->throwIfFailed();

        return Facts\Session::of($document->json()['exchange']['session']);
    }
}
