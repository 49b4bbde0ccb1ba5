<?php

declare(strict_types=1);

namespace Shop;

/** The parts of an HTTP request that the shop uses. */
final class Request
{
    private const DEPTH = 32;
    /** A string, with the colon if it is a member name; a bracket; or the text between them. */
    private const TOKEN = '/"(?:[^"\\\\]++|\\\\.)*+"(\s*+:)?|[][{}]|[^][{}"]++/sA';
    private const TOKENS = 1000;

    /**
     * @param array<string, string> $query
     * @param int $length the client's Content-Length; 0 if it sent none
     * @param \Closure(int): string $body returns at most that many bytes of the body
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query,
        public readonly ?string $authorization,
        private int $length,
        private \Closure $body,
    ) {
    }

    /** Returns the request that PHP was started for. */
    public static function received(): self
    {
        return new self(
            $_SERVER['REQUEST_METHOD'],
            (string) strtok($_SERVER['REQUEST_URI'], '?'),
            array_filter($_GET, is_string(...)),
            $_SERVER['HTTP_AUTHORIZATION'] ?? null,
            (int) ($_SERVER['CONTENT_LENGTH'] ?? 0),
            static fn (int $most): string
                => (string) file_get_contents('php://input', false, null, 0, $most),
        );
    }

    /**
     * Returns a text in the body, which must be a JSON object (BCK-19).
     *
     * @throws Refused 400, also if the member is missing, empty, or occurs twice; 413
     */
    public function text(string $member, int $limit, string $refusal): string
    {
        $body = $this->most($limit);
        $found = self::isPlain($body) ? json_decode($body, false, self::DEPTH) : null;
        $text = is_object($found) ? $found->{$member} ?? null : null;

        return is_string($text) && $text !== '' ? $text : throw new Refused(400, $refusal);
    }

    /**
     * @return array<string, string> the fields of a form
     *
     * @throws Refused 413
     */
    public function form(int $limit): array
    {
        parse_str($this->most($limit), $fields);

        return array_filter($fields, is_string(...));
    }

    /** @throws Refused 413 for a longer body, which is not stored */
    private function most(int $limit): string
    {
        $body = $this->length > $limit ? null : ($this->body)($limit + 1);

        return $body !== null && strlen($body) <= $limit
            ? $body : throw new Refused(413, 'Request too large');
    }

    /**
     * Whether a text, if it is JSON, names no member of an object twice (PHP's decoder takes the
     * last one) and has few values: a tree of a million values would not fit into memory.
     */
    private static function isPlain(string $json): bool
    {
        $open = [];
        for ($at = $seen = 0; preg_match(self::TOKEN, $json, $found, 0, $at) === 1; $at += strlen($found[0])) {
            $seen += 1 + ($found[0][0] === '"' ? 0 : substr_count($found[0], ','));
            if ($seen > self::TOKENS) {
                return false;
            }
            if ($found[0][-1] === ':') {
                $name = '=' . json_decode(substr($found[0], 0, -strlen($found[1])));
                $depth = array_key_last($open);
                if (isset($open[$depth][$name])) {
                    return false;
                }
                $open[$depth][$name] = true;
            } elseif ($found[0] === '{') {
                $open[] = [];
            } elseif ($found[0] === '}') {
                array_pop($open);
            }
        }

        return preg_last_error() === PREG_NO_ERROR && $at === strlen($json);
    }
}
