<?php

declare(strict_types=1);

namespace Shop;

/**
 * Files in the temporary folder that the processes of one shop on one machine share, because PHP
 * keeps nothing between requests. No decision about a purchase depends on them.
 */
final class Shared
{
    /**
     * Attempts to lock a file, held for microseconds; a stopped process must not stop the others.
     */
    private const TRIES = 50;
    private const PAUSE_US = 1000;

    private ?string $base = null;

    /** @param string $shop a text that distinguishes this shop from others of the same user */
    public function __construct(private string $shop)
    {
    }

    public function isThere(): bool
    {
        return $this->file('') !== null;
    }

    /**
     * Returns a file, locked until it is closed or the process ends.
     *
     * @return resource|null null if another process has the lock, or there is no folder of our own
     */
    public function locked(string $name, bool $waits = true)
    {
        $file = $this->file($name) === null ? false : @fopen($this->file($name), 'c+');
        if ($file === false) {
            return null;
        }

        for ($tries = $waits ? self::TRIES : 1; $tries > 0; $tries--) {
            if (flock($file, LOCK_EX | LOCK_NB)) {
                return $file;
            }
            $waits && usleep(self::PAUSE_US);
        }

        return null;
    }

    /** Adds one mark to a file that other processes count: see `marks`. */
    public function mark(string $name): void
    {
        $this->file($name) === null || @file_put_contents($this->file($name), '.', FILE_APPEND);
    }

    /** @return array{int, int} the number of marks, and the seconds since the last */
    public function marks(string $name): array
    {
        $file = (string) $this->file($name);
        clearstatcache(true, $file);
        $found = @stat($file);

        return $found === false ? [0, 0] : [$found['size'], time() - $found['mtime']];
    }

    public function clear(string $name): void
    {
        @unlink((string) $this->file($name));
    }

    /** Returns the path of a file; null if another user, who could add links, owns the folder. */
    private function file(string $name): ?string
    {
        if ($this->base === null) {
            $owner = function_exists('posix_geteuid') ? posix_geteuid() : fstat(tmpfile())['uid'];
            $folder = sys_get_temp_dir() . "/assay-shop-$owner";
            $found = @lstat($folder) ?: (@mkdir($folder, 0700) ? lstat($folder) : @lstat($folder));
            $isOurs = $found !== false && $found['uid'] === $owner && ($found['mode'] & 0170077) === 0040000;
            $this->base = $isOurs
                ? "$folder/" . substr(hash('sha256', $this->shop), 0, 16) : '';
            $isOurs || Log::line('ERROR', "$folder is not a folder of this user alone");
        }

        return $this->base === '' ? null : "$this->base-$name";
    }
}
