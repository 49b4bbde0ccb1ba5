<?php

declare(strict_types=1);

namespace Shop;

/** Ends a request, with a text that does not help a forger (BCK-23). */
final class Refused extends \RuntimeException
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status,
        string $text,
        public readonly array $headers = [],
    ) {
        parent::__construct($text);
    }
}
