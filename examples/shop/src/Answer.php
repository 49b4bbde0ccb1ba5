<?php

declare(strict_types=1);

namespace Shop;

/** One answer; `after` is done when it has gone out. */
final class Answer
{
    /** How long a client waits that is told nothing better. */
    public const RETRY_MS = 5000;

    private ?\Closure $after = null;

    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status,
        public readonly string $body = '',
        public readonly array $headers = [],
    ) {
    }

    /**
     * @param array<string, mixed> $members
     * @param array<string, string> $headers
     */
    public static function json(int $status, array $members, array $headers = []): self
    {
        $text = json_encode($members, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);

        return new self($status, $text, ['Content-Type' => 'application/json'] + $headers);
    }

    /** @param array<string, string> $headers */
    public static function error(int $status, string $text, array $headers = []): self
    {
        return self::json($status, ['error' => $text], $headers);
    }

    /** The store or Apple is away: the same again later (BCK-20). */
    public static function later(int $afterMs = self::RETRY_MS): self
    {
        return self::error(503, 'Try again later', ['Retry-After' => self::seconds($afterMs)]);
    }

    /** The value of Retry-After. */
    public static function seconds(int $ms): string
    {
        return (string) max(1, intdiv($ms + 999, 1000));
    }

    /** What is done once the client has its answer, and may be lost with the process. */
    public function then(\Closure $after): self
    {
        $next = clone $this;
        $next->after = $after;

        return $next;
    }

    public function send(): void
    {
        http_response_code($this->status);
        ini_set('default_mimetype', '');
        header_remove('X-Powered-By');
        foreach ($this->headers + ['Cache-Control' => 'no-store'] as $name => $value) {
            header("$name: $value");
        }
        header('Content-Length: ' . strlen($this->body));
        echo $this->body;
        function_exists('fastcgi_finish_request') ? fastcgi_finish_request() : flush();
        if ($this->after !== null) {
            ($this->after)();
        }
    }
}
