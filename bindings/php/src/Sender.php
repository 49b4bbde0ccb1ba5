<?php

declare(strict_types=1);

namespace Assay;

/**
 * Sends the requests of a conversation over PHP's streams: certificates are verified,
 * redirects are not followed, no cookie is kept, no proxy is used, and no more is read than
 * a request allows. HTTPS needs the extension openssl.
 *
 *     $document = $verifier->exchange($request)->run(new Sender());
 *
 * To use another client, pass a callable in its place: it takes a request and returns an
 * answer, both arrays that docs/exchanges.md describes.
 */
final class Sender
{
    /** An answer is handed in as JSON of at most 8 MiB (EXC-5): this much fits as base64. */
    private const ROOM = ((8 << 20) - 4096) / 4 * 3;
    /** A longer body always goes in as base64 (EXC-20). */
    private const TEXT = 1 << 20;
    private const PIECE = 1 << 16;

    /** @var array<string, string> */
    private array $hosts = [];

    /**
     * @param array<string, string> $hosts only for tests: where to find a host instead,
     *     ['buy.itunes.apple.com' => 'http://127.0.0.1:8080']. Loopback addresses only
     */
    public function __construct(array $hosts = [])
    {
        foreach ($hosts as $name => $url) {
            $this->hosts[$name] = self::loopback($url);
        }
    }

    /**
     * The answer to one request; status 0 if none came.
     *
     * @param array<string, mixed> $request
     *
     * @return array<string, mixed>
     */
    public function __invoke(#[\SensitiveParameter] array $request): array
    {
        $none = ['id' => $request['id'], 'status' => 0, 'body' => null];
        $end = hrtime(true) + $request['timeoutMs'] * 1_000_000;
        $stream = $this->open($request);
        if ($stream === null) {
            return $none;
        }
        try {
            $room = (int) min($request['maxResponseBytes'], self::ROOM);
            $body = self::read($stream, $room + 1, $end);
            $lines = stream_get_meta_data($stream)['wrapper_data'] ?? [];
        } finally {
            fclose($stream);
        }
        [$status, $headers] = self::head($lines);
        $cut = $body !== null && strlen($body) > $room;
        if ($body === null || !$cut && strlen($body) < (int) ($headers['content-length'] ?? 0)) {
            return $none;
        }
        $wanted = [];
        foreach ($request['wantHeaders'] as $name) {
            if (isset($headers[$name])) {
                $wanted[] = [$name, $headers[$name]];
            }
        }

        return [
            'id' => $request['id'],
            'status' => $status,
            'headers' => $wanted,
            'body' => $cut ? null : self::given($body),
            'cut' => $cut,
        ];
    }

    /** @return resource|null */
    private function open(array $request)
    {
        $parts = parse_url($request['url']);
        $host = $parts['host'] . (isset($parts['port']) ? ":{$parts['port']}" : '');
        $base = $this->hosts[$parts['host']] ?? "{$parts['scheme']}://$host";
        $query = isset($parts['query']) ? "?{$parts['query']}" : '';
        $headers = ["Host: $host", 'Connection: close'];
        foreach ($request['headers'] as [$name, $value]) {
            $headers[] = "$name: $value";
        }
        $body = $request['body'];
        $context = stream_context_create([
            'http' => [
                'method' => $request['method'],
                'header' => $headers,
                'content' => $body['text'] ?? base64_decode($body['base64'] ?? '', true),
                'protocol_version' => 1.1,
                'follow_location' => 0,
                'ignore_errors' => true,
                'timeout' => $request['timeoutMs'] / 1000,
            ],
            'ssl' => ['verify_peer' => true, 'verify_peer_name' => true],
        ]);
        $stream = @fopen($base . ($parts['path'] ?? '/') . $query, 'rb', false, $context);

        return $stream === false ? null : $stream;
    }

    /**
     * At most that many bytes of a body; null if it did not come in time.
     *
     * @param resource $stream
     */
    private static function read($stream, int $most, int $end): ?string
    {
        $body = '';
        while (strlen($body) < $most && !feof($stream)) {
            $left = intdiv($end - hrtime(true), 1000);
            if ($left <= 0) {
                return null;
            }
            stream_set_timeout($stream, intdiv($left, 1_000_000), $left % 1_000_000);
            $piece = fread($stream, min(self::PIECE, $most - strlen($body)));
            if ($piece === false || stream_get_meta_data($stream)['timed_out']) {
                return null;
            }
            $body .= $piece;
        }

        return $body;
    }

    /**
     * The status, and the headers by name in lower case.
     *
     * @param list<string> $lines
     *
     * @return array{int, array<string, string>}
     */
    private static function head(array $lines): array
    {
        $status = 0;
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('~^HTTP/[0-9.]+ ([0-9]{3})~', $line, $found) === 1) {
                [$status, $headers] = [(int) $found[1], []];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower(trim($name))] ??= trim($value);
            }
        }

        return [$status, $headers];
    }

    /** @return array<string, string> */
    private static function given(string $body): array
    {
        // A text in an answer must not hold a NUL.
        $isText = strlen($body) <= self::TEXT && preg_match('//u', $body) === 1
            && !str_contains($body, "\0");

        return $isText ? ['text' => $body] : ['base64' => base64_encode($body)];
    }

    /** An address of this machine, without a trailing slash. */
    private static function loopback(string $url): string
    {
        $parts = parse_url($url) ?: [];
        $host = trim($parts['host'] ?? '', '[]');
        $here = $host === 'localhost' || $host === '::1'
            || filter_var($host, FILTER_VALIDATE_IP, FILTER_FLAG_IPV4)
                && str_starts_with($host, '127.');
        $isBase = in_array($parts['scheme'] ?? '', ['http', 'https'], true)
            && ($parts['path'] ?? '/') === '/';
        if (!$here || !$isBase) {
            throw new \ValueError(
                'hosts: only addresses of this machine, http://127.0.0.1:PORT'
            );
        }

        return rtrim($url, '/');
    }
}
