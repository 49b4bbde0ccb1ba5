<?php

declare(strict_types=1);

namespace Shop;

/** A request that ends here, with a text that tells a forger nothing (BCK-23). */
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
