<?php

// The entry point of every request: from nginx by server/nginx.conf, or from PHP's own server,
//
//   SHOP_CONFIG=shop.json php -d ffi.enable=1 -S 127.0.0.1:8080 public/index.php

declare(strict_types=1);

use Shop\Front;
use Shop\Request;
use Shop\Settings;
use Shop\Shop;

require_once __DIR__ . '/../autoload.php';

// Faults are logged, and no detail of them is sent.
ini_set('display_errors', '0');

$front = new Front(static fn (): Shop => new Shop(Settings::named()));
$front->answer(Request::received())->send();
