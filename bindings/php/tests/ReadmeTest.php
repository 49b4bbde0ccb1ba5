<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/** Asserts that the blocks of README.md are PHP, and that its calls exist. */
final class ReadmeTest extends TestCase
{
    private const README = __DIR__ . '/../README.md';

    /** @return iterable<string, array{string}> */
    public function blocks(): iterable
    {
        $text = (string) file_get_contents(self::README);
        preg_match_all('/^```php[^\n]*\n(.*?)^```$/ms', $text, $blocks);
        foreach ($blocks[1] as $number => $block) {
            yield "block $number" => [$block];
        }
    }

    /** @dataProvider blocks */
    public function testBlockIsPhp(string $block): void
    {
        $code = '<?php ' . preg_replace('/^use .*;$/m', '', $block);
        $done = Subprocess::run([PHP_BINARY, '-l'], input: $code);
        $this->assertSame(0, $done->code, $done->out);
    }

    public function testTheFirstBlockRuns(): void
    {
        [$block] = iterator_to_array($this->blocks())['block 0'];
        $case = CaseTable::get()->accepted('transaction');
        $code = "<?php declare(strict_types=1);\n" . preg_replace('/^(use .*;\n)+/m', "$0"
            . 'require getenv("AUTOLOAD"); [$jws, $account] = [getenv("JWS"), null];', $block, 1)
            . 'echo isset($refusal) ? $refusal->status : $plan;';
        $done = Subprocess::php([], [
            'PATH' => (string) getenv('PATH'),
            'ASSAY_LIBRARY' => (string) getenv('ASSAY_LIBRARY'),
            'AUTOLOAD' => __DIR__ . '/../autoload.php',
            'JWS' => CaseTable::evidence($case),
        ], input: $code);
        // The evidence is of a test authority, but the configuration of README.md trusts Apple
        // only.
        $this->assertSame('rejected.chain.untrusted-root', $done->out, $done->error);
    }

    public function testItsCallsExist(): void
    {
        $text = (string) file_get_contents(self::README);
        [, $calls, $ledger] = preg_split('/^\| call \| \w+ \|$/m', $text);
        $this->assertCallsExist(\Assay\Verifier::class, [
            ...$this->calls('/(?:\$verifier->|Verifier::)(\w+)\(/', $text),
            ...preg_grep('/^(verify|read|check|assess)[A-Z]/', $this->calls('/`(\w+)`/', $calls)),
        ]);
        preg_match_all('/`(signer|sessions|deviceCheck)\(\)->(\w+)`/', $calls, $found, PREG_SET_ORDER);
        foreach ($found as [, $task, $name]) {
            $class = (new \ReflectionMethod(\Assay\Verifier::class, $task))->getReturnType();
            $this->assertCallsExist((string) $class, [$name]);
        }
        preg_match_all('/^\| (.*?) \|/m', explode("\n\n", $ledger)[0], $cells);
        $this->assertCallsExist(\Assay\Ledger\Ledger::class, [
            ...$this->calls('/\$ledger->(\w+)\(/', $text),
            ...$this->calls('/`(\w+)`/', implode(' ', $cells[1])),
        ]);
    }

    /** @return list<string> */
    private function calls(string $pattern, string $text): array
    {
        preg_match_all($pattern, $text, $found);
        return $found[1];
    }

    /** @param list<string> $names */
    private function assertCallsExist(string $class, array $names): void
    {
        $this->assertNotSame([], $names);
        foreach ($names as $name) {
            $this->assertTrue(method_exists($class, $name), $name);
        }
    }
}
