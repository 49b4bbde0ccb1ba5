<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * The request of an HTTP step in the form that a client needs.
 *
 * @internal
 */
final class Call
{
    public readonly string $method;
    public readonly ?string $content;
    /** @var list<string> header lines */
    public readonly array $headers;
    /** The hrtime(true) by which the whole response must have been received. */
    public readonly int $end;

    /**
     * @param string $base scheme, host and port to send to
     * @param string $target path and query
     * @param array<string, mixed> $request
     */
    public function __construct(
        public readonly string $base,
        public readonly string $target,
        string $host,
        #[SensitiveParameter] array $request,
    ) {
        $this->method = $request['method'];
        $body = $request['body'];
        $this->content = isset($body['base64'])
            ? (string) base64_decode($body['base64'], true) : $body['text'] ?? null;
        $this->end = hrtime(true) + $request['timeoutMs'] * 1_000_000;
        $headers = ["Host: $host", 'Connection: close', 'Accept-Encoding: identity'];
        foreach ($request['headers'] as [$name, $value]) {
            $headers[] = "$name: $value";
        }
        $this->headers = $headers;
    }

    /** Returns the microseconds until the end; 0 if it has passed. */
    public function left(): int
    {
        return max(intdiv($this->end - hrtime(true), 1000), 0);
    }

    /**
     * Returns the status and the headers of a response head.
     *
     * @return array{int, array<string, string>}|null
     */
    public static function head(#[SensitiveParameter] string $text): ?array
    {
        if (preg_match('~^HTTP/[0-9.]+ ([0-9]{3})~', $text, $found) !== 1) {
            return null;
        }
        $headers = [];
        foreach (array_slice(explode("\r\n", $text), 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower(trim($name))] ??= trim($value);
        }

        return [(int) $found[1], $headers];
    }

    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'base' => $this->base];
    }
}
