<?php

declare(strict_types=1);

namespace Assay;

use Assay\Exception\AssayException;
use Assay\Internal\KeyFolder;
use Assay\Internal\Refusal;
use DateTimeInterface;
use SensitiveParameter;

/**
 * Fetches the key sets of token issuers, and keeps them from one PHP request to the next.
 *
 *     $keys = new KeysetCache($verifier, '/var/lib/app/keys');
 *     $token = $keys->verifyToken($text, $issuer);
 *
 * A set is fetched for the first token, after a token with an unknown key, and when the set is
 * older than keysetMaxAgeMs; an old one stays in use meanwhile, also if the fetch fails. Each
 * issuer has one request at a time, and the library determines how soon the next may follow (KST-1
 * … 13).
 */
final class KeysetCache
{
    private const NEED_KEYS = ['rejected.token.unknown-key', 'unavailable.token.keyset-too-old'];

    private KeyFolder $folder;
    private ?\Closure $send;
    private \Closure $load, $save;
    /**
     * @var array<string, array{string, Keyset}> by issuer: the JSON, and the key set made from it
     */
    private array $known = [];

    /**
     * @param string $folder writable by this program only: it has a lock for each issuer and,
     *     without $save, the keys. A process that can write there determines which tokens pass
     * @param callable(array<string, mixed>): array<string, mixed>|null $send sends a request and
     *     returns the response; null for a Sender
     * @param callable(string): ?string|null $load returns what $save was given for an issuer, or
     *     null
     * @param callable(string, string): mixed|null $save stores a text for an issuer: public keys
     *     and times, which are not secret
     */
    public function __construct(
        private Verifier $verifier,
        string $folder,
        ?callable $send = null,
        ?callable $load = null,
        ?callable $save = null,
    ) {
        $this->folder = new KeyFolder($folder);
        $this->send = $send === null ? null : $send(...);
        $this->load = $load === null ? $this->folder->read(...) : $load(...);
        $this->save = $save === null ? $this->folder->write(...) : $save(...);
    }

    /**
     * Verifies a token as `Verifier::verifyToken` does, with the keys of an issuer, fetched as
     * needed. Throws the same exceptions, and Unavailable, or Pending in the cooldown, if there are
     * no keys at all.
     */
    public function verifyToken(
        #[SensitiveParameter] string $token,
        string $issuer,
        int|DateTimeInterface|null $now = null,
    ): Facts\Token {
        $keys = $this->keyset($issuer);
        try {
            $found = $this->verifier->verifyToken($token, $keys, $now);
        } catch (AssayException $refusal) {
            $cools = $refusal->document?->at('error.keyset') === 'cooldown';
            $fresh = $cools || !in_array($refusal->status, self::NEED_KEYS, true)
                ? $keys : $this->refresh($issuer, $keys, self::kidOf($token));
            if ($fresh === $keys) {
                throw $refusal;
            }

            return $this->verifier->verifyToken($token, $fresh, $now);
        }
        try {
            $found->keyset->stale && $this->refresh($issuer, $keys, waits: false);
        } catch (\Exception) {
            // The token is verified by keys that are still valid; the next token tries again.
        }

        return $found;
    }

    /** Returns the cached key set, and fetches one if there is none. */
    public function keyset(string $issuer): Keyset
    {
        return $this->known[$issuer][1] ?? $this->taken($issuer, $this->kept($issuer))
            ?? $this->refresh($issuer);
    }

    /**
     * Returns a key set newer than the old one if there is one, else the old one. One process
     * fetches; others wait meanwhile for its result, or continue with the old one.
     */
    public function refresh(
        string $issuer,
        ?Keyset $old = null,
        ?string $wantKid = null,
        bool $waits = true,
    ): Keyset {
        return $this->folder->alone($issuer, function () use ($issuer, $old, $wantKid): Keyset {
            $kept = $this->kept($issuer); // another process may have fetched one meanwhile
            $keys = $this->taken($issuer, $kept);

            return $keys === null || $keys === $old
                ? $this->fetched($issuer, $kept, $wantKid) : $keys;
        }, $waits || $old === null) ?? $old;
    }

    private function fetched(string $issuer, array $kept, ?string $wantKid): Keyset
    {
        $asked = ['operation' => 'fetch-keyset', 'issuer' => $issuer, 'wantKid' => $wantKid]
            + $kept;
        $document = $this->verifier->exchange(array_filter($asked, static fn ($it) => $it !== null))
            ->run($this->send, 0.0); // a wait is the cooldown, so the exchange ends there
        // The state is stored after a refusal too, because it has the cooldown.
        $kept['state'] = $document->at('exchange.keysetState') ?? $kept['state'] ?? null;
        $kept['keyset'] = $document->at('exchange.keyset') ?? $kept['keyset'] ?? null;
        ($this->save)($issuer, json_encode($kept, JSON_THROW_ON_ERROR));

        return $this->taken($issuer, $kept) ?? throw Refusal::of($document);
    }

    /**
     * @return array{keyset?: ?string, state?: ?array<string, mixed>} the stored state of an issuer
     */
    private function kept(string $issuer): array
    {
        return json_decode((string) ($this->load)($issuer), true) ?? [];
    }

    private function taken(string $issuer, array $kept): ?Keyset
    {
        $text = $kept['keyset'] ?? null;
        if ($text !== null && ($this->known[$issuer][0] ?? null) !== $text) {
            $this->known[$issuer] = [$text, new Keyset($text)];
        }

        return $this->known[$issuer][1] ?? null;
    }

    /** Returns the key id in the header of a token: a hint for the library, not verified. */
    private static function kidOf(#[SensitiveParameter] string $token): ?string
    {
        $head = strtr(explode('.', $token, 2)[0], '-_', '+/');
        $kid = json_decode((string) base64_decode($head), true)['kid'] ?? null;

        return is_string($kid) ? $kid : null;
    }
}
