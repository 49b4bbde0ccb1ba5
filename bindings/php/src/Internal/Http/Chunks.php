<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * A chunked body while it is received (RFC 9112, 7.1).
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

    /** Returns what the received bytes add to the body. */
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

    /** Whether the last chunk was received. */
    public function isDone(): bool
    {
        return $this->done;
    }

    public function isBroken(): bool
    {
        return $this->broken;
    }

    /**
     * Reads the line with the size of a chunk, after the line end of the previous one; false if the
     * line is incomplete.
     */
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
