<?php

declare(strict_types=1);

namespace Assay\Internal;

/**
 * A folder with the stored state of each token issuer, and a lock for each.
 *
 * @internal
 */
final class KeyFolder
{
    public function __construct(private string $folder)
    {
    }

    public function read(string $issuer): ?string
    {
        return is_file($this->path($issuer)) ? file_get_contents($this->path($issuer)) : null;
    }

    /** Replaces the file atomically: a reader finds either the old text or the new one. */
    public function write(string $issuer, string $text): void
    {
        file_put_contents($this->path($issuer) . '.new', $text);
        rename($this->path($issuer) . '.new', $this->path($issuer));
    }

    /**
     * Calls a function in one process at a time, and returns its result.
     *
     * @template T
     *
     * @param callable(): T $work
     * @param bool $waits false to return at once if another process has the lock
     *
     * @return T|null null if another process has the lock
     */
    public function alone(string $issuer, callable $work, bool $waits): mixed
    {
        $lock = @fopen($this->path($issuer) . '.lock', 'c');
        if ($lock === false) {
            throw new \RuntimeException("the folder of key sets cannot be written: $this->folder");
        }
        try {
            return flock($lock, $waits ? LOCK_EX : LOCK_EX | LOCK_NB) ? $work() : null;
        } finally {
            fclose($lock);
        }
    }

    private function path(string $issuer): string
    {
        return $this->folder . '/' . hash('sha256', $issuer);
    }
}
