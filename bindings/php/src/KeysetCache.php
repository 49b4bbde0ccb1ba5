<?php

declare(strict_types=1);

namespace Assay;

use Assay\Exception\AssayException;
use Assay\Internal\KeyFolder;
use Assay\Internal\Refusal;
use DateTimeInterface;
use SensitiveParameter;

/**
 * The key sets of token issuers, fetched when they are needed, and kept from one request of
 * PHP to the next.
 *
 *     $keys = new KeysetCache($verifier, '/var/lib/app/keys');
 *     $token = $keys->verifyToken($text, $issuer);
 *
 * A set is fetched at the first token, after a token with an unknown key, and when it is older
 * than keysetMaxAgeMs; then the old one goes on serving, also when the fetch fails. One request
 * is under way for an issuer, and the library says how soon the next may follow (KST-1 … 13).
 */
final class KeysetCache
{
    private const NEED_KEYS = ['rejected.token.unknown-key', 'unavailable.token.keyset-too-old'];

    private KeyFolder $folder;
    private ?\Closure $send;
    private \Closure $load, $save;
    /** @var array<string, array{string, Keyset}> by issuer: the text, and what it was read into */
    private array $known = [];

    /**
     * @param string $folder that this program alone can write to: it has a lock for each issuer
     *     and, without $save, the keys. Who writes there says whose tokens pass
     * @param callable(array<string, mixed>): array<string, mixed>|null $send carries out a
     *     request; null: a Sender
     * @param callable(string): ?string|null $load takes an issuer and gives what $save was
     *     given for it, or null
     * @param callable(string, string): mixed|null $save takes an issuer and a text to keep:
     *     public keys and times, nothing secret
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
     * `Verifier::verifyToken` with the keys of an issuer, fetched as needed. Throws what that
     * throws; Unavailable, or Pending in the cooldown, when there are no keys at all.
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
            // The token is good by keys that still serve; the next one tries again.
        }

        return $found;
    }

    /** The key set at hand, fetched if there is none. */
    public function keyset(string $issuer): Keyset
    {
        return $this->known[$issuer][1] ?? $this->taken($issuer, $this->kept($issuer))
            ?? $this->refresh($issuer);
    }

    /**
     * A key set newer than the old one, if there is one; else the old one. One process
     * fetches; those that come meanwhile wait for its result, or go on with the old one.
     */
    public function refresh(
        string $issuer,
        ?Keyset $old = null,
        ?string $wantKid = null,
        bool $waits = true,
    ): Keyset {
        return $this->folder->alone($issuer, function () use ($issuer, $old, $wantKid): Keyset {
            $kept = $this->kept($issuer); // another process may have fetched it meanwhile
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
            ->run($this->send, 0.0); // a wait is the cooldown: not waited for
        // After a refusal too: the state has the cooldown.
        $kept['state'] = $document->at('exchange.keysetState') ?? $kept['state'] ?? null;
        $kept['keyset'] = $document->at('exchange.keyset') ?? $kept['keyset'] ?? null;
        ($this->save)($issuer, json_encode($kept, JSON_THROW_ON_ERROR));

        return $this->taken($issuer, $kept) ?? throw Refusal::of($document);
    }

    /** @return array{keyset?: ?string, state?: ?array<string, mixed>} what was kept of an issuer */
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

    /** The key that a token names: a hint for the library, proof of nothing. */
    private static function kidOf(#[SensitiveParameter] string $token): ?string
    {
        $head = strtr(explode('.', $token, 2)[0], '-_', '+/');
        $kid = json_decode((string) base64_decode($head), true)['kid'] ?? null;

        return is_string($kid) ? $kid : null;
    }
}
