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
 * Sends the requests of an exchange, with the extension curl where it is there, else over
 * PHP's own sockets: certificates are verified, redirects are not followed, no cookie is kept,
 * no proxy is used, no more is read than a request allows, and its time-out is that of the
 * whole answer.
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

    /** @var array<string, string> */
    private array $hosts = [];
    private Transport $transport;
    private ?\Closure $log;

    /**
     * @param array<string, string> $hosts only for tests: where to find a host instead,
     *     ['buy.itunes.apple.com' => 'http://127.0.0.1:8080']. Loopback addresses only
     * @param callable(string): mixed|null $log takes a line for each request, such as
     *     error_log(...) does: method, host, path, status and time, nothing else
     * @param bool|null $curl whether to send with the extension curl; null: where it is there
     * @param string|null $roots PEM file with roots to trust, such as play-ca.pem; null: those of the
     *     system
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
     * The answer to one request; status 0 if none came.
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

    /** One line in the log (EXC-22). */
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

    public function __debugInfo(): array
    {
        return ['hosts' => $this->hosts, 'transport' => $this->transport::class];
    }
}
