<?php

declare(strict_types=1);

namespace Shop;

/** One request, as far as the shop looks at it. */
final class Request
{
    /**
     * @param array<string, string> $query
     * @param \Closure(int): string $body gives at most that many bytes of it
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query,
        public readonly ?string $authorization,
        private \Closure $body,
    ) {
    }

    /** The one that PHP was started for. */
    public static function received(): self
    {
        return new self(
            $_SERVER['REQUEST_METHOD'],
            (string) strtok($_SERVER['REQUEST_URI'], '?'),
            array_filter($_GET, is_string(...)),
            $_SERVER['HTTP_AUTHORIZATION'] ?? null,
            static fn (int $most): string
                => (string) file_get_contents('php://input', false, null, 0, $most),
        );
    }

    /**
     * A text in the body, which must be a JSON object (BCK-19).
     *
     * @throws Refused 400, also where the member is missing, empty, or stands there twice
     */
    public function text(string $member, int $limit, string $refusal): string
    {
        $body = ($this->body)($limit + 1);
        $found = strlen($body) > $limit ? null : json_decode($body, false, 32);
        $text = is_object($found) && !self::repeatsAName($body) ? $found->{$member} ?? null : null;

        return is_string($text) && $text !== '' ? $text : throw new Refused(400, $refusal);
    }

    /** @return array<string, string> the fields of a form */
    public function form(int $limit): array
    {
        parse_str(($this->body)($limit), $fields);

        return array_filter($fields, is_string(...));
    }

    /** Whether an object in valid JSON names a member twice: PHP's reader takes the last one. */
    private static function repeatsAName(string $json): bool
    {
        preg_match_all('/"(?:[^"\\\\]++|\\\\.)*+"(\s*+:)?|[{}]/s', $json, $found, PREG_SET_ORDER);
        $open = [];
        foreach ($found as $token) {
            if ($token[0] === '{') {
                $open[] = [];
            } elseif ($token[0] === '}') {
                array_pop($open);
            } elseif (isset($token[1])) {
                $name = json_decode(rtrim(substr($token[0], 0, -1)));
                $depth = array_key_last($open);
                if (isset($open[$depth]["=$name"])) {
                    return true;
                }
                $open[$depth]["=$name"] = true;
            }
        }

        return preg_last_error() !== PREG_NO_ERROR;
    }
}
