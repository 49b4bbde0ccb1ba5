<?php

// Frame of docs/tasks/frameworks.md: a shop on Laravel, asked as its clients ask.

namespace Page;

require getenv('ASSAY_EVIDENCE') . '/evidence.php';
require '/usr/share/php/Illuminate/autoload.php';

// SNIPPET

$root = getcwd() . '/laravel';
foreach (['config', 'bootstrap/cache', 'storage/logs'] as $folder) {
    mkdir("$root/$folder", recursive: true);
}
foreach ([
    'app' => ['env' => 'production', 'debug' => false, 'timezone' => 'UTC', 'aliases' => [],
        'providers' => [\Illuminate\Database\DatabaseServiceProvider::class,
            \Illuminate\View\ViewServiceProvider::class,
            \Illuminate\Filesystem\FilesystemServiceProvider::class,
            AssayServiceProvider::class]],
    'database' => ['default' => 'shop', 'connections' => [
        'shop' => ['driver' => 'sqlite', 'database' => "$root/shop.db", 'prefix' => '']]],
    'logging' => ['default' => 'file', 'channels' => [
        'file' => ['driver' => 'single', 'path' => "$root/storage/logs/laravel.log"]]],
    'view' => ['paths' => [], 'compiled' => "$root/storage"],
] as $name => $values) {
    file_put_contents("$root/config/$name.php", '<?php return ' . var_export($values, true) . ';');
}
$coins = ['--environment', 'Production', '--type', 'consumable',
    '--product', 'com.example.app.coins100'];
$bought = \minted('transaction', ...$coins);
$second = \minted('transaction', '--transaction-id', '180000900000077', ...$coins);
$refund = \minted('notification', '--notification-type', 'REFUND', '--refunded', ...$coins);
$bearer = \minted('token');
file_put_contents("$root/config/keys.json", \minted('keyset'));
file_put_contents("$root/config/assay.json", json_encode(\authority() + [
    'tokens' => json_decode(file_get_contents('authority/tokens.json'), true),
]));
touch("$root/shop.db");

$app = new \Illuminate\Foundation\Application($root);
$app->singleton(
    \Illuminate\Contracts\Debug\ExceptionHandler::class,
    \Illuminate\Foundation\Exceptions\Handler::class,
);
$kernel = new \Illuminate\Foundation\Http\Kernel($app, $app->make('router'));
$kernel->bootstrap();
$app->make(Ledger::class)->createSchema();
$token = $app->make(Ledger::class)->verifier->verifyToken($bearer, $app->make(Keyset::class));
// A customer without a row, who buys twice.
DB::statement('CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)');

$post = static function (
    string $path,
    string $member,
    string $text,
    ?string $bearer,
    int $status,
    string $said,
) use ($kernel): void {
    $request = Request::create($path, 'POST', content: json_encode([$member => $text]));
    $request->headers->set('Content-Type', 'application/json');
    $request->headers->set('Accept', 'application/json');
    if ($bearer !== null) {
        $request->headers->set('Authorization', "Bearer $bearer");
    }
    $answer = $kernel->handle($request);
    $found = $answer->getStatusCode() . ' ' . $answer->getContent();
    \must($answer->getStatusCode() === $status && str_contains($answer->getContent(), $said),
        "$path with $member: $found");
};
$refused = '{"error":"refused"}';
$post('/v1/purchases', 'jws', $bought, null, 401, $refused);
$post('/v1/purchases', 'jws', substr($bought, 0, -8) . 'AAAAAAAA', $bearer, 400, $refused);
$post('/v1/purchases', 'receipt', $bought, $bearer, 400, '');
$post('/v1/purchases', 'jws', $bought, $bearer, 200, '{"answer":"granted"}');
$post('/v1/purchases', 'jws', $bought, $bearer, 200, '{"answer":"already-granted"}');
$post('/v1/purchases', 'jws', $second, $bearer, 200, '{"answer":"granted"}');
$post('/v1/notifications', 'signedPayload', $bought, null, 400, $refused);
$post('/v1/notifications', 'signedPayload', $refund, null, 200, '');
$post('/v1/notifications', 'signedPayload', $refund, null, 200, '');
$post('/v1/purchases', 'jws', $bought, $bearer, 409, '{"answer":"refused-final"}');
\must(DB::table('wallet')->value('coins') === 100, 'the wallet');

// STO-33 … 35: bought, refunded, the refund reversed, and each of them again, in every order, with
// texts of the app's queue between them. The newest state stands; the wallet is what is out.
$orders = static function (string $letters) use (&$orders): array {
    $found = [];
    foreach (array_unique(str_split($letters)) as $place => $first) {
        foreach (strlen($letters) > 1 ? $orders(substr_replace($letters, '', $place, 1)) : [''] as $rest) {
            $found[] = $first . $rest;
        }
    }

    return $found;
};
$hour = 1000 * (time() - 3600);
$signed = static fn (int $minutes, string ...$more): string => \minted(
    'transaction',
    '--set',
    'quantity=5',
    '--purchased',
    (string) $hour,
    '--signed',
    (string) ($hour + 60_000 * $minutes),
    ...$coins,
    ...$more,
);
$noted = static fn (string $type, string $text): string => \minted(
    'notification',
    '--notification-type',
    $type,
    '--set',
    "data.signedTransactionInfo=\"$text\"",
    ...$coins,
);
$purchase = ['/v1/purchases', 'jws', 10, $signed(10)];
$reversed = ['/v1/notifications', 'signedPayload', 30, $noted('REFUND_REVERSED', $signed(30))];
$refunded = [];
foreach ([100000, 40000] as $share) {
    $text = $signed(20, '--refunded', '--set', "revocationPercentage=$share");
    $refunded[] = ['/v1/notifications', 'signedPayload', 20, $noted('REFUND', $text)];
}
$ask = static function (array $event) use ($kernel, $bearer): void {
    [$path, $member, , $text] = $event;
    $request = Request::create($path, 'POST', content: json_encode([$member => $text]));
    $request->headers->set('Content-Type', 'application/json');
    $request->headers->set('Authorization', "Bearer $bearer");
    $status = $kernel->handle($request)->getStatusCode();
    \must(in_array($status, $member === 'jws' ? [200, 409] : [200], true), "$path: $status");
};
$is = static function (string $state, string $order): void {
    $row = DB::table('assay_ledger')->first();
    $coins = DB::table('wallet')->value('coins');
    $found = "$row->state, $row->out_n out, $coins coins";
    \must((int) $coins === 100 * $row->out_n && str_contains($state, $row->state)
        && ($row->state !== 'granted' || $row->out_n === 5), "$order: $found");
};
$all = $orders('ccrrvv');
\must(count($all) === 90, 'every order');
DB::statement('PRAGMA synchronous = OFF');
foreach ($all as $number => $order) {
    foreach (['assay_ledger', 'assay_name', 'wallet'] as $table) {
        DB::table($table)->delete();
    }
    $events = ['c' => $purchase, 'r' => $refunded[$number % 2], 'v' => $reversed];
    $newest = 0;
    foreach (str_split($order) as $place => $event) {
        foreach ($place % 2 === 0 ? [$events[$event]] : [$events[$event], $purchase] as $sent) {
            $ask($sent);
            $newest = max($newest, $sent[2]);
            $is($newest === 20 ? 'revoked' : 'granted claimed', "$order at $place");
        }
    }
    foreach (['c', 'r', 'v', 'r', 'c'] as $event) {
        $ask($events[$event]);
        $is('granted', $order);
    }
}
$whole = true;
