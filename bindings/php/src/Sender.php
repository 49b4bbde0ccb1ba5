<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Http\Body;
use Assay\Internal\Http\Call;
use Assay\Internal\Http\CurlTransport;
use Assay\Internal\Http\SocketTransport;
use Assay\Internal\Http\Transport;
use SensitiveParameter;

/**
 * Sends the requests of an exchange, with the extension curl if PHP has it, else over PHP's own
 * sockets. Certificates are verified, redirects are not followed, no cookie is kept, no proxy is
 * used, no more is read than a request allows, and the time-out is that of the whole response.
 *
 *     $document = $verifier->exchange($request)->run(new Sender());
 *
 * To use another client, pass a callable instead: it takes a request and returns a response, both
 * arrays that docs/exchanges.md describes.
 */
final class Sender
{
    /** A reply is JSON of at most 8 MiB (EXC-5): a body of this size fits into it as base64. */
    private const ROOM = ((8 << 20) - 4096) / 4 * 3;
    /** A longer body is always passed as base64 (EXC-20). */
    private const TEXT = 1 << 20;

    /** @var array<string, string> */
    private array $hosts = [];
    private Transport $transport;
    private ?\Closure $log;

    /**
     * @param array<string, string> $hosts only for tests: replaces a host by a loopback address,
     *     ['buy.itunes.apple.com' => 'http://127.0.0.1:8080']
     * @param callable(string): mixed|null $log is called with one line for each request, as
     *     error_log(...) would be: method, host, path, status and duration, nothing else
     * @param bool|null $curl whether to send with the extension curl; null if PHP has it
     * @param string|null $roots PEM file with trusted roots, such as play-ca.pem; null for those of
     *     the system
     */
    public function __construct(
        array $hosts = [],
        ?callable $log = null,
        ?bool $curl = null,
        ?string $roots = null,
    ) {
        foreach ($hosts as $name => $url) {
            $this->hosts[$name] = self::loopback($url);
        }
        $this->log = $log === null ? null : $log(...);
        $this->transport = $curl ?? extension_loaded('curl')
            ? new CurlTransport($roots) : new SocketTransport($roots);
    }

    /**
     * Returns the response to one request; status 0 if none was received.
     *
     * @param array<string, mixed> $request
     *
     * @return array<string, mixed>
     */
    public function __invoke(#[SensitiveParameter] array $request): array
    {
        $begin = hrtime(true);
        $answer = $this->answer($request);
        $this->note($request, $answer['status'], intdiv(hrtime(true) - $begin, 1_000_000));

        return $answer;
    }

    /** @return array<string, mixed> */
    private function answer(#[SensitiveParameter] array $request): array
    {
        $body = new Body((int) min($request['maxResponseBytes'], self::ROOM));
        $found = $this->transport->send($this->call($request), $body);
        if ($found === null || !$body->isCut() && !$body->isWhole()) {
            return ['id' => $request['id'], 'status' => 0, 'body' => null];
        }
        [$status, $headers] = $found;
        $wanted = [];
        foreach ($request['responseHeaders'] as $name) {
            if (isset($headers[$name])) {
                $wanted[] = [$name, $headers[$name]];
            }
        }

        return [
            'id' => $request['id'],
            'status' => $status,
            'headers' => $wanted,
            'body' => $body->isCut() ? null : self::given($body->octets()),
            'truncated' => $body->isCut(),
        ];
    }

    private function call(#[SensitiveParameter] array $request): Call
    {
        $parts = (array) parse_url($request['url']);
        $host = $parts['host'] . (isset($parts['port']) ? ":{$parts['port']}" : '');
        $target = ($parts['path'] ?? '/') . (isset($parts['query']) ? "?{$parts['query']}" : '');

        return new Call(
            $this->hosts[$parts['host']] ?? "{$parts['scheme']}://$host",
            $target,
            $host,
            $request,
        );
    }

    /** Logs the line of one request (EXC-22). */
    private function note(#[SensitiveParameter] array $request, int $status, int $took): void
    {
        if ($this->log !== null) {
            $parts = (array) parse_url($request['url']);
            $isHidden = in_array('url', $request['sensitivePaths'] ?? [], true);
            $path = $isHidden ? '' : $parts['path'] ?? '/';
            ($this->log)("{$request['method']} {$parts['host']}$path $status $took ms");
        }
    }

    /** @return array<string, string> */
    private static function given(#[SensitiveParameter] string $body): array
    {
        // A text in a reply must not contain a NUL.
        $isText = strlen($body) <= self::TEXT && preg_match('//u', $body) === 1
            && !str_contains($body, "\0");

        return $isText ? ['text' => $body] : ['base64' => base64_encode($body)];
    }

    /** Returns a loopback address without a trailing slash. */
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

    public function __debugInfo(): array
    {
        return ['hosts' => $this->hosts, 'transport' => $this->transport::class];
    }
}
