<?php

declare(strict_types=1);

namespace Assay\Tests\Fpm;

use Assay\Tests\CaseTable;

/**
 * A php-fpm or php-cgi in a temporary folder, with a copy of the package that every user may read;
 * cgi-fcgi sends the requests.
 */
final class FastCgiServer
{
    private const USER = 'www-data';
    private const PATIENCE_S = 60.0;
    private const PACKAGE = ['src', 'examples', 'autoload.php', 'preload.php', 'assay.ffi.h'];

    private static ?string $folder = null;

    /** @var resource|null */
    private $process = null;

    /**
     * @param list<string> $command
     * @param array<string, string> $environment
     */
    private function __construct(array $command, array $environment)
    {
        @unlink(self::socket());
        file_put_contents(self::folder() . '/log', '');
        $out = fopen(self::folder() . '/out', 'w');
        $this->process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], $out, $out],
            $pipes,
            self::folder(),
            ['PATH' => (string) getenv('PATH'), ...$environment],
        ) ?: null;
        $this->wait(fn (): bool => file_exists(self::socket()), 'listens');
        usleep(200_000);
    }

    /** @param array<string, string> $lines the only ini lines */
    public static function fpm(int $workers, array $lines): self
    {
        return self::master($workers, self::options($lines), []);
    }

    /** Starts a php-fpm with an ini file, which may use ASSAY_PHP and ASSAY_USER. */
    public static function fpmWithFile(int $workers, string $file): self
    {
        return self::master($workers, ['-c', $file], [
            'PHP_INI_SCAN_DIR' => '',
            'ASSAY_PHP' => self::folder(),
            'ASSAY_USER' => posix_getuid() === 0 ? self::USER : '',
        ]);
    }

    /**
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    private static function master(int $workers, array $options, array $environment): self
    {
        $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        $pool = [
            '[global]', 'daemonize = no', 'error_log = ' . self::folder() . '/log', '[www]',
            'listen = ' . self::socket(), 'listen.mode = 0666', 'pm = static',
            "pm.max_children = $workers", 'catch_workers_output = yes',
        ];
        if (posix_getuid() === 0) {
            $pool = [...$pool, 'user = ' . self::USER, 'group = ' . self::USER];
        }
        file_put_contents(self::folder() . '/fpm.conf', implode("\n", $pool) . "\n");

        return new self(
            ["php-fpm$version", ...$options, '-y', self::folder() . '/fpm.conf'],
            ['LD_LIBRARY_PATH' => self::folder(), ...$environment],
        );
    }

    /** @param array<string, string> $lines ini lines */
    public static function cgi(int $workers, array $lines): self
    {
        return new self(
            ['php-cgi', ...self::options($lines), '-b', self::socket()],
            ['LD_LIBRARY_PATH' => self::folder(), 'PHP_FCGI_CHILDREN' => (string) $workers],
        );
    }

    /** @return array<string, string> the lines of README.md for preloaded FFI */
    public static function preloadLines(): array
    {
        $lines = [
            'zend_extension' => 'opcache',
            'extension' => 'ffi',
            'ffi.preload' => self::folder() . '/assay.ffi.h',
            'opcache.preload' => self::folder() . '/preload.php',
        ];

        return posix_getuid() === 0
            ? [...$lines, 'opcache.preload_user' => self::USER] : $lines;
    }

    /**
     * Returns the path of a copy that every user may read. It is written once: children of the
     * server before still have it mapped while they end.
     */
    public static function shared(string $file): string
    {
        $copy = self::folder() . '/' . basename($file);
        if (!is_file($copy)) {
            copy($file, $copy);
            chmod($copy, 0755);
        }

        return $copy;
    }

    /** @param array<string, string> $query */
    public function request(string $script, array $query): string
    {
        return $this->requests($script, [$query])[0];
    }

    /**
     * Sends requests at the same time.
     *
     * @param list<array<string, string>> $queries
     *
     * @return list<string> their responses
     */
    public function requests(string $script, array $queries): array
    {
        $running = [];
        foreach ($queries as $query) {
            $environment = [
                'PATH' => (string) getenv('PATH'),
                'REQUEST_METHOD' => 'GET',
                'SCRIPT_FILENAME' => self::folder() . "/$script",
                'QUERY_STRING' => http_build_query($query),
                'REDIRECT_STATUS' => '200',
            ];
            $process = proc_open(
                ['cgi-fcgi', '-bind', '-connect', self::socket()],
                [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']],
                $pipes,
                null,
                $environment,
            );
            $running[] = [$process, $pipes[1]];
        }
        $answers = [];
        foreach ($running as [$process, $pipe]) {
            $answers[] = (string) stream_get_contents($pipe);
            proc_close($process);
        }

        return $answers;
    }

    /** Sends SIGUSR2, after which the master restarts with new workers. */
    public function reload(): void
    {
        posix_kill($this->pid(), SIGUSR2);
        $reloaded = fn (): bool => substr_count(
            (string) file_get_contents(self::folder() . '/log'),
            'ready to handle',
        ) > 1;
        $this->wait($reloaded, 'reloads');
        usleep(200_000);
    }

    public function log(): string
    {
        return file_get_contents(self::folder() . '/log')
            . file_get_contents(self::folder() . '/out');
    }

    public function stop(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGTERM);
            proc_close($this->process);
            $this->process = null;
        }
    }

    private function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    private function wait(callable $reached, string $what): void
    {
        $end = microtime(true) + self::PATIENCE_S;
        while (!$reached()) {
            if (microtime(true) > $end || !proc_get_status($this->process)['running']) {
                $log = $this->log();
                $this->stop();
                throw new \RuntimeException("the server never $what: $log");
            }
            usleep(20_000);
        }
    }

    /**
     * @param array<string, string> $lines
     *
     * @return list<string>
     */
    private static function options(array $lines): array
    {
        $options = ['-n'];
        foreach ($lines as $name => $value) {
            array_push($options, '-d', "$name=$value");
        }

        return $options;
    }

    private static function socket(): string
    {
        return self::folder() . '/socket';
    }

    /**
     * Returns the folder with the copy of the package, the library, the script and its evidence.
     */
    private static function folder(): string
    {
        if (self::$folder === null) {
            $folder = sys_get_temp_dir() . '/assay-fpm-' . getmypid();
            mkdir($folder);
            register_shutdown_function(fn () => self::run(['rm', '-rf', $folder]));
            $package = dirname(__DIR__, 2);
            foreach (self::PACKAGE as $name) {
                self::run(['cp', '-r', "$package/$name", $folder]);
            }
            copy((string) getenv('ASSAY_LIBRARY'), "$folder/libassay.so.0");
            copy(__DIR__ . '/verify.php', "$folder/verify.php");
            $case = CaseTable::get()->accepted('transaction');
            file_put_contents("$folder/evidence.json", json_encode([
                'configuration' => CaseTable::get()->configuration($case['verifier']),
                'jws' => CaseTable::evidence($case),
                'now' => $case['now'],
            ]));
            self::run(['chmod', '-R', 'a+rX', $folder]);
            // A library inside the package would be found first, but the loader must find it.
            mkdir("$folder/inside");
            foreach (self::PACKAGE as $name) {
                rename("$folder/$name", "$folder/inside/$name");
                symlink("inside/$name", "$folder/$name");
            }
            chmod("$folder/inside", 0755);
            self::$folder = $folder;
        }

        return self::$folder;
    }

    /** @param list<string> $command */
    private static function run(array $command): void
    {
        $null = ['file', '/dev/null', 'r'];
        if (proc_close(proc_open($command, [$null, STDERR, STDERR], $pipes)) !== 0) {
            throw new \RuntimeException(implode(' ', $command) . ' failed');
        }
    }
}
