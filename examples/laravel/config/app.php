<?php

return [
    'name' => 'shop',
    'env' => 'production',
    'debug' => false,
    'timezone' => 'UTC',
    'locale' => 'en',
    'aliases' => [],
    // What two routes need of the framework, and what `artisan migrate` does.
    'providers' => [
        Illuminate\Database\DatabaseServiceProvider::class,
        Illuminate\Database\MigrationServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Foundation\Providers\ComposerServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
        App\Providers\AssayServiceProvider::class,
    ],
];
