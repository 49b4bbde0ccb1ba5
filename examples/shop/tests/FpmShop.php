<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

/** The shop in its production setup: nginx before php-fpm, with the files of its folder server. */
final class FpmShop extends RunningShop
{
    /** @var resource|null */
    private $nginx = null;

    public function start(): void
    {
        $this->address = $this->address ?: self::freeAddress();
        $this->startFpm();
        $this->nginx = $this->run(['nginx', '-e', "$this->folder/log", '-c', $this->nginxFile()]);
        $this->waitForIt();
    }

    public function startFpm(): void
    {
        $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        $pool = "[global]\ndaemonize = no\nerror_log = $this->folder/log\n" . $this->adapted('fpm.conf');
        file_put_contents("$this->folder/fpm.conf", $pool);
        $extension = (string) getenv('ASSAY_EXTENSION_BUILT');
        $this->process = $this->run(["php-fpm$version", ...(posix_getuid() === 0 ? ['-R'] : []),
            '-d', "extension=$extension", '-y', "$this->folder/fpm.conf"]);
        for ($waited = 0; !file_exists("$this->folder/php.sock") && $waited < 500; $waited++) {
            usleep(20_000);
        }
    }

    public function stopFpm(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGQUIT);
            proc_close($this->process);
            $this->process = null;
        }
    }

    public function stop(): void
    {
        $this->stopFpm();
        if ($this->nginx !== null) {
            proc_terminate($this->nginx);
            proc_close($this->nginx);
            $this->nginx = null;
        }
    }

    private function nginxFile(): string
    {
        file_put_contents("$this->folder/shop-nginx.conf", $this->adapted('nginx.conf'));
        $temporary = '';
        foreach (['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'] as $kind) {
            $temporary .= "{$kind}_temp_path $this->folder/nginx-$kind;\n";
        }
        file_put_contents("$this->folder/nginx.conf", (posix_getuid() === 0 ? "user root;\n" : '')
            . "daemon off;\nworker_processes 1;\npid $this->folder/nginx.pid;\nevents {}\n"
            . "http {\naccess_log off;\n{$temporary}include $this->folder/shop-nginx.conf;\n}\n");

        return "$this->folder/nginx.conf";
    }

    /** Returns a copy of an example's file, with the paths of this test. */
    private function adapted(string $file): string
    {
        $user = posix_getpwuid(posix_getuid())['name'];

        return strtr((string) file_get_contents(self::SHOP . "/server/$file"), [
            '127.0.0.1:8080' => $this->address,
            '/srv/shop' => (string) realpath(self::SHOP),
            '/run/shop' => $this->folder,
            '/etc/shop/shop.json' => "$this->folder/shop.json",
            "user = shop\ngroup = shop" => "user = $user\ngroup = $user",
            'listen.owner = www-data' => "listen.owner = $user",
        ]);
    }

    /** @return resource */
    private function run(array $command)
    {
        $log = ['file', "$this->folder/log", 'a'];

        return proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes, null, [
            'PATH' => getenv('PATH') . ':/usr/sbin',
            'LD_LIBRARY_PATH' => dirname((string) getenv('ASSAY_LIBRARY')),
        ]);
    }
}
