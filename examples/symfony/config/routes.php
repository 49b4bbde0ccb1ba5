<?php

use App\Controller\PurchaseController;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

return static function (RoutingConfigurator $routes): void {
    $routes->add('purchases', '/v1/purchases')
        ->controller([PurchaseController::class, 'purchase'])->methods(['POST']);
    $routes->add('notifications', '/v1/notifications')
        ->controller([PurchaseController::class, 'notification'])->methods(['POST']);
};
