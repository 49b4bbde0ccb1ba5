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
$whole = true;
