<?php

declare(strict_types=1);

namespace Shop;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;

/**
 * Sends the requests of an exchange with the HTTP client of the host (PSR-18). The client must
 * verify certificates, follow no redirect, and give up after Apple::MAX_WAIT_MS: PSR-18 has no
 * time-out of its own.
 */
final class PsrSender
{
    /** A longer body is always passed as base64 (EXC-20). */
    private const TEXT = 1 << 20;
    /** The limit of a body, whatever the request allows: a reply is at most 8 MiB (EXC-5). */
    private const ROOM = 6 << 20;
    private const CHUNK = 1 << 16;

    public function __construct(
        private ClientInterface $client,
        private RequestFactoryInterface $requests,
        private StreamFactoryInterface $streams,
    ) {
    }

    /**
     * Returns the response to one request; status 0 if none was received.
     *
     * @param array<string, mixed> $request an HTTP step (docs/exchanges.md)
     *
     * @return array<string, mixed>
     */
    public function __invoke(#[\SensitiveParameter] array $request): array
    {
        $sent = $this->requests->createRequest($request['method'], $request['url']);
        foreach ($request['headers'] as [$name, $value]) {
            $sent = $sent->withHeader($name, $value);
        }
        $body = $request['body'];
        $content = isset($body['base64']) ? base64_decode($body['base64'], true) : $body['text'] ?? null;
        $sent = is_string($content) ? $sent->withBody($this->streams->createStream($content)) : $sent;
        try {
            $response = $this->client->sendRequest($sent);
            $octets = self::octets($response->getBody(), min($request['maxResponseBytes'], self::ROOM));
        } catch (ClientExceptionInterface | \RuntimeException) {
            // The body of a response that broke off is no response.
            return ['id' => $request['id'], 'status' => 0, 'body' => null];
        }
        $headers = [];
        foreach ($request['responseHeaders'] as $name) {
            if ($response->hasHeader($name)) {
                $headers[] = [$name, $response->getHeader($name)[0]];
            }
        }

        return ['id' => $request['id'], 'status' => $response->getStatusCode(), 'headers' => $headers,
            'body' => $octets === null ? null : self::given($octets), 'truncated' => $octets === null];
    }

    /** Returns a whole body; null if it is longer than the limit. */
    private static function octets(StreamInterface $stream, int $most): ?string
    {
        $octets = '';
        while (strlen($octets) <= $most && !$stream->eof()) {
            $octets .= $stream->read(self::CHUNK);
        }

        return strlen($octets) <= $most ? $octets : null;
    }

    /** @return array<string, string> */
    private static function given(#[\SensitiveParameter] string $octets): array
    {
        $isText = strlen($octets) <= self::TEXT && preg_match('//u', $octets) === 1
            && !str_contains($octets, "\0");

        return $isText ? ['text' => $octets] : ['base64' => base64_encode($octets)];
    }
}
