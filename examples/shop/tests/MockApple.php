<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;

/** A mock of Apple's servers on loopback, with the keys of the test authority. */
final class MockApple
{
    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes;
    /** The file of purchases, written after every change. */
    private string $state;
    public readonly string $url;
    /** @var array<string, string> for `appleHosts` */
    public readonly array $hosts;
    /** @var array<string, mixed> a configuration with its test keys */
    public readonly array $configuration;

    public function __construct(array ...$purchases)
    {
        Minted::get()->configuration();
        $this->state = (string) tempnam(sys_get_temp_dir(), 'assay-mock-');
        file_put_contents($this->state, json_encode(['purchases' => $purchases]));
        $command = [(string) getenv(Minted::VARIABLE), 'mock-apple', '--authority',
            Minted::get()->folder(), '--state', $this->state];
        $this->process = proc_open(
            $command,
            [['pipe', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']],
            $pipes,
        );
        $this->pipes = $pipes;
        $first = json_decode((string) fgets($this->pipes[1]), true);
        $this->url = $first['url'];
        $this->hosts = array_fill_keys($first['hosts'], $first['url']);
        $this->configuration = json_decode((string) file_get_contents($first['config']), true);
    }

    /**
     * @param array<string, mixed> $body
     *
     * @return array<string, mixed> the response
     */
    public function play(string $what, array $body): array
    {
        $context = stream_context_create(['http' => ['method' => 'POST',
            'content' => json_encode($body), 'header' => ['Host: play', 'Content-Type: application/json']]]);

        return (array) json_decode((string) file_get_contents("$this->url/play/$what", false, $context), true);
    }

    /** @return list<string> the requests, as "host path" */
    public function log(): array
    {
        $context = stream_context_create(['http' => ['header' => 'Host: play']]);
        $log = json_decode((string) file_get_contents("$this->url/play/log", false, $context), true);

        return array_map(static fn (array $one): string => "$one[host] $one[path]", $log['log']);
    }

    public function __destruct()
    {
        fclose($this->pipes[0]);
        proc_close($this->process);
        unlink($this->state);
    }
}
