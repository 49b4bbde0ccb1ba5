<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Psr\Log\LoggerInterface;

/**
 * Lines of the log: of PHP's own, or of a logger of the host (PSR-3). Text from outside is escaped,
 * so that it stays on its line.
 */
final class Log
{
    private const LONGEST = 400;
    private const LEVELS = ['INFO' => 'info', 'WARN' => 'warning', 'ERROR' => 'error'];

    private static ?LoggerInterface $logger = null;

    /** Sets where the lines of this process go; null for PHP's own log. */
    public static function to(?LoggerInterface $logger): void
    {
        self::$logger = $logger;
    }

    /** @param string $level "INFO", "WARN" or "ERROR" */
    public static function line(string $level, string $text): void
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
        $escaped = (string) json_encode(mb_strcut($text, 0, self::LONGEST), $flags);
        $line = substr($escaped, 1, -1);
        if (self::$logger === null) {
            error_log("[$level] $line");
        } else {
            // Braces would be placeholders of PSR-3; there is no context to fill them.
            self::$logger->log(self::LEVELS[$level] ?? 'error', strtr($line, ['{' => '(', '}' => ')']));
        }
    }

    /**
     * Logs class and location of a fault, but not its message, which may quote values. Those of the
     * library and of the settings quote none.
     */
    public static function fault(\Throwable $fault): void
    {
        self::line('ERROR', $fault instanceof \DomainException || $fault instanceof AssayException ? $fault->getMessage()
            : $fault::class . " in {$fault->getFile()}:{$fault->getLine()}");
    }
}
