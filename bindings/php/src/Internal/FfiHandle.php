<?php

declare(strict_types=1);

namespace Assay\Internal;

use FFI;
use FFI\CData;

/**
 * The address of one handle of the library; frees it when nothing refers to it.
 *
 * @internal
 */
final class FfiHandle
{
    private ?FFI $ffi = null;
    private string $name = '';
    private ?CData $pointer = null;

    /** @param string $name what it is a handle of: doc, exchange, keyset, verifier */
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

    /** Null, which the library refuses, once it was freed. */
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
        // One owner for each handle, even from inside the class.
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
