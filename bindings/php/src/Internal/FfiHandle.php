<?php

declare(strict_types=1);

namespace Assay\Internal;

use FFI;
use FFI\CData;

/**
 * Owns one handle of the library, and frees it when no reference is left.
 *
 * @internal
 */
final class FfiHandle
{
    private ?FFI $ffi = null;
    private string $name = '';
    private ?CData $pointer = null;

    /** @param string $name the type of the handle: doc, exchange, keyset, verifier */
    public function __construct(FFI $ffi, string $name, CData $pointer)
    {
        if ($this->ffi !== null) {
            throw new \LogicException('a handle is made once');
        }
        $this->ffi = $ffi;
        $this->name = $name;
        $this->pointer = $pointer;
    }

    public function isDocument(): bool
    {
        return $this->name === 'doc';
    }

    /** Returns the address; null, which the library refuses, once the handle was freed. */
    public function pointer(): ?CData
    {
        return $this->pointer;
    }

    public function __destruct()
    {
        $pointer = $this->pointer;
        $this->pointer = null;
        if ($pointer !== null) {
            $this->ffi?->{"assay_{$this->name}_free"}($pointer);
        }
    }

    private function __clone()
    {
        // A handle has one owner, which a clone inside the class must not change.
        $this->pointer = null;
    }

    public function __serialize(): array
    {
        throw new \LogicException('a handle lives in one process');
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException('a handle lives in one process');
    }
}
