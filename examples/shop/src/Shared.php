<?php

declare(strict_types=1);

namespace Shop;

/**
 * Files in the temporary folder that the processes of one shop on one machine share, because
 * PHP keeps nothing between requests. Nothing in them is needed to be right about a purchase.
 */
final class Shared
{
    /** A file is held for microseconds; who was stopped while it held one stops nobody else. */
    private const TRIES = 50;
    private const PAUSE_US = 1000;

    private ?string $base = null;

    /** @param string $shop what tells this shop from others of the same user */
    public function __construct(private string $shop)
    {
    }

    public function isThere(): bool
    {
        return $this->file('') !== null;
    }

    /**
     * A file, locked until it is closed or the process ends.
     *
     * @return resource|null null: another process has it, or there is no folder of our own
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

    /** One more of something that the others should know: see `marks`. */
    public function mark(string $name): void
    {
        $this->file($name) === null || @file_put_contents($this->file($name), '.', FILE_APPEND);
    }

    /** @return array{int, int} how many marks there are, and the seconds since the last */
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

    /** Null where the folder is not ours alone: others could put links into it. */
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
