<?php

declare(strict_types=1);

namespace Assay\Internal;

/**
 * Reads local files.
 *
 * @internal
 */
final class File
{
    /**
     * Returns the content of a local file.
     *
     * @throws \RuntimeException with PHP's reason if it cannot be read
     * @throws \ValueError for an empty path, or one with a NUL byte
     */
    public static function read(string $path): string
    {
        if (!stream_is_local($path)) {
            throw new \RuntimeException("$path is not a local file");
        }
        // PHP reports the reason as a warning, and reads a folder as an empty file with a notice.
        $reason = null;
        set_error_handler(static function (int $level, string $message) use (&$reason): bool {
            $reason ??= $message;

            return true;
        });
        try {
            $text = file_get_contents($path);
        } finally {
            restore_error_handler();
        }
        if ($text === false || $reason !== null) {
            throw new \RuntimeException($reason ?? "$path cannot be read");
        }

        return $text;
    }
}
