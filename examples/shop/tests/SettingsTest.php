<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

use Shop\Settings;

/** Asserts that a setting of a wrong form is reported at the start, before a request. */
final class SettingsTest extends ShopTestCase
{
    /** @return array<string, mixed> */
    private static function good(): array
    {
        return [
            'verifier' => ['products' => [self::COINS => ['type' => 'consumable'],
                self::PREMIUM => ['type' => 'auto-renewable', 'plan' => 'premium']],
                'plans' => ['free', 'premium']],
            'database' => ['dsn' => 'sqlite:shop.db'],
            'bearer' => ['keys' => __FILE__],
            'goods' => [self::COINS => 100],
        ];
    }

    /** @dataProvider wrong */
    public function testAnotherFormIsNamed(string $name, mixed $value): void
    {
        $text = (string) json_encode([$name => $value] + self::good());
        try {
            new Settings($text);
            $this->fail($text);
        } catch (\DomainException $refusal) {
            $this->assertMatchesRegularExpression("/^shop: .*\\b$name\\b/", $refusal->getMessage());
        }
    }

    /** @return iterable<array{string, mixed}> */
    public static function wrong(): iterable
    {
        $hash = password_hash('x', PASSWORD_BCRYPT, ['cost' => 4]);
        $forms = [
            'verifier' => ['x', [1], null],
            'database' => ['sqlite:shop.db', ['DSN' => 'sqlite:x'], ['dsn' => 'shop.db'], ['dsn' => ['x']],
                ['dsn' => 'oci:x'], ['dsn' => 'sqlite:x', 'pasword' => 'x'], ['dsn' => 'sqlite:x', 'user' => 7]],
            'bearer' => ['keys.json', ['file' => 'keys.json'], ['keys' => '/nowhere/keys.json'], ['keys' => '/tmp'],
                ['issuer' => 'https://x'], ['folder' => '/tmp'], ['issuer' => 'x', 'folder' => 5], new \stdClass()],
            'goods' => [[self::COINS => 0], [self::COINS => -50], [self::COINS => '100'], [self::COINS => 1.5],
                [self::COINS => 10 ** 10], [], ['com.example.app.coins1OO' => 100], 'x', new \stdClass()],
            'grants' => ['leese', true, 1],
            'offline' => ['no', 0, 'false'],
            'testers' => ['app-review', ['a' => 'b'], [7], ['']],
            'operators' => [['kim' => 'password'], ['kim' => ['hash' => $hash]], [['kim']],
                ['kim' => ['hash' => $hash, 'role' => 'all']],
                ['kim' => ['hash' => $hash, 'role' => 'reader', 'more' => 1]], ['kim' => ['hash' => $hash, 'role' => 'grant']]],
            'prices' => [[self::COINS => 99], [self::COINS => ['currency' => 'eur', 'minor' => 99]],
                [self::COINS => ['currency' => 'EUR', 'minor' => 0.99]], [self::COINS => ['currency' => 'EUR', 'minor' => -1]],
                [self::COINS => ['currency' => 'EUR', 'minor' => 99, 'x' => 1]], [['EUR']], 'x'],
            'formKey' => ['short', 5],
            'refundHooks' => ['/nowhere/hooks.php', '/tmp', 5],
            'appleHosts' => ['http://127.0.0.1', ['x' => 5]],
            'ofline' => [true],
        ];
        foreach ($forms as $name => $values) {
            foreach ($values as $value) {
                yield "$name " . json_encode($value) => [$name, $value];
            }
        }
    }

    public function testOperatorsNeedAKeyForTheirForms(): void
    {
        $this->expectExceptionMessage('formKey');
        $hash = password_hash('x', PASSWORD_BCRYPT, ['cost' => 4]);
        new Settings((string) json_encode(self::good() + ['operators' => ['kim' => $hash]]));
    }

    public function testTheGoodOnes(): void
    {
        $settings = new Settings((string) json_encode(self::good()));
        $this->assertSame('sqlite', $settings->database->driver());
        $this->assertSame('sqlite', $settings->verifier->ledger->engine);
        $this->assertTrue($settings->offline);
        $this->assertSame([], $settings->unsold());
        $withdrawn = ['goods' => [self::COINS => 100, 'com.example.app.old' => 5],
            'prices' => ['com.example.app.coins1OO' => ['currency' => 'EUR', 'minor' => 99]]] + self::good();
        $this->assertSame(['com.example.app.old', 'com.example.app.coins1OO'], (new Settings((string) json_encode($withdrawn)))->unsold());
    }

    /** Asserts that the library's own refusals of the configuration are passed on. */
    public function testAVerifierOfAnotherFormIsTheLibrarys(): void
    {
        foreach (['ledger' => [5], 'quotas' => 'x', 'plans' => 'free', 'products' => [5]] as $block => $value) {
            $settings = new Settings((string) json_encode(['verifier' => [$block => $value], 'goods' => new \stdClass()]
                + self::good()));
            $this->assertEquals($value, $settings->verifier->{$block});
        }
    }

    public function testSetupAndRequestsNameIt(): void
    {
        $shop = $this->shop();
        $shop->configure(['goods' => ['com.example.app.coins1OO' => 100]]);
        $setup = $shop->command('setup');
        $this->assertSame([1, 'shop: goods has no coins for ' . self::COINS . ", a consumable\n"], [$setup->code, $setup->error]);
        $this->assertSame(503, $shop->send(self::jws(self::coins(self::id())))->status);
        $this->assertStringContainsString('shop: goods has no coins for ' . self::COINS, $shop->log());
        $this->assertSame([], $shop->coins());
    }

    /** Asserts that a claim of a withdrawn product is not granted as nothing. */
    public function testAProductThatNobodyKnowsIsNotPaidOutAsNothing(): void
    {
        $shop = $this->shop(['grants' => 'lease']);
        $jws = self::jws(self::coins(self::id(), '--signed', (string) (self::now() - 3_600_000)));
        $shop->ledger(self::now() - 120_000)->claim($jws, 'ann');
        $verifier = $shop->configuration();
        unset($verifier['products'][self::COINS]);
        $shop->configure(['grants' => 'lease', 'verifier' => $verifier, 'goods' => new \stdClass()]);
        $shop->sweep();
        $states = array_column($shop->ledger()->find(account: 'ann')->rows, 'state');
        $this->assertSame(['claimed'], $states);
        $this->assertSame(0, (int) $shop->pdo()->query('SELECT COUNT(*) FROM shop_wallet')->fetchColumn());
        $shop->configure(['grants' => 'lease']);
        $shop->pdo()->exec('UPDATE assay_purchase SET lease_expires_at_ms = 1');
        $this->assertStringStartsWith('1 claims resumed', $shop->sweep());
        $this->assertSame(['ann' => 100], $shop->coins());
    }
}
