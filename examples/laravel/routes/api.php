<?php

use App\Http\Controllers\PurchaseController;
use Illuminate\Support\Facades\Route;

Route::post('/v1/purchases', [PurchaseController::class, 'purchase']);
Route::post('/v1/notifications', [PurchaseController::class, 'notification']);
