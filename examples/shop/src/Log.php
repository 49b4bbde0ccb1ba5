<?php

declare(strict_types=1);

namespace Shop;

/** Lines of the log. Text from outside is escaped, so that it stays on its line. */
final class Log
{
    private const LONGEST = 400;

    /** @param string $level "INFO", "WARN" or "ERROR" */
    public static function line(string $level, string $text): void
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
        $escaped = (string) json_encode(mb_strcut($text, 0, self::LONGEST), $flags);
        error_log("[$level] " . substr($escaped, 1, -1));
    }

    /** Logs class and location of a fault, but not its message, which may quote values. */
    public static function fault(\Throwable $fault): void
    {
        // Messages about the settings name a member and its form, and are for the operator.
        self::line('ERROR', $fault instanceof \DomainException ? $fault->getMessage()
            : $fault::class . " in {$fault->getFile()}:{$fault->getLine()}");
    }
}
