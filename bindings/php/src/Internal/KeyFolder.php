<?php

declare(strict_types=1);

namespace Assay\Internal;

/**
 * A folder with what is kept of each token issuer, and a lock for each.
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

    /** A reader sees the old text or the new one as a whole. */
    public function write(string $issuer, string $text): void
    {
        file_put_contents($this->path($issuer) . '.new', $text);
        rename($this->path($issuer) . '.new', $this->path($issuer));
    }

    /**
     * What a function returns, which runs in one process at a time.
     *
     * @template T
     *
     * @param callable(): T $work
     * @param bool $waits false: not for another process
     *
     * @return T|null null: another process is at it
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
