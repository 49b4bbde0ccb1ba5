<?php

declare(strict_types=1);

namespace App\Providers;

use Assay\Keyset;
use Assay\Ledger\Ledger;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\ServiceProvider;

/** One ledger over Laravel's connection, the keys of the tokens, and the routes. */
final class AssayServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton(Ledger::class, fn () => Ledger::withConnection(
            DB::connection()->getPdo(),
            file_get_contents(config_path('assay.json')),
        ));
        $this->app->singleton(Keyset::class, fn () => new Keyset(
            file_get_contents(config_path('keys.json')),
        ));
    }

    public function boot(): void
    {
        $this->loadRoutesFrom(base_path('routes/api.php'));
    }
}
