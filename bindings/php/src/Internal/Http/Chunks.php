<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * A chunked body as it comes in (RFC 9112, 7.1).
 *
 * @internal
 */
final class Chunks
{
    private const LONGEST_LINE = 256;

    private string $rest = '';
    private int $left = 0;
    private bool $done = false;
    private bool $broken = false;

    /** What the next octets add to the body. */
    public function add(#[SensitiveParameter] string $octets): string
    {
        $this->rest .= $octets;
        $body = '';
        while (!$this->done && !$this->broken && $this->rest !== '') {
            if ($this->left === 0) {
                if (!$this->begin()) {
                    break;
                }
                continue;
            }
            $piece = substr($this->rest, 0, $this->left);
            $this->rest = substr($this->rest, strlen($piece));
            $this->left -= strlen($piece);
            $body .= $piece;
        }

        return $body;
    }

    /** Whether the last chunk was there. */
    public function isDone(): bool
    {
        return $this->done;
    }

    public function isBroken(): bool
    {
        return $this->broken;
    }

    /** The line with the size of a chunk, and the line end of the one before; false: not all
     * of it is here. */
    private function begin(): bool
    {
        if (preg_match('~^(?:\r\n)?([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n~', $this->rest, $found) !== 1) {
            $this->broken = strlen($this->rest) > self::LONGEST_LINE;

            return false;
        }
        $this->rest = substr($this->rest, strlen($found[0]));
        $this->left = (int) hexdec($found[1]);
        $this->done = $this->left === 0;

        return true;
    }
}
