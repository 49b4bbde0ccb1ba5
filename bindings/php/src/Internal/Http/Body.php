<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * The decoded body of a response while it is received, never much more than a request allows
 * (EXC-19).
 *
 * @internal
 */
final class Body
{
    /** The number of packed bytes to unpack at once, which is at most a megabyte of output. */
    private const PIECE = 1024;

    private string $octets = '';
    private ?\InflateContext $gzip = null;
    private bool $whole = true;

    public function __construct(private int $most)
    {
    }

    /** Sets the content coding of the head; returns false for one that is not supported. */
    public function coded(?string $coding): bool
    {
        $coding = strtolower($coding ?? 'identity');
        if ($coding === 'gzip' && function_exists('inflate_init')) {
            $this->gzip = inflate_init(ZLIB_ENCODING_GZIP) ?: null;
            $this->whole = false;
        }

        return $coding === 'identity' || $this->gzip !== null;
    }

    /** Adds a received piece; returns whether more is wanted. */
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

    /** Whether the body is longer than allowed. */
    public function isCut(): bool
    {
        return strlen($this->octets) > $this->most;
    }

    /** Whether the end of the packed body was received. */
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
