<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Extension as C;
use SensitiveParameter;

/**
 * Calls libassay by the compiled extension.
 *
 * @internal
 */
final class ExtensionLibrary extends Library
{
    /** @var array<string, \Closure> */
    private array $functions = [];

    public function way(): string
    {
        return 'extension';
    }

    public function path(): string
    {
        return C\library_path();
    }

    protected function invoke(string $name, #[SensitiveParameter] array $given = []): int|string
    {
        return $this->function($name)(...$given);
    }

    protected function read(string $name, #[SensitiveParameter] array $given): ?string
    {
        return $this->function($name)(...$given);
    }

    protected function answer(
        string $name,
        #[SensitiveParameter] array $given,
        ?object &$doc,
        string $handle = '',
        ?object &$out = null,
    ): int {
        return $handle === '' ? $this->function($name)(...$given, doc: $doc)
            : $this->function($name)(...$given, out: $out, doc: $doc);
    }

    /** Returns the extension's function for a function of the header. */
    private function function(string $name): \Closure
    {
        return $this->functions[$name] ??= ('Assay\Extension\\' . substr($name, 6))(...);
    }
}
