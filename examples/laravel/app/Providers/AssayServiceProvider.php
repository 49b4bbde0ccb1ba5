<?php

declare(strict_types=1);

namespace App\Providers;

use App\Http\Controllers\PurchaseController;
use Assay\Keyset;
use Assay\Ledger\Ledger;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\ServiceProvider;

/** One ledger over Laravel's connection, the keys of the tokens, and two routes. */
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
        Route::post('/v1/purchases', [PurchaseController::class, 'purchase']);
        Route::post('/v1/notifications', [PurchaseController::class, 'notification']);
    }
}
