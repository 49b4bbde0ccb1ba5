<?php

declare(strict_types=1);

namespace Assay;

/** Base64 as clients send it: standard or URL-safe, with or without padding. */
final class Base64
{
    /**
     * Returns the decoded bytes.
     *
     * @throws \ValueError if the text is not base64
     */
    public static function decode(string $text): string
    {
        $octets = base64_decode(rtrim(strtr($text, '-_', '+/'), '='), true);
        if ($octets === false || strpbrk($text, " \t\r\n") !== false) {
            throw new \ValueError('the text is no base64');
        }

        return $octets;
    }
}
