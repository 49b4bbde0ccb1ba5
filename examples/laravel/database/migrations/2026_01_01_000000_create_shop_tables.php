<?php

use Assay\Ledger\Ledger;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\Schema;

return new class extends Migration {
    /** The ledger commits by itself. */
    public $withinTransaction = false;

    public function up(): void
    {
        app(Ledger::class)->createSchema();
        Schema::create('booking', function (Blueprint $table): void {
            $table->string('id', 64)->primary();
            $table->string('account');
            $table->bigInteger('units');
        });
    }
};
