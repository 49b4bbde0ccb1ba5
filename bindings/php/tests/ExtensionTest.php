<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/**
 * Asserts that the extension declares what its stub declares.
 *
 * @group extension
 */
final class ExtensionTest extends TestCase
{
    private const STUB = __DIR__ . '/../ext/assay.stub.php';

    public function testFunctionsAreThoseOfTheStub(): void
    {
        $extension = new \ReflectionExtension('assay');
        $functions = array_map($this->declaration(...), $extension->getFunctions());
        preg_match_all(
            '/^function (.*?) \{\}$/ms',
            (string) file_get_contents(self::STUB),
            $declared,
        );
        $wanted = preg_replace(['/\(\n +/', '/,\n +/', '/,\n\)/'], ['(', ', ', ')'], $declared[1]);
        sort($functions);
        sort($wanted);
        $this->assertSame($wanted, $functions);
        $this->assertNotSame([], $functions);
    }

    public function testHandlesAreThoseOfTheStub(): void
    {
        preg_match_all('/^final class (\w+)$/m', (string) file_get_contents(self::STUB), $named);
        $classes = (new \ReflectionExtension('assay'))->getClassNames();
        $wanted = array_map(static fn (string $name) => "Assay\\Extension\\$name", $named[1]);
        $this->assertSame($wanted, $classes);
        foreach ($classes as $class) {
            $this->assertFalse((new \ReflectionClass($class))->isCloneable(), $class);
            $this->assertSame([], (new \ReflectionClass($class))->getProperties(), $class);
        }
    }

    private function declaration(\ReflectionFunction $function): string
    {
        $parameters = array_map(static function (\ReflectionParameter $parameter): string {
            $type = (string) $parameter->getType();
            $type = str_replace('Assay\\Extension\\', '', $type);

            return ($type === '' ? '' : "$type ")
                . ($parameter->isPassedByReference() ? '&' : '') . '$' . $parameter->getName();
        }, $function->getParameters());

        return $function->getShortName() . '(' . implode(', ', $parameters) . '): '
            . $function->getReturnType();
    }

    /**
     * Asserts that PHP's generator makes the same arguments from the stub as ours from the header.
     */
    public function testArgumentsAreThoseOfPhpsGenerator(): void
    {
        $generator = trim(Subprocess::run(['php-config', '--prefix'])->out)
            . '/lib/php/' . basename(trim(Subprocess::run(['php-config', '--phpapi'])->out))
            . '/build/gen_stub.php';
        $parser = stream_resolve_include_path('PhpParser');
        if (!is_file($generator) || $parser === false) {
            $this->markTestSkipped("$generator or PhpParser is not installed");
        }
        $folder = sys_get_temp_dir() . '/assay-stub-' . bin2hex(random_bytes(6));
        preg_match('/\$version = "([\d.]+)"/', (string) file_get_contents($generator), $version);
        mkdir("$folder/PHP-Parser-$version[1]/lib", recursive: true);
        symlink($parser, "$folder/PHP-Parser-$version[1]/lib/PhpParser");
        copy($generator, "$folder/gen_stub.php");
        copy(self::STUB, "$folder/assay.stub.php");
        try {
            $command = [PHP_BINARY, "$folder/gen_stub.php", "$folder/assay.stub.php"];
            $done = Subprocess::run($command);
            $this->assertSame(0, $done->code, $done->out . $done->error);
            $theirs = $this->arguments("$folder/assay_arginfo.h", 'Assay_Extension_');
        } finally {
            Subprocess::run(['rm', '-rf', $folder]);
        }
        $ours = $this->arguments(__DIR__ . '/../ext/assay_arginfo.h', 'assay_');
        $this->assertSame($theirs, $ours);
        $this->assertNotSame([], $ours);
    }

    /** @return array<string, string> the arguments of each function, as the macros declare them */
    private function arguments(string $file, string $prefix): array
    {
        $text = (string) preg_replace('/,\s+/', ', ', (string) file_get_contents($file));
        preg_match_all(
            "/_INFO_EX\(arginfo_$prefix(\w+), (.*?)ZEND_END_ARG_INFO/s",
            $text,
            $found,
        );
        $arguments = preg_replace('/\s+/', ' ', array_combine($found[1], $found[2]));
        $alias = "/#define arginfo_$prefix(\w+) arginfo_$prefix(\w+)/";
        preg_match_all($alias, $text, $same, PREG_SET_ORDER);
        foreach ($same as [, $name, $as]) {
            $arguments[$name] = $arguments[$as];
        }
        ksort($arguments);

        return $arguments;
    }
}
