<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Pending;
use Assay\Exception\Unavailable;
use Assay\Facts\Token;
use Assay\Keyset;
use Assay\KeysetCache;
use Assay\Verifier;

/** The calling account: the subject of an access token, which is verified here (BCK-18). */
final class Bearer
{
    /**
     * @param \Closure(array<string, mixed>): array<string, mixed> $send runs an HTTP step
     */
    public function __construct(
        private Verifier $verifier,
        private KeySource $source,
        private \Closure $send,
    ) {
    }

    /** @throws Refused 401; there is no default account */
    public function account(Request $request): string
    {
        if (preg_match('/^Bearer +([!-~]+)$/i', (string) $request->authorization, $found) !== 1) {
            throw self::unauthorized();
        }
        try {
            $account = $this->token($found[1])->subject;
        } catch (Unavailable | Pending $away) {
            throw $away; // missing keys are not the client's fault
        } catch (AssayException $refusal) {
            Log::line('WARN', "token refused: $refusal->status");
            throw self::unauthorized();
        }

        // Refuses a text that cannot be an account of the ledger (STO-5).
        return preg_match('/^(?! )[^\p{Cc}]{1,255}(?<! )$/u', $account) === 1 && strlen($account) < 256
            ? $account : throw self::unauthorized();
    }

    private function token(string $text): Token
    {
        if ($this->source->keys !== null) {
            $keys = @file_get_contents($this->source->keys);
            is_string($keys) || throw new \DomainException('shop: bearer.keys cannot be read');

            return $this->verifier->verifyToken($text, new Keyset($keys));
        }
        $sets = new KeysetCache($this->verifier, $this->source->folder, $this->send);

        return $sets->verifyToken($text, $this->source->issuer);
    }

    private static function unauthorized(): Refused
    {
        return new Refused(401, 'Unauthorized', ['WWW-Authenticate' => 'Bearer']);
    }
}
