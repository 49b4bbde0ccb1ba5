<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/** Tests of a project that installs the package from a `path` repository, without any network. */
final class ComposerTest extends TestCase
{
    private string $folder;

    protected function setUp(): void
    {
        if (Subprocess::run(['sh', '-c', 'command -v composer'])->code !== 0) {
            $this->markTestSkipped('composer is not installed');
        }
        $this->folder = sys_get_temp_dir() . '/assay-composer-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
    }

    protected function tearDown(): void
    {
        if (isset($this->folder)) {
            Subprocess::run(['rm', '-rf', $this->folder]);
        }
    }

    public function testPackageIsValid(): void
    {
        $done = $this->composer(
            ['validate', '--strict', '--no-check-version', dirname(__DIR__) . '/composer.json'],
        );
        $this->assertSame(0, $done->code, $done->out . $done->error);
    }

    public function testInstallsFromAPath(): void
    {
        file_put_contents("$this->folder/composer.json", json_encode([
            'name' => 'example/shop',
            'description' => 'A project that uses Assay',
            'license' => 'proprietary',
            'repositories' => [
                [
                    'type' => 'path',
                    'url' => dirname(__DIR__),
                    'options' => ['symlink' => false],
                ],
            ],
            'require' => ['assay/assay' => '*'],
        ]));
        $done = $this->composer(['install', '--no-interaction', '--no-plugins']);
        $this->assertSame(0, $done->code, $done->out . $done->error);
        $this->assertFileExists("$this->folder/vendor/assay/assay/assay.ffi.h");

        $case = CaseTable::get()->accepted('transaction');
        $configuration = CaseTable::get()->configuration($case['verifier']);
        file_put_contents("$this->folder/shop.php", <<<'PHP'
            <?php
            require __DIR__ . '/vendor/autoload.php';
            [$configuration, $jws, $now] = json_decode(stream_get_contents(STDIN));
            $verifier = new Assay\Verifier($configuration);
            echo $verifier->verifyTransaction($jws, $now)->productId;
            PHP);
        $given = [$configuration, CaseTable::evidence($case), $case['now']];
        $said = Subprocess::php(
            ["$this->folder/shop.php"],
            input: (string) json_encode($given),
        );
        $product = CaseTable::get()->verifier($case['verifier'])
            ->verifyTransaction(CaseTable::evidence($case), $case['now'])->productId;
        $this->assertSame($product, $said->out, $said->error);
    }

    /** @param list<string> $arguments */
    private function composer(array $arguments): Subprocess
    {
        return Subprocess::run(['composer', '--no-ansi', ...$arguments], [
            'PATH' => (string) getenv('PATH'),
            'HOME' => $this->folder,
            'COMPOSER_HOME' => "$this->folder/home",
            'COMPOSER_ALLOW_SUPERUSER' => '1',
            'COMPOSER_DISABLE_NETWORK' => '1',
        ], $this->folder);
    }
}
