<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Assay;
use Assay\Exception\LoadError;
use Assay\Internal\Header;
use Assay\Internal\Loader;
use PHPUnit\Framework\TestCase;

/** Tests of which library is loaded, and of the error if none fits. */
final class LoadingTest extends TestCase
{
    use Refusals;

    private const PRINT = 'require "autoload.php"; try { '
        . 'echo Assay\Assay::loadedBy(), " ", Assay\Assay::libraryPath(); } '
        . 'catch (Assay\Exception\LoadError $error) { echo $error->getMessage(); }';

    /**
     * A named library that does not exist: the system, which may have one, is not searched then.
     */
    private const NOWHERE = ['ASSAY_LIBRARY' => '/nowhere/libassay.so.0'];

    private string $folder;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/assay-loading-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $package = dirname(__DIR__);
        $done = Subprocess::run(['cp', '-r', "$package/src", "$package/autoload.php",
            "$package/assay.ffi.h", $this->folder]);
        $this->assertSame(0, $done->code, $done->error);
    }

    protected function tearDown(): void
    {
        Subprocess::run(['rm', '-rf', $this->folder]);
    }

    public function testTheExtensionComesFirst(): void
    {
        $extension = getenv('ASSAY_EXTENSION');
        if ($extension) {
            $this->assertSame('extension', Assay::loadedBy());
            $this->assertSame('libassay.so.0', basename(Assay::libraryPath()));
        } else {
            $this->assertSame('ffi', Assay::loadedBy());
            $this->assertSame(getenv('ASSAY_LIBRARY'), Assay::libraryPath());
        }
    }

    public function testInsideThePackage(): void
    {
        copy($this->real(), "$this->folder/libassay.so.0");
        $wanted = "ffi $this->folder/libassay.so.0";
        $this->assertSame($wanted, $this->said());
        $this->assertSame($wanted, $this->said(self::NOWHERE));
    }

    /** Asserts that a disabled function that is needed is a LoadError, as on shared hosts. */
    public function testFunctionsThatAreDisabled(): void
    {
        $said = $this->said(
            ['ASSAY_LIBRARY' => $this->real()],
            ['-d', 'disable_functions=getenv,putenv'],
        );
        if (!str_starts_with($said, 'ffi ')) {             // the system has a library of its own
            $this->assertStringContainsString('no usable libassay.so.0 (ASSAY_LIBRARY', $said);
            $this->assertStringContainsString('getenv is in disable_functions). Tried:', $said);
        }
        $said = $this->said([], ['-d', 'disable_functions=extension_loaded']);
        $this->assertStringContainsString("PHP's function extension_loaded is needed", $said);
        copy($this->real(), "$this->folder/libassay.so.0");
        $this->assertSame(
            "ffi $this->folder/libassay.so.0",
            $this->said([], ['-d', 'disable_functions=getenv']),
        );
    }

    public function testNamedByTheVariable(): void
    {
        $said = $this->said(['ASSAY_LIBRARY' => $this->real()]);
        $this->assertSame('ffi ' . $this->real(), $said);
    }

    public function testFoundByTheLoader(): void
    {
        mkdir("$this->folder/lib");
        copy($this->real(), "$this->folder/lib/libassay.so.0");
        $found = ['LD_LIBRARY_PATH' => "$this->folder/lib"];
        $this->assertSame('ffi libassay.so.0', $this->said($found));
        $said = $this->said($found + self::NOWHERE);
        $wanted = '/nowhere/libassay.so.0, named by ASSAY_LIBRARY: no such file';
        $this->assertStringContainsString($wanted, $said);
    }

    /** The package of a release has one library for each system. */
    public function testTheOneOfThisSystemInsideThePackage(): void
    {
        mkdir("$this->folder/lib/another-system", 0777, true);
        file_put_contents("$this->folder/lib/another-system/libassay.so.0", 'of another machine');
        $this->assertStringContainsString('/lib/another-system/libassay.so.0, inside the package: ',
            $this->said(self::NOWHERE));
        mkdir("$this->folder/lib/this-system");
        copy($this->real(), "$this->folder/lib/this-system/libassay.so.0");
        $this->assertSame("ffi $this->folder/lib/this-system/libassay.so.0",
            $this->said(self::NOWHERE));
    }

    public function testPreloadedByAnIniLine(): void
    {
        mkdir("$this->folder/lib");
        copy($this->real(), "$this->folder/lib/libassay.so.0");
        $found = ['LD_LIBRARY_PATH' => "$this->folder/lib"];
        $said = $this->said($found, ['-d', "ffi.preload=$this->folder/assay.ffi.h"]);
        $this->assertSame('ffi scope ASSAY', $said);
    }

    public function testEverythingTriedIsListed(): void
    {
        $said = $this->said(self::NOWHERE);
        foreach (
            [
                'scope ASSAY, loaded by ffi.preload: ',
                "$this->folder/libassay.so.0, inside the package: no such file",
                '/nowhere/libassay.so.0, named by ASSAY_LIBRARY: no such file',
                'set ASSAY_LIBRARY',
            ] as $part
        ) {
            $this->assertStringContainsString($part, $said);
        }
        $this->assertSame(
            ["by the system's loader (ASSAY_LIBRARY is not set)", 'libassay.so.0'],
            [...Loader::candidates($this->folder, null)][2],
        );
    }

    public function testNoLibraryAndAnotherLibrary(): void
    {
        file_put_contents("$this->folder/libassay.so.0", 'text');
        $said = $this->said(self::NOWHERE);
        $this->assertStringContainsString('inside the package: Failed loading', $said);
        unlink("$this->folder/libassay.so.0");
        $said = $this->said(['ASSAY_LIBRARY' => 'libc.so.6']);
        $this->assertMatchesRegularExpression('/libc\.so\.6.*assay_version_number/', $said);
    }

    public function testWithoutFfiAndWithFfiSwitchedOff(): void
    {
        $done = Subprocess::run([PHP_BINARY, '-n', '-r', self::PRINT], [], $this->folder);
        $this->assertStringContainsString('extension=assay.so', $done->out);
        $this->assertStringContainsString('extension=ffi.so', $done->out);
        $said = $this->said(['ASSAY_LIBRARY' => $this->real()], ['-d', 'ffi.enable=0']);
        $this->assertStringContainsString('ffi.enable="0"', $said);
        $this->assertStringContainsString("opcache.preload=$this->folder/preload.php", $said);
    }

    public function testOlderOrOfAnotherAbi(): void
    {
        $library = Loader::library();
        $this->assertSame(
            $library,
            Loader::fitting($library, Header::VERSION_NUMBER, Header::ABI),
        );
        foreach (
            [
                [10 ** 8, Header::ABI, '/it is libassay .* or later is needed/'],
                [0, 77, '/it has ABI 0, but ABI 77 is needed/'],
            ] as [$version, $abi, $wanted]
        ) {
            $error = $this->thrown(LoadError::class, fn () =>
                Loader::fitting($library, $version, $abi));
            $this->assertMatchesRegularExpression($wanted, $error->getMessage());
        }
    }

    public function testVersions(): void
    {
        $this->assertSame(Header::VERSION, Assay::VERSION);
        $this->assertMatchesRegularExpression('/^\d+\.\d+\.\d+$/', Assay::libraryVersion());
        $this->assertGreaterThanOrEqual(Header::VERSION_NUMBER, Assay::libraryVersionNumber());
        $this->assertSame(Header::ABI, Assay::buildInfo()['abi']);
        $this->assertSame('ok', Assay::statusName(0));
        $composer = json_decode((string) file_get_contents(__DIR__ . '/../composer.json'), true);
        $this->assertSame(Header::VERSION, $composer['version']);
    }

    private function real(): string
    {
        return (string) getenv('ASSAY_LIBRARY');
    }

    /**
     * Returns the output of a PHP without the extension that loads the copied package.
     *
     * @param array<string, string> $environment
     * @param list<string> $options
     */
    private function said(array $environment = [], array $options = []): string
    {
        $done = Subprocess::run(
            [PHP_BINARY, ...$options, '-r', self::PRINT],
            $environment + ['PATH' => (string) getenv('PATH')],
            $this->folder,
        );
        $this->assertSame(0, $done->code, $done->error);

        return $done->out;
    }
}
