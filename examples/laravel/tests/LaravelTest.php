<?php

declare(strict_types=1);

namespace Assay\Tests\Laravel;

use Assay\Tests\Minted;
use Assay\Tests\Subprocess;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use PHPUnit\Framework\TestCase;

/** The shop on Laravel, asked as its clients ask, in a copy of its folder. */
final class LaravelTest extends TestCase
{
    private const COINS = ['--environment', 'Production', '--type', 'consumable',
        '--product', 'com.example.app.coins100'];
    private const PURCHASES = ['/v1/purchases', 'jws'];
    private const NOTIFICATIONS = ['/v1/notifications', 'signedPayload'];
    private const REFUSED = '{"error":"refused"}';

    private static string $folder = '';
    private static ?Kernel $kernel = null;
    private static string $bearer;

    public static function setUpBeforeClass(): void
    {
        if (!is_file(LARAVEL)) {
            self::markTestSkipped(LARAVEL . ' is not there');
        }
        self::$folder = sys_get_temp_dir() . '/assay-laravel-' . bin2hex(random_bytes(6));
        Subprocess::run(['cp', '-r', dirname(__DIR__), self::$folder]);
        foreach (['bootstrap/cache', 'storage/logs', 'vendor'] as $name) {
            mkdir(self::$folder . "/$name", recursive: true);
        }
        // In place of Composer's, which fetches the framework.
        file_put_contents(self::$folder . '/vendor/autoload.php', sprintf(
            "<?php\nrequire_once %s;\nrequire_once %s;\nspl_autoload_register(static fn (string \$class)"
            . " => str_starts_with(\$class, 'App\\\\')\n"
            . "    && require dirname(__DIR__) . '/app/' . strtr(substr(\$class, 4), '\\\\', '/') . '.php');\n",
            var_export(LARAVEL, true),
            var_export(dirname(__DIR__, 3) . '/bindings/php/autoload.php', true),
        ));
        self::$bearer = Minted::get()->mint('token');
        file_put_contents(self::$folder . '/config/keys.json', Minted::get()->mint('keyset'));
        $tokens = json_decode(file_get_contents(Minted::get()->folder() . '/tokens.json'), true);
        $config = Minted::get()->configuration(['tokens' => $tokens]);
        file_put_contents(self::$folder . '/config/assay.json', json_encode($config));
        touch(self::$folder . '/shop.db');
        $made = Subprocess::php([self::$folder . '/artisan', 'migrate', '--force']);
        if ($made->code !== 0) {
            throw new \LogicException("migrate: $made->out $made->error");
        }
        require self::$folder . '/vendor/autoload.php';
        self::$kernel = (require self::$folder . '/bootstrap/app.php')->make(Kernel::class);
        self::$kernel->bootstrap();
        DB::statement('PRAGMA synchronous = OFF');
    }

    public static function tearDownAfterClass(): void
    {
        Subprocess::run(['rm', '-rf', self::$folder]);
    }

    protected function setUp(): void
    {
        $this->empty();
    }

    private function empty(): void
    {
        foreach (['assay_purchase', 'assay_purchase_key', 'wallet'] as $table) {
            DB::table($table)->delete();
        }
    }

    /**
     * @param array{string, string} $route a path, and the member of its body
     *
     * @return array{int, string} status and body
     */
    private function post(array $route, string $text, ?string $bearer): array
    {
        [$path, $member] = $route;
        $request = Request::create($path, 'POST', content: json_encode([$member => $text]));
        $request->headers->set('Content-Type', 'application/json');
        $request->headers->set('Accept', 'application/json');
        if ($bearer !== null) {
            $request->headers->set('Authorization', "Bearer $bearer");
        }
        $answer = self::$kernel->handle($request);

        return [$answer->getStatusCode(), (string) $answer->getContent()];
    }

    private static function coins(string $kind, string ...$more): string
    {
        return Minted::get()->mint($kind, ...self::COINS, ...$more);
    }

    public function testAPurchaseIsPaidOnceAndTakenBack(): void
    {
        $bought = self::coins('transaction');
        // A customer without a row, who buys twice.
        $second = self::coins('transaction', '--transaction-id', '180000900000077');
        $refund = self::coins('notification', '--notification-type', 'REFUND', '--refunded');
        foreach ([
            [self::PURCHASES, $bought, self::$bearer, 200, '{"answer":"granted"}'],
            [self::PURCHASES, $bought, self::$bearer, 200, '{"answer":"already-granted"}'],
            [self::PURCHASES, $second, self::$bearer, 200, '{"answer":"granted"}'],
            [self::NOTIFICATIONS, $refund, null, 200, ''],
            [self::NOTIFICATIONS, $refund, null, 200, ''],
            [self::PURCHASES, $bought, self::$bearer, 409, '{"answer":"refused-final"}'],
        ] as [$route, $text, $bearer, $status, $said]) {
            $this->assertSame([$status, $said], $this->post($route, $text, $bearer));
        }
        $this->assertSame(100, DB::table('wallet')->value('coins'));
    }

    public function testWhatIsNotGenuineIsRefused(): void
    {
        $bought = self::coins('transaction');
        $forged = substr($bought, 0, -8) . 'AAAAAAAA';
        $this->assertSame([401, self::REFUSED], $this->post(self::PURCHASES, $bought, null));
        $this->assertSame([400, self::REFUSED], $this->post(self::PURCHASES, $forged, self::$bearer));
        $this->assertSame([400, self::REFUSED], $this->post(self::NOTIFICATIONS, $bought, null));
        [$status] = $this->post(['/v1/purchases', 'receipt'], $bought, self::$bearer);
        $this->assertSame(400, $status);
    }

    /**
     * STO-33 … 35: the newest state stands, and the wallet is what is out, in whatever order they
     * come; examples/shop tries every order.
     */
    public function testARefundOfAPartAndItsReversal(): void
    {
        $hour = 1000 * (time() - 3600);
        $signed = static fn (int $minutes, string ...$more): string => self::coins(
            'transaction',
            '--set',
            'quantity=5',
            '--purchased',
            (string) $hour,
            '--signed',
            (string) ($hour + 60_000 * $minutes),
            ...$more,
        );
        $noted = static fn (string $type, string $text): array => [self::NOTIFICATIONS, self::coins(
            'notification',
            '--notification-type',
            $type,
            '--set',
            "data.signedTransactionInfo=\"$text\"",
        )];
        $refunded = static fn (int $share): string =>
            $signed(20, '--refunded', '--set', "revocationPercentage=$share");
        $events = [
            'bought' => [self::PURCHASES, $signed(10)],
            'a part' => $noted('REFUND', $refunded(40_000)),
            'all' => $noted('REFUND', $refunded(100_000)),
            'reversed' => $noted('REFUND_REVERSED', $signed(30)),
        ];
        foreach ([
            [['bought', 500], ['a part', 300], ['a part', 300], ['bought', 300], ['reversed', 500],
                ['a part', 500], ['reversed', 500]],
            [['all', 0], ['bought', 0], ['reversed', 0], ['bought', 500]],
            [['bought', 500], ['all', 0], ['bought', 0], ['reversed', 500]],
            [['reversed', 0], ['all', 0], ['bought', 500]],
        ] as $order) {
            $this->empty();
            foreach ($order as [$event, $coins]) {
                [$route, $text] = $events[$event];
                [$status] = $this->post($route, $text, self::$bearer);
                $this->assertContains($status, $route === self::PURCHASES ? [200, 409] : [200]);
                $this->assertSame($coins, (int) DB::table('wallet')->value('coins'), $event);
            }
        }
    }
}
