<?php

declare(strict_types=1);

namespace Assay;

use DateTimeInterface;
use SensitiveParameter;

/**
 * Makes and verifies session tokens. Made by `Verifier::sessions`.
 *
 *     $session = $verifier->sessions()->issueSession($assertion, $account);
 */
final class Sessions
{
    /**
     * @param \Closure(array<string, mixed>, int|DateTimeInterface|null, mixed=): Document
     *     $atOnce answers a request, about evidence where there is some
     *
     * @internal made by a Verifier
     */
    public function __construct(private \Closure $atOnce)
    {
    }

    /**
     * A session token: this account proved this key a short while ago. Issue it only when
     * challenge and counter were stored: the library does not see the store.
     *
     * @param Document|Facts\Attestation|Facts\Assertion $evidence of this verifier
     * @param string $account 1 to 255 bytes, no space at either end
     * @param bool $limited good for free calls, and for metered ones that you count
     * @param int|null $risk the metric of the key's receipt, where it is known
     * @param string|null $binding what the caller must show again: best `origin_jti` of its
     *     access token
     * @param int|null $ttlMs at most an hour; null: `session.ttlMs` of the configuration
     *
     * @throws Exception\Misuse for evidence that was refused, is of another kind or was judged
     *     by `attest.time` "stored"
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
     * What a session token proves, without any store.
     *
     * @param string $session the text that the app sent
     * @param string $purpose "read", "free", "metered", "restore"; "promo" and "paid" need an
     *     assertion
     * @param string|null $account the one of the caller's access token: always pass it where
     *     there is one
     * @param string|null $binding what was given when the session was issued
     *
     * @throws Exception\AssayException for a text that is forged, over, of somebody else, or not
     *     enough: ask the app for a new assertion
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
