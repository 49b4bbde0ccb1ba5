<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Ledger\Ledger;
use Assay\Tests\Minted;
use Assay\Tests\Subprocess;
use PDO;

/** The shop under PHP's own server, with HTTP requests on loopback. */
class RunningShop
{
    public const SHOP = __DIR__ . '/..';
    public const PASSWORD = 'twelve letters of test';
    private const PATIENCE_S = 10.0;

    public readonly string $folder;
    public readonly string $dsn;
    /** @var resource|null */
    protected $process = null;
    protected string $address = '';
    /** @var array<string, string> */
    private static array $tokens = [];

    /**
     * @param array<string, mixed> $settings members that replace the default settings
     * @param array<string, mixed> $verifier members that replace the default configuration of the
     *     verifier
     * @param int $workers the number of processes that handle requests
     * @param list<string> $ini settings of PHP, such as "memory_limit=128M"
     */
    public function __construct(
        private array $settings = [],
        private array $verifier = [],
        private int $workers = 1,
        ?string $dsn = null,
        private array $ini = [],
    ) {
        $this->folder = sys_get_temp_dir() . '/assay-shop-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $this->dsn = $dsn ?? "sqlite:$this->folder/shop.db";
        file_put_contents("$this->folder/keys.json", Minted::get()->mint('keyset'));
        $this->configure($settings);
        $made = $this->command('setup');
        if ($made->code !== 0) {
            throw new \RuntimeException("setup: $made->error");
        }
        $this->start();
    }

    /** @param array<string, mixed> $settings */
    public function configure(array $settings): void
    {
        $this->settings = $settings;
        $all = $settings + [
            'verifier' => $this->configuration(),
            'database' => ['dsn' => $this->dsn],
            'bearer' => ['keys' => "$this->folder/keys.json"],
            'goods' => ['com.example.app.coins100' => 100],
            'operators' => ['kim' => password_hash(self::PASSWORD, PASSWORD_BCRYPT, ['cost' => 4])],
            'formKey' => str_repeat('k', 32),
        ];
        file_put_contents("$this->folder/shop.json", json_encode($all));
    }

    /** @return array<string, mixed> */
    public function configuration(): array
    {
        $claims = json_decode(base64_decode(explode('.', self::token('ann'))[1]));

        return $this->verifier + Minted::get()->configuration() + [
            'decision' => ['accountToken' => 'if-present'],
            'tokens' => [['profile' => 'cognito-access', 'issuers' => [$claims->iss],
                'clients' => [$claims->client_id]]],
        ];
    }

    public static function token(string $account, string ...$more): string
    {
        $key = implode(' ', [$account, ...$more]);

        return self::$tokens[$key] ??= Minted::get()->mint('token', '--subject', $account, ...$more);
    }

    public function start(): void
    {
        $this->address = $this->address ?: self::freeAddress();
        // A process group of its own: workers end with their server.
        $this->process = proc_open(
            ['setsid', ...Subprocess::phpCommand(), '-d', 'ffi.enable=1',
                ...array_merge([], ...array_map(static fn (string $line): array => ['-d', $line], $this->ini)),
                '-S', $this->address, self::SHOP . '/public/index.php'],
            [['file', '/dev/null', 'r'], ['file', "$this->folder/log", 'a'],
                ['file', "$this->folder/log", 'a']],
            $pipes,
            null,
            $this->environment() + ($this->workers > 1
                ? ['PHP_CLI_SERVER_WORKERS' => (string) $this->workers] : []),
        );
        $this->waitForIt();
    }

    protected function waitForIt(): void
    {
        $end = microtime(true) + self::PATIENCE_S;
        while (($socket = @stream_socket_client("tcp://$this->address")) === false) {
            if (microtime(true) > $end) {
                throw new \RuntimeException('the shop does not answer: ' . $this->log());
            }
            usleep(20_000);
        }
        fclose($socket);
    }

    public function stop(): void
    {
        if ($this->process !== null) {
            posix_kill(-proc_get_status($this->process)['pid'], SIGTERM);
            proc_close($this->process);
            $this->process = null;
        }
    }

    public function __destruct()
    {
        $this->stop();
        Subprocess::run(['rm', '-rf', $this->folder]);
    }

    public function url(string $path = '/'): string
    {
        return "http://$this->address$path";
    }

    public function log(): string
    {
        return (string) @file_get_contents("$this->folder/log");
    }

    public function command(string ...$words): Subprocess
    {
        return Subprocess::php(
            ['-d', 'ffi.enable=1', self::SHOP . '/bin/shop', ...$words],
            $this->environment(),
        );
    }

    public function sweep(): string
    {
        $swept = $this->command('sweep');

        return $swept->code === 0 ? trim($swept->out) : throw new \RuntimeException($swept->error);
    }

    public function pdo(): PDO
    {
        return new PDO($this->dsn, options: [PDO::ATTR_TIMEOUT => 5]);
    }

    /** Returns the shop's ledger, at a time of the test's choice. */
    public function ledger(?int $now = null): Ledger
    {
        return Ledger::withConnection(
            $this->pdo(),
            json_decode(json_encode($this->configuration())),
            $now === null ? null : static fn (): int => $now,
        );
    }

    /** Removes the database, as a disk that is not mounted. */
    public function loseDatabase(): void
    {
        foreach (glob("$this->folder/shop.db*") as $file) {
            rename($file, strtr($file, ['/shop.db' => '/away.db']));
        }
    }

    public function findDatabase(): void
    {
        foreach (glob("$this->folder/away.db*") as $file) {
            rename($file, strtr($file, ['/away.db' => '/shop.db']));
        }
    }

    /** @return array<string, int> the coins that each account may spend */
    public function coins(): array
    {
        return array_map(intval(...), $this->pdo()->query('SELECT account, SUM(coins) FROM shop_wallet'
            . ' WHERE revoked_ms IS NULL AND coins > 0 GROUP BY account ORDER BY account')
            ->fetchAll(PDO::FETCH_KEY_PAIR));
    }

    // ---- over HTTP

    /** Sends evidence as an app does after a purchase. */
    public function send(string $evidence, string $account = 'ann'): Reply
    {
        return $this->post('/v1/receipts', ['evidence' => $evidence], self::token($account));
    }

    public function notify(string $jws): Reply
    {
        return $this->post('/v1/notifications', ['signedPayload' => $jws]);
    }

    /** @param array<string, mixed>|string $body */
    public function post(string $path, array|string $body, ?string $bearer = null): Reply
    {
        return $this->all([[$path, $body, $bearer]])[0];
    }

    /**
     * Sends forms at the same time, as an operator.
     *
     * @param list<array{string, string, null}> $requests
     *
     * @return list<Reply>
     */
    public function asOperator(array $requests): array
    {
        return $this->all($requests, [CURLOPT_USERPWD => 'kim:' . self::PASSWORD]);
    }

    /**
     * Sends requests at the same time.
     *
     * @param list<array{string, array<string, mixed>|string, ?string}> $requests
     * @param array<int, mixed> $more options of curl
     *
     * @return list<Reply>
     */
    public function all(array $requests, array $more = []): array
    {
        $multi = curl_multi_init();
        $handles = [];
        foreach ($requests as [$path, $body, $bearer]) {
            $handles[] = $handle = self::handle($this->url($path), $more + [
                CURLOPT_POSTFIELDS => is_string($body) ? $body : json_encode($body),
                CURLOPT_HTTPHEADER => ['Content-Type: application/json', 'Expect:',
                    ...($bearer === null ? [] : ["Authorization: Bearer $bearer"])],
            ]);
            curl_multi_add_handle($multi, $handle);
        }
        do {
            curl_multi_exec($multi, $running);
            $running && curl_multi_select($multi);
        } while ($running);

        return array_map(
            static fn ($handle): Reply => Reply::of($handle, (string) curl_multi_getcontent($handle)),
            $handles,
        );
    }

    /** Requests a page as an operator; with fields, sends its form. */
    public function page(string $path, ?array $form = null, ?string $login = null): Reply
    {
        $options = [CURLOPT_USERPWD => $login ?? 'kim:' . self::PASSWORD];
        if ($form !== null) {
            $options[CURLOPT_POSTFIELDS] = http_build_query($form);
        }
        $handle = self::handle($this->url($path), $options);

        return Reply::of($handle, (string) curl_exec($handle));
    }

    public function request(string $method, string $path): Reply
    {
        $handle = self::handle($this->url($path), [CURLOPT_CUSTOMREQUEST => $method]);

        return Reply::of($handle, (string) curl_exec($handle));
    }

    /** Reads a route as an account's app does; null sends no token. */
    public function read(string $path, ?string $account = 'ann'): Reply
    {
        $handle = self::handle($this->url($path), [CURLOPT_HTTPHEADER => $account === null ? []
            : ['Authorization: Bearer ' . self::token($account)]]);

        return Reply::of($handle, (string) curl_exec($handle));
    }

    /** Returns what comes back for a request that no HTTP client would send, with a token. */
    public function raw(string $path, string $account = 'ann'): string
    {
        $socket = stream_socket_client("tcp://$this->address");
        stream_set_timeout($socket, (int) self::PATIENCE_S);
        @fwrite($socket, "GET $path HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nAuthorization: Bearer "
            . self::token($account) . "\r\n\r\n");
        $found = (string) @stream_get_contents($socket);
        fclose($socket);

        return $found;
    }

    private static function handle(string $url, array $options): \CurlHandle
    {
        $handle = curl_init($url);
        curl_setopt_array($handle, $options + [CURLOPT_RETURNTRANSFER => true,
            CURLOPT_HEADER => true, CURLOPT_TIMEOUT => 60]);

        return $handle;
    }

    /** @return array<string, string> */
    protected function environment(): array
    {
        return ['SHOP_CONFIG' => "$this->folder/shop.json", 'PATH' => (string) getenv('PATH'),
            'TMPDIR' => $this->folder,
            'ASSAY_LIBRARY' => (string) getenv('ASSAY_LIBRARY')];
    }

    protected static function freeAddress(): string
    {
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($server, false);
        fclose($server);

        return $address;
    }
}
