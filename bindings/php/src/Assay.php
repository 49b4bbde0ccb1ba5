<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Header;
use Assay\Internal\Loader;

/** The loaded library: its version, its build, and how it was found. */
final class Assay
{
    /** The version of this binding; `libraryVersion` is that of the loaded library. */
    public const VERSION = Header::VERSION;

    public static function libraryVersion(): string
    {
        return Loader::library()->version();
    }

    /** Returns major * 10000 + minor * 100 + patch. */
    public static function libraryVersionNumber(): int
    {
        return Loader::library()->versionNumber();
    }

    /**
     * Returns the name under which the library was loaded: a path, or a name for the system's
     * loader.
     */
    public static function libraryPath(): string
    {
        return Loader::library()->path();
    }

    /** Returns "extension" or "ffi". */
    public static function loadedBy(): string
    {
        return Loader::library()->way();
    }

    /** @return array<string, mixed> commit, compiler, libcrypto, features */
    public static function buildInfo(): array
    {
        return json_decode(Loader::library()->buildInfo(), true, 64, JSON_THROW_ON_ERROR);
    }

    /** Returns the name of a status by its number: "ok" for 0. */
    public static function statusName(int $code): string
    {
        return Loader::library()->statusName($code);
    }
}
