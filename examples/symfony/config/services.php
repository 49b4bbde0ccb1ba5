<?php

use Assay\Keyset;
use Assay\Ledger\Ledger;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Log\Logger;

use function Symfony\Component\DependencyInjection\Loader\Configurator\env;
use function Symfony\Component\DependencyInjection\Loader\Configurator\inline_service;
use function Symfony\Component\DependencyInjection\Loader\Configurator\service;

return static function (ContainerConfigurator $container): void {
    $container->extension('framework', ['http_method_override' => false]);
    // The files are read at each request, and nothing of them is in the cache of the container.
    $container->parameters()
        ->set('env(ASSAY_CONFIG)', '%kernel.project_dir%/config/assay.json')
        ->set('env(ASSAY_KEYS)', '%kernel.project_dir%/config/keys.json');

    $services = $container->services()->defaults()->autowire()->autoconfigure();
    $services->load('App\\', '../src/')->exclude('../src/Kernel.php');
    // With DoctrineBundle the connection is there, and with MonologBundle the logger.
    $services->set(Connection::class)->factory([DriverManager::class, 'getConnection'])
        ->args([['driver' => 'pdo_sqlite', 'path' => '%kernel.project_dir%/var/shop.db']]);
    $services->set('logger', Logger::class)->args(['warning', 'php://stderr']);

    $services->set(Ledger::class)->factory([Ledger::class, 'withConnection'])->args([
        inline_service(PDO::class)->factory([service(Connection::class), 'getNativeConnection']),
        env('ASSAY_CONFIG')->file(),
    ]);
    $services->set(Keyset::class)->args([env('ASSAY_KEYS')->file()]);
};
