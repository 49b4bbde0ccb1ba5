<?php

declare(strict_types=1);

namespace Assay\Tests;

/** An example, run by PHP's built-in server on loopback. */
final class WebServer
{
    private const PATIENCE_S = 10.0;

    /** @var resource */
    private $process;
    private string $address;
    private string $log;

    /** @param array<string, string> $environment */
    public function __construct(string $script, array $environment)
    {
        $this->address = self::freeAddress();
        $this->log = (string) tempnam(sys_get_temp_dir(), 'assay-web-');
        $options = ['-d', 'ffi.enable=1', '-S', $this->address, $script];
        $command = [...Subprocess::phpCommand(), ...$options];
        $environment += ['PATH' => (string) getenv('PATH'),
            'ASSAY_LIBRARY' => (string) getenv('ASSAY_LIBRARY')];
        $out = ['file', $this->log, 'a'];
        $in = ['file', '/dev/null', 'r'];
        $this->process = proc_open($command, [$in, $out, $out], $pipes, null, $environment);
        $end = microtime(true) + self::PATIENCE_S;
        while (!$this->answers()) {
            if (microtime(true) > $end) {
                $log = $this->log();
                $this->stop();
                throw new \RuntimeException("the server does not answer: $log");
            }
            usleep(20_000);
        }
    }

    /** @return array{int, string} status and body */
    public function request(string $method, string $body): array
    {
        $context = stream_context_create(['http' => [
            'method' => $method, 'content' => $body, 'ignore_errors' => true,
            'header' => 'content-type: application/json', 'timeout' => self::PATIENCE_S,
        ]]);
        $answer = (string) file_get_contents("http://$this->address/", false, $context);

        return [(int) explode(' ', $http_response_header[0])[1], $answer];
    }

    public function url(): string
    {
        return "http://$this->address";
    }

    public function log(): string
    {
        return (string) file_get_contents($this->log);
    }

    public function stop(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
        unlink($this->log);
    }

    private function answers(): bool
    {
        $socket = @stream_socket_client("tcp://$this->address", $code, $error, 1.0);

        return $socket !== false && fclose($socket);
    }

    private static function freeAddress(): string
    {
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($server, false);
        fclose($server);

        return $address;
    }
}
