<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/**
 * Evidence that Apple signed, when ../shared/vectors lies beside the repository. Nothing of it
 * is copied here; without the folder the tests skip by name and say so.
 */
abstract class GenuineEvidence extends TestCase
{
    /** The folder of the manifest. */
    abstract protected function area(): string;

    /** @var list<array<string, mixed>> */
    protected array $cases = [];

    protected function setUp(): void
    {
        $manifest = $this->folder() . '/manifest.json';
        if (!is_file($manifest)) {
            $this->markTestSkipped("{$this->folder()} does not exist");
        }
        $text = (string) file_get_contents($manifest);
        $this->cases = json_decode($text, true, 512, JSON_THROW_ON_ERROR);
    }

    protected function folder(): string
    {
        return dirname(__DIR__, 4) . '/shared/vectors/' . $this->area();
    }

    protected function file(string $name): string
    {
        $octets = file_get_contents("{$this->folder()}/$name");
        $this->assertIsString($octets);

        return $octets;
    }

    /**
     * @param list<string> $names
     *
     * @return list<string> base64
     */
    protected function certificates(array $names): array
    {
        return array_map(fn (string $name): string => base64_encode($this->file($name)), $names);
    }

    protected static function family(string $status): string
    {
        return explode('.', $status)[0];
    }
}
