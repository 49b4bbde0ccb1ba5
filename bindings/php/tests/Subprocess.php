<?php

declare(strict_types=1);

namespace Assay\Tests;

/** A program that a test has run, with its output. */
final class Subprocess
{
    private function __construct(
        public readonly int $code,
        public readonly string $out,
        public readonly string $error,
    ) {
    }

    /**
     * @param list<string> $command
     * @param array<string, string>|null $environment null for the test's own
     */
    public static function run(
        array $command,
        ?array $environment = null,
        ?string $folder = null,
        string $input = '',
    ): self {
        $error = tmpfile();
        $out = tmpfile();
        $in = tmpfile();
        fwrite($in, $input);
        rewind($in);
        $process = proc_open($command, [$in, $out, $error], $pipes, $folder, $environment);
        if ($process === false) {
            throw new \RuntimeException("cannot run $command[0]");
        }
        $code = proc_close($process);

        return new self($code, self::all($out), self::all($error));
    }

    /**
     * Runs this PHP with those settings of this process that determine how the library is loaded.
     */
    public static function php(
        array $arguments,
        ?array $environment = null,
        ?string $folder = null,
        string $input = '',
    ): self {
        $command = [...self::phpCommand(), ...$arguments];

        return self::run($command, $environment, $folder, $input);
    }

    /** @return list<string> */
    public static function phpCommand(): array
    {
        $extension = getenv('ASSAY_EXTENSION');

        return $extension ? [PHP_BINARY, '-d', "extension=$extension"] : [PHP_BINARY];
    }

    /** @param resource $file */
    private static function all($file): string
    {
        rewind($file);

        return (string) stream_get_contents($file);
    }
}
