<?php

declare(strict_types=1);

namespace Assay\Tests;

/** Evidence signed by a test authority with `assay mint`; ASSAY_CLI names the program. */
final class Minted
{
    public const VARIABLE = 'ASSAY_CLI';

    private static ?self $one = null;
    private int $last = 2_000_000_000_000_000;

    private function __construct(private string $program, private string $folder)
    {
    }

    public static function get(): self
    {
        $program = getenv(self::VARIABLE)
            ?: throw new \LogicException(self::VARIABLE . ' is not set: run `make check-php-ffi`');

        return self::$one ??= new self(
            $program,
            sys_get_temp_dir() . '/assay-minted-' . bin2hex(random_bytes(6)),
        );
    }

    public function __destruct()
    {
        array_map(unlink(...), (array) glob("$this->folder/*"));
        is_dir($this->folder) && rmdir($this->folder);
    }

    /** Returns the folder with keys and roots, for mock Apple. */
    public function folder(): string
    {
        return $this->folder;
    }

    public function mint(string $kind, string ...$arguments): string
    {
        $run = Subprocess::run(
            [$this->program, 'mint', $kind, '--authority', $this->folder, ...$arguments],
        );
        if ($run->code !== 0) {
            throw new \LogicException("assay mint $kind: $run->error");
        }

        return trim($run->out);
    }

    /** Returns the JWS of a new purchase. */
    public function coins(string ...$arguments): string
    {
        $id = (string) ++$this->last;

        return $this->mint(
            'transaction',
            '--type',
            'consumable',
            '--product',
            'com.example.app.coins100',
            '--transaction-id',
            $id,
            '--original-transaction-id',
            $id,
            ...$arguments,
        );
    }

    /**
     * @param array<string, mixed> $more
     *
     * @return array<string, mixed> the authority's configuration, with what a test needs
     */
    public function configuration(array $more = []): array
    {
        if (!is_file("$this->folder/config.json")) {
            $this->mint('transaction');
        }

        return $more + json_decode((string) file_get_contents("$this->folder/config.json"), true);
    }
}
