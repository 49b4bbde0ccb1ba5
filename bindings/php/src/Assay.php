<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Header;
use Assay\Internal\Loader;

/** The loaded library: how it was reached, which one it is, how it was built. */
final class Assay
{
    /** The version of this binding; `libraryVersion` is that of the loaded library. */
    public const VERSION = Header::VERSION;

    public static function libraryVersion(): string
    {
        return Loader::library()->version();
    }

    /** major * 10000 + minor * 100 + patch. */
    public static function libraryVersionNumber(): int
    {
        return Loader::library()->versionNumber();
    }

    /** The name under which the library was loaded: a path, or what the loader found. */
    public static function libraryPath(): string
    {
        return Loader::library()->path();
    }

    /** "extension" or "ffi". */
    public static function loadedBy(): string
    {
        return Loader::library()->way();
    }

    /** @return array<string, mixed> commit, compiler, libcrypto, features */
    public static function buildInfo(): array
    {
        return json_decode(Loader::library()->buildInfo(), true, 64, JSON_THROW_ON_ERROR);
    }

    /** The name of a status by its number: 0 is "ok". */
    public static function statusName(int $code): string
    {
        return Loader::library()->statusName($code);
    }
}
