<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/**
 * The extension declares what its stub says.
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
            '/^function (.*) \{\}$/m',
            (string) file_get_contents(self::STUB),
            $declared,
        );
        sort($functions);
        sort($declared[1]);
        $this->assertSame($declared[1], $functions);
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
}
