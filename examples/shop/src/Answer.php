<?php

declare(strict_types=1);

namespace Shop;

/** One HTTP response; `after` runs when the response has been sent. */
final class Answer
{
    /** The default time for Retry-After, in milliseconds. */
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

    /** Returns a 503 for an unavailable database or Apple: the client retries later (BCK-20). */
    public static function later(int $afterMs = self::RETRY_MS): self
    {
        return self::error(503, 'Try again later', ['Retry-After' => self::seconds($afterMs)]);
    }

    /** Returns the value of Retry-After in seconds, at least 1. */
    public static function seconds(int $ms): string
    {
        return (string) max(1, intdiv($ms + 999, 1000));
    }

    /** Sets what runs after the response was sent, and may be lost with the process. */
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
