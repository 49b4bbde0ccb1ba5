<?php

use Assay\Ledger\Ledger;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Support\Facades\DB;

return new class extends Migration {
    /** The ledger commits by itself. */
    public $withinTransaction = false;

    public function up(): void
    {
        app(Ledger::class)->createSchema();
        DB::statement('CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)');
    }
};
