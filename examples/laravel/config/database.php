<?php

return [
    'default' => 'shop',
    'migrations' => 'migrations',
    'connections' => [
        'shop' => ['driver' => 'sqlite', 'database' => base_path('shop.db'), 'prefix' => ''],
    ],
];
