<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Assay\Tests\Minted;
use PHPUnit\Framework\TestCase;

require_once RunningShop::SHOP . '/autoload.php';

/** A test with a shop, and with evidence as Apple would have signed it for its customers. */
abstract class ShopTestCase extends TestCase
{
    protected const COINS = 'com.example.app.coins100';
    protected const PREMIUM = 'com.example.app.premium.monthly';
    protected const STANDARD = 'com.example.app.standard.monthly';
    protected const LIFETIME = 'com.example.app.lifetime';

    private static int $last = 500_000_000_000_000;
    private static int $note = 0;
    /** @var list<RunningShop> */
    private array $shops = [];

    protected function tearDown(): void
    {
        foreach ($this->shops as $shop) {
            $shop->stop();
        }
        $this->shops = [];
    }

    /** @param mixed ...$arguments those of RunningShop */
    protected function shop(mixed ...$arguments): RunningShop
    {
        return $this->shops[] = new RunningShop(...$arguments);
    }

    /** Returns a transaction id of Production that no other test uses. */
    protected static function id(): string
    {
        return (string) ++self::$last;
    }

    /** Returns the options of `mint` for a purchase of coins, as JWS or receipt. */
    protected static function coins(string $id, string ...$more): array
    {
        return self::bought(self::COINS, 'consumable', $id, ...$more);
    }

    protected static function bought(string $product, string $type, string $id, string ...$more): array
    {
        return ['--environment', 'Production', '--type', $type, '--product', $product,
            '--transaction-id', $id, '--original-transaction-id', $id, ...$more];
    }

    protected static function line(string $id, string $original, string ...$more): array
    {
        return ['--environment', 'Production', '--transaction-id', $id,
            '--original-transaction-id', $original, ...$more];
    }

    protected static function jws(array $options): string
    {
        return Minted::get()->mint('transaction', ...$options);
    }

    protected static function receipt(array $options): string
    {
        return Minted::get()->mint('transaction-receipt', ...$options);
    }

    protected static function notification(string $type, array $options): string
    {
        $uuid = sprintf('"c0a8f1de-5b1e-4f3a-9d57-%012d"', ++self::$note);

        return Minted::get()->mint(
            'notification',
            '--notification-type',
            $type,
            '--set',
            "notificationUUID=$uuid",
            ...$options,
        );
    }

    /**
     * Moves what the ledger has of the past to yesterday at noon, so that no test depends on the day on
     * which it runs, and returns the query for that month.
     */
    protected static function dated(RunningShop $shop): string
    {
        $ms = 1000 * (int) strtotime('yesterday 12:00 UTC');
        $now = self::now();
        $shop->pdo()->exec("UPDATE assay_purchase SET purchased_at_ms = $ms");
        $shop->pdo()->exec("UPDATE assay_purchase SET revoked_at_ms = $ms WHERE revoked_at_ms IS NOT NULL");
        $shop->pdo()->exec("UPDATE assay_subscription SET revoked_at_ms = $ms WHERE revoked_at_ms IS NOT NULL");
        $shop->pdo()->exec("UPDATE assay_subscription SET expires_at_ms = $ms WHERE expires_at_ms <= $now");

        return 'span=month&day=' . gmdate('Y-m-d', intdiv($ms, 1000));
    }

    protected function seal(RunningShop $shop, ?string $login = null): string
    {
        $page = $shop->page('/support', login: $login)->body;
        preg_match('/name="seal" value="([0-9a-f]{64})"/', $page, $found);

        return $found[1];
    }

    protected static function now(): int
    {
        return (int) (microtime(true) * 1000);
    }

    /** Returns the JWS with an invalid signature. */
    protected static function forged(string $jws): string
    {
        return substr($jws, 0, -8) . 'AAAAAAAA';
    }

    /** Returns the receipt with another signature. */
    protected static function forgedReceipt(string $receipt): string
    {
        $text = base64_decode($receipt);
        $at = strpos($text, '"', strpos($text, '=')) + 40;

        return base64_encode(substr_replace($text, 'AAAAAAAA', $at, 8));
    }
}
