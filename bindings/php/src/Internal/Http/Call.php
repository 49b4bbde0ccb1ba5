<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * A request of a step, as a client needs it.
 *
 * @internal
 */
final class Call
{
    public readonly string $method;
    public readonly ?string $content;
    /** @var list<string> lines of headers */
    public readonly array $headers;
    /** hrtime(true) at which the answer must be there. */
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

    /** Microseconds until the end; 0 when it is over. */
    public function left(): int
    {
        return max(intdiv($this->end - hrtime(true), 1000), 0);
    }

    /**
     * The status and the headers of a head.
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
