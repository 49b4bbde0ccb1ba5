<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

use SensitiveParameter;

/**
 * Sends over PHP's own sockets, which every PHP has; HTTPS needs the extension openssl.
 *
 * @internal
 */
final class SocketTransport implements Transport
{
    private const PIECE = 1 << 14;
    private const LONGEST_HEAD = 1 << 16;

    public function __construct(private ?string $roots)
    {
    }

    public function send(Call $call, Body $body): ?array
    {
        $socket = $this->opened($call);
        if ($socket === null) {
            return null;
        }
        try {
            $lines = ["{$call->method} {$call->target} HTTP/1.1", ...$call->headers];
            if ($call->content !== null) {
                $lines[] = 'Content-Length: ' . strlen($call->content);
            }
            $sent = self::write(
                $socket,
                implode("\r\n", $lines) . "\r\n\r\n" . $call->content,
                $call,
            );

            return $sent ? self::answer($socket, $call, $body) : null;
        } finally {
            fclose($socket);
        }
    }

    /** @return resource|null */
    private function opened(Call $call)
    {
        $parts = (array) parse_url($call->base);
        $tls = $parts['scheme'] === 'https';
        $port = $parts['port'] ?? ($tls ? 443 : 80);
        $context = stream_context_create(['ssl' => [
            'verify_peer' => true, 'verify_peer_name' => true,
            'peer_name' => trim($parts['host'], '[]'),
        ] + ($this->roots === null ? [] : ['cafile' => $this->roots])]);
        $socket = @stream_socket_client(
            ($tls ? 'tls' : 'tcp') . "://{$parts['host']}:$port",
            $code,
            $message,
            $call->left() / 1_000_000,
            STREAM_CLIENT_CONNECT,
            $context,
        );
        if ($socket === false) {
            return null;
        }
        stream_set_blocking($socket, false);

        return $socket;
    }

    /** @param resource $socket */
    private static function write(
        $socket,
        #[SensitiveParameter] string $octets,
        Call $call,
    ): bool {
        while ($octets !== '') {
            $count = @fwrite($socket, $octets);
            if ($count === false || ($count === 0 && !self::wait($socket, true, $call))) {
                return false;
            }
            $octets = substr($octets, $count);
        }

        return true;
    }

    /**
     * Returns the next received bytes; '' at the end, null after the time limit.
     *
     * @param resource $socket
     */
    private static function read($socket, Call $call): ?string
    {
        while (true) {
            $piece = @fread($socket, self::PIECE);
            if ($piece === false || ($piece === '' && feof($socket))) {
                return '';
            }
            if ($call->left() === 0) {
                return null;
            }
            if ($piece !== '') {
                return $piece;
            }
            self::wait($socket, false, $call);
        }
    }

    /** @param resource $socket */
    private static function wait($socket, bool $toWrite, Call $call): bool
    {
        [$read, $write, $except] = [$toWrite ? [] : [$socket], $toWrite ? [$socket] : [], []];
        $left = $call->left();

        return $left > 0 && @stream_select(
            $read,
            $write,
            $except,
            intdiv($left, 1_000_000),
            $left % 1_000_000,
        ) > 0;
    }

    /**
     * @param resource $socket
     *
     * @return array{int, array<string, string>}|null
     */
    private static function answer($socket, Call $call, Body $body): ?array
    {
        $text = '';
        do {
            while (($end = strpos($text, "\r\n\r\n")) === false) {
                $piece = self::read($socket, $call);
                if ($piece === null || $piece === '' || strlen($text) > self::LONGEST_HEAD) {
                    return null;
                }
                $text .= $piece;
            }
            $head = Call::head(substr($text, 0, $end));
            $text = substr($text, $end + 4);
        } while ($head !== null && $head[0] < 200); // an interim response

        return $head !== null && self::body($socket, $call, $body, $head, $text) ? $head : null;
    }

    /**
     * Whether the whole body was received, or as much as is wanted.
     *
     * @param resource $socket
     * @param array{int, array<string, string>} $head
     */
    private static function body(
        $socket,
        Call $call,
        Body $body,
        array $head,
        #[SensitiveParameter] string $piece,
    ): bool {
        [$status, $headers] = $head;
        if (!$body->coded($headers['content-encoding'] ?? null)) {
            return false;
        }
        $chunks = strtolower($headers['transfer-encoding'] ?? '') === 'chunked' ? new Chunks() : null;
        $left = $chunks === null && ctype_digit($headers['content-length'] ?? '')
            ? (int) $headers['content-length'] : null;
        if ($status === 204 || $status === 304) {
            $left = 0;
        }
        while (true) {
            $plain = $chunks === null ? substr($piece, 0, $left) : $chunks->add($piece);
            if ($plain !== '' && !$body->add($plain)) {
                return true;
            }
            $left = $left === null ? null : $left - strlen($plain);
            if ($left === 0 || $chunks?->isDone()) {
                return true;
            }
            $piece = $chunks?->isBroken() ? null : self::read($socket, $call);
            if ($piece === null || $piece === '') {
                return $piece === '' && $left === null && $chunks === null;
            }
        }
    }
}
