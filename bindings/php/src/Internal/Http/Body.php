<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * The body of an answer as it comes in: decoded, and never more of it than a request allows
 * and a little (EXC-19).
 *
 * @internal
 */
final class Body
{
    /** Of what is packed densely this much is unpacked at once: a megabyte at most. */
    private const PIECE = 1024;

    private string $octets = '';
    private ?\InflateContext $gzip = null;
    private bool $whole = true;

    public function __construct(private int $most)
    {
    }

    /** What the head says of the coding; false for one that nobody asked for. */
    public function coded(?string $coding): bool
    {
        $coding = strtolower($coding ?? 'identity');
        if ($coding === 'gzip' && function_exists('inflate_init')) {
            $this->gzip = inflate_init(ZLIB_ENCODING_GZIP) ?: null;
            $this->whole = false;
        }

        return $coding === 'identity' || $this->gzip !== null;
    }

    /** Take what came in; whether more is wanted. */
    public function add(#[SensitiveParameter] string $piece): bool
    {
        foreach ($this->gzip === null ? [$piece] : str_split($piece, self::PIECE) as $part) {
            if ($this->isCut()) {
                break;
            }
            $this->octets .= $this->gzip === null ? $part : $this->unpacked($part);
        }

        return !$this->isCut();
    }

    /** Whether it is longer than allowed. */
    public function isCut(): bool
    {
        return strlen($this->octets) > $this->most;
    }

    /** Whether all that was packed came in. */
    public function isWhole(): bool
    {
        return $this->whole;
    }

    public function octets(): string
    {
        return $this->octets;
    }

    private function unpacked(#[SensitiveParameter] string $part): string
    {
        if ($this->whole) {
            return '';
        }
        $plain = @inflate_add($this->gzip, $part);
        $this->whole = inflate_get_status($this->gzip) === ZLIB_STREAM_END;

        return (string) $plain;
    }

    public function __debugInfo(): array
    {
        return ['length' => strlen($this->octets)];
    }
}
