<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/** Tests of the library in a host process: memory, fork, signals, shutdown. */
final class ProcessTest extends TestCase
{
    /** The default number of verifications; ASSAY_SOAK=1000000 runs the whole soak. */
    private const SOAK = 20_000;
    private const FLAT = 1 << 20;

    public function testFlatMemory(): void
    {
        $count = (int) (getenv('ASSAY_SOAK') ?: self::SOAK);
        $done = $this->program('soak.php', [(string) $count]);
        $said = json_decode($done->out, true);
        $this->assertSame($count, $said['verified'] ?? $done->error);
        $this->assertLessThan(self::FLAT, $said['growth'], $done->out);
    }

    public function testFlatMemoryUnderTheCompiler(): void
    {
        $jit = ['-d', 'opcache.enable_cli=1', '-d', 'opcache.jit=tracing', '-d',
            'opcache.jit_buffer_size=32M'];
        if (!extension_loaded('Zend OPcache')) {
            array_push($jit, '-d', 'zend_extension=opcache');
        }
        $done = $this->program('soak.php', ['5000'], $jit);
        $this->assertSame(5000, json_decode($done->out, true)['verified'] ?? $done->error);
    }

    public function testFork(): void
    {
        $this->assertSame("same\n", $this->program('fork.php')->out);
    }

    public function testSignals(): void
    {
        $this->assertSame("many same\n", $this->program('signals.php')->out);
    }

    public function testHandlesLeftBehind(): void
    {
        $done = $this->program('ends.php');
        $this->assertStringStartsWith("end\n", $done->out, $done->error);
        // PHP's own code for an uncaught exception: no signal ended the process.
        $this->assertSame(255, $done->code);
    }

    public function testSignalHandlersOfTheHostStay(): void
    {
        $code = 'require $argv[1]; $state = fn () => implode(preg_grep('
            . '"/^(Sig[BIC]|Shd|Threads)/", file("/proc/self/status"))); $before = $state(); '
            . '$verifier = new Assay\Verifier(["apps" => [["bundleId" => "a.b", '
            . '"appAppleId" => 1]]]); $verifier->verify(Assay\Kind::Transaction, "a.b.c"); '
            . 'echo $state() === $before ? "same" : $before . $state();';
        $done = Subprocess::php(['-r', $code, '--', __DIR__ . '/../autoload.php']);
        $this->assertSame('same', $done->out, $done->error);
    }

    /**
     * @param list<string> $arguments
     * @param list<string> $options
     */
    private function program(string $name, array $arguments = [], array $options = []): Subprocess
    {
        $limits = ['-d', 'memory_limit=1G', '-d', 'display_errors=1'];
        $file = __DIR__ . "/programs/$name";

        return Subprocess::php([...$limits, ...$options, $file, ...$arguments]);
    }
}
