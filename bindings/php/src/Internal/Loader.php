<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Exception\LoadError;
use FFI;

/**
 * Finds libassay and checks that it fits this binding. In this order:
 *
 * 1. the extension `assay`, if PHP has loaded it;
 * 2. the library that `ffi.preload` has loaded (scope ASSAY);
 * 3. `libassay.so.0` inside this package, or the one of its folders `lib/SYSTEM` that this
 *    machine can load, as in the package of a release;
 * 4. the file in the environment variable ASSAY_LIBRARY, if it is set (and getenv is not
 *    disabled); the system is then not searched, so that a wrong path is an error;
 * 5. `libassay.so.0`, found by the system's loader.
 *
 * A library fits if it has every function of the header, its version is not older than the header
 * that this binding was generated from, and its ABI number is equal.
 *
 * @internal
 */
final class Loader
{
    public const VARIABLE = 'ASSAY_LIBRARY';

    private static ?Library $library = null;

    /** @throws LoadError */
    public static function library(): Library
    {
        try {
            return self::$library ??= self::load(
                extension_loaded('assay'),
                extension_loaded('FFI'),
                dirname(__DIR__, 2),
                function_exists('getenv') ? (getenv(self::VARIABLE) ?: null) : null,
            );
        } catch (\Error $error) {
            // PHP reports a function in disable_functions as undefined.
            if (preg_match('/undefined function .*?(\w+)\(\)/', $error->getMessage(), $name)) {
                throw new LoadError(
                    "assay: PHP's function $name[1] is needed to load the library, and is in "
                    . 'disable_functions',
                    0,
                    $error,
                );
            }
            throw $error;
        }
    }

    /** @throws LoadError with everything that was tried and why each attempt failed */
    public static function load(
        bool $extension,
        bool $ffi,
        string $folder,
        ?string $named,
    ): Library {
        if ($extension) {
            return self::fitting(self::extension(), Header::VERSION_NUMBER, Header::ABI);
        }
        if (!$ffi) {
            throw new LoadError(
                'assay: this PHP has neither the extension "assay" nor FFI: add the ini line '
                . '"extension=assay.so" (bindings/php/ext) or "extension=ffi.so"'
            );
        }
        $tried = [];
        foreach (self::candidates($folder, $named) as [$source, $name]) {
            try {
                return self::open($name);
            } catch (LoadError | \FFI\Exception $error) {
                self::refuseRestricted($error);
                $tried[] = "  - $name, $source: {$error->getMessage()}";
            }
        }
        $unread = function_exists('getenv') ? ''
            : ' (' . self::VARIABLE . ' cannot be read: getenv is in disable_functions)';
        throw new LoadError(
            'assay ' . Header::VERSION . ': no usable ' . self::fileName() . "$unread. Tried:\n"
            . implode("\n", $tried) . "\nInstall the library, or set " . self::VARIABLE
            . ' to its path.'
        );
    }

    public static function fileName(): string
    {
        return 'libassay.so.' . Header::ABI;
    }

    /** @return iterable<array{string, string}> the origin, and the name for the loader */
    public static function candidates(string $folder, ?string $named): iterable
    {
        yield ['loaded by ffi.preload', 'scope ASSAY'];
        yield ['inside the package', $folder . '/' . self::fileName()];
        foreach (glob($folder . '/lib/*/' . self::fileName()) ?: [] as $file) {
            yield ['inside the package', $file];
        }
        if ($named !== null) {
            yield ['named by ' . self::VARIABLE, $named];
        } else {
            $why = function_exists('getenv') ? ' (' . self::VARIABLE . ' is not set)' : '';
            yield ["by the system's loader$why", self::fileName()];
        }
    }

    /** Loads one library by FFI and checks it. */
    public static function open(string $name): Library
    {
        if ($name === 'scope ASSAY') {
            $ffi = FFI::scope('ASSAY');
        } else {
            if (str_contains($name, '/') && !file_exists($name)) {
                throw new LoadError('no such file');
            }
            $ffi = FFI::cdef(self::cdef(), $name);
        }

        return self::fitting(
            new FfiLibrary($ffi, $name),
            Header::VERSION_NUMBER,
            Header::ABI,
        );
    }

    /** @throws LoadError if the library is older, or has another ABI */
    public static function fitting(Library $library, int $version, int $abi): Library
    {
        if ($library->versionNumber() < $version) {
            throw new LoadError(
                "it is libassay {$library->version()}, but " . Header::VERSION
                . ' or later is needed'
            );
        }
        $found = json_decode($library->buildInfo(), true)['abi'] ?? 'none';
        if ($found !== $abi) {
            throw new LoadError("it has ABI $found, but ABI $abi is needed");
        }

        return $library;
    }

    private static function extension(): Library
    {
        $version = phpversion('assay');
        if ($version !== Header::VERSION) {
            throw new LoadError(
                "the extension assay is of version $version, this package of "
                . Header::VERSION . ': rebuild bindings/php/ext'
            );
        }

        return new ExtensionLibrary();
    }

    /** Returns the declarations without preprocessor lines, which FFI::cdef does not accept. */
    private static function cdef(): string
    {
        $text = (string) file_get_contents(dirname(__DIR__, 2) . '/assay.ffi.h');

        return (string) preg_replace('/^#.*$/m', '', $text);
    }

    /** Throws if FFI is switched off or needs preloading, which fails for every candidate alike. */
    private static function refuseRestricted(\Throwable $error): void
    {
        if (!str_contains($error->getMessage(), 'ffi.enable')) {
            return;
        }
        throw new LoadError(
            'assay: FFI is not allowed here (SAPI ' . PHP_SAPI . ', ffi.enable="'
            . ini_get('ffi.enable') . '"). With ffi.enable=preload, which is the default, PHP '
            . 'must start with these ini lines: ' . implode('; ', self::missingLines())
            . '. Or set ffi.enable=1, or load the extension with extension=assay.so. '
            . 'See bindings/php/README.md.',
            0,
            $error,
        );
    }

    /** @return list<string> the ini lines that this PHP lacks for preloaded FFI */
    private static function missingLines(): array
    {
        $folder = dirname(__DIR__, 2);
        $preloaded = function_exists('opcache_get_status')
            ? @opcache_get_status(false)['preload_statistics']['classes'] ?? [] : [];
        $lines = [
            'zend_extension=opcache' => !extension_loaded('Zend OPcache'),
            'opcache.enable=1' => !filter_var(ini_get('opcache.enable'), FILTER_VALIDATE_BOOL),
            "ffi.preload=$folder/assay.ffi.h" => !ini_get('ffi.preload'),
            "opcache.preload=$folder/preload.php" => !in_array(self::class, $preloaded, true),
        ];

        $missing = array_keys(array_filter($lines));

        return $missing === [] ? ['ffi.enable=preload'] : $missing;
    }
}
