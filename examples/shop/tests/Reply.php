<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

/** An HTTP response of the shop. */
final class Reply
{
    /** @param array<string, string> $headers values by lower-case name */
    private function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    public static function of(\CurlHandle $handle, string $text): self
    {
        $size = curl_getinfo($handle, CURLINFO_HEADER_SIZE);
        $headers = [];
        foreach (explode("\r\n", substr($text, 0, $size)) as $line) {
            if (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower($name)] = trim($value);
            }
        }

        return new self(
            curl_getinfo($handle, CURLINFO_RESPONSE_CODE),
            $headers,
            substr($text, $size),
        );
    }

    /** @return array<string, mixed> the members of its JSON; empty if it has none */
    public function members(): array
    {
        return (array) json_decode($this->body, true);
    }

    /** @return array{int, string|null} the status, and the result of LST-2 or the error's text */
    public function said(): array
    {
        $found = json_decode($this->body, true);

        return [$this->status, $found['answer'] ?? $found['error'] ?? null];
    }
}
