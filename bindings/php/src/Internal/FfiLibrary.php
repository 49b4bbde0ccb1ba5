<?php

declare(strict_types=1);

namespace Assay\Internal;

use FFI;
use FFI\CData;
use FFI\CType;
use SensitiveParameter;

// Imported functions need no look-up at each call.
use function count;
use function is_array;
use function is_object;
use function is_string;
use function strlen;

/**
 * Calls libassay by FFI. With `ffi.enable=preload` this file must be preloaded.
 *
 * @internal
 */
final class FfiLibrary extends Library
{
    private CType $length;
    private CType $document;

    public function __construct(private FFI $ffi, private string $path)
    {
        $this->length = $ffi->type('size_t[1]');
        $this->document = $ffi->type('assay_doc*[1]');
    }

    public function way(): string
    {
        return 'ffi';
    }

    public function path(): string
    {
        return $this->path;
    }

    protected function invoke(string $name, #[SensitiveParameter] array $given = []): int|string
    {
        return $this->ffi->{$name}(...$this->passed($given));
    }

    protected function read(string $name, #[SensitiveParameter] array $given): ?string
    {
        $passed = $this->passed($given);
        $passed[] = $length = $this->ffi->new($this->length);
        $octets = $this->ffi->{$name}(...$passed);

        return $octets === null ? null : FFI::string($octets, $length[0]);
    }

    protected function answer(
        string $name,
        #[SensitiveParameter] array $given,
        ?object &$doc,
        string $handle = '',
        ?object &$out = null,
    ): int {
        $passed = $this->passed($given);
        if ($handle !== '') {
            $passed[] = $made = $this->ffi->new("assay_{$handle}*[1]");
        }
        $passed[] = $answered = $this->ffi->new($this->document);
        $status = $this->ffi->{$name}(...$passed);
        if ($handle !== '') {
            $out = $made[0] === null ? null : new FfiHandle($this->ffi, $handle, $made[0]);
        }
        $pointer = $answered[0];
        $doc = $pointer === null ? null : new FfiHandle($this->ffi, 'doc', $pointer);

        return $status;
    }

    /**
     * @param list<mixed> $given
     *
     * @return list<mixed> the arguments in C's form: bytes and lists with their length
     */
    private function passed(#[SensitiveParameter] array $given): array
    {
        $passed = [];
        foreach ($given as $value) {
            if (is_string($value) || $value === null) {
                $passed[] = $value;
                $passed[] = strlen($value ?? '');
            } elseif (is_array($value)) {
                $passed[] = $this->pointers($value);
                $passed[] = count($value);
            } else {
                $passed[] = is_object($value) ? $value->pointer() : $value;
            }
        }

        return $passed;
    }

    /** @param list<object> $handles */
    private function pointers(array $handles): ?CData
    {
        if ($handles === []) {
            return null;
        }
        $pointers = $this->ffi->new('assay_doc*[' . count($handles) . ']');
        foreach (array_values($handles) as $index => $handle) {
            if (!$handle instanceof FfiHandle || !$handle->isDocument()) {
                throw new \TypeError('evidence must be documents of this library');
            }
            $pointers[$index] = $handle->pointer();
        }

        return $pointers;
    }
}
