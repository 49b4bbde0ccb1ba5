<?php

declare(strict_types=1);

namespace Assay\Tests;

/**
 * A running `assay mock-apple` on loopback, and the expected outcome of each of its faults (PLY-7),
 * with the table of Tests/CLI/faults.py that all bindings use.
 */
final class AppleFixture
{
    private const PROGRAM = __DIR__ . '/../../../Tests/CLI/faults.py';

    /** @var resource */
    private $process;
    /** @var resource */
    private $input;
    /** @var array<string, mixed> */
    private array $said;

    public function __construct(string ...$options)
    {
        $command = ['python3', self::PROGRAM, (string) getenv('ASSAY_CLI'), ...$options];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        $this->input = $pipes[0];
        $this->said = json_decode((string) fgets($pipes[1]), true, 512, JSON_THROW_ON_ERROR);
    }

    public static function isThere(): bool
    {
        return is_file((string) getenv('ASSAY_CLI'));
    }

    /** Returns a member of the line that faults.py prints. */
    public function said(string $name): mixed
    {
        return $this->said[$name];
    }

    /** Changes mock Apple's answers (POST /play/NAME). @return array<string, mixed> the response */
    public function play(string $name, mixed $body): array
    {
        $context = stream_context_create(['http' => [
            'method' => 'POST', 'content' => json_encode($body),
            'header' => "Host: play\r\nContent-Type: application/json",
        ]]);
        $answer = file_get_contents("{$this->said['url']}/play/$name", false, $context);

        return json_decode((string) $answer, true, 512, JSON_THROW_ON_ERROR);
    }

    /** Returns the statuses of the responses so far. @return list<int> */
    public function statuses(): array
    {
        $log = file_get_contents("{$this->said['url']}/play/log");

        return array_column(json_decode((string) $log, true)['log'], 'status');
    }

    /** Returns the sender's test of this name. @return array<string, mixed> */
    public function answer(string $name): array
    {
        $found = array_column($this->said['answers'], null, 'name');

        return $found[$name];
    }

    public function stop(): void
    {
        fclose($this->input);
        proc_close($this->process);
    }
}
