<?php

declare(strict_types=1);

namespace Shop;

/**
 * The configuration file: engine, keys and secrets. The variable SHOP_CONFIG names it; only the
 * shop's own user may read it. A member of a wrong form is reported before a request is handled.
 */
final class Settings
{
    /** Each member, and its form. */
    private const FORMS = [
        'verifier' => 'an object (docs/config.md)',
        'database' => 'an object of "dsn" ("sqlite:…", "pgsql:…" or "mysql:…"), "user" and "password"',
        'bearer' => 'an object of "keys", a file; or of "issuer" and "folder", both texts',
        'goods' => 'an object: product to coins of a unit, each a whole number from 1 to 1000000000',
        'grants' => '"transaction" or "lease"',
        'offline' => 'true or false',
        'testers' => 'a list of accounts, each a text',
        'operators' => 'an object: name to a hash of "bin/shop password", or to "hash" and "role", "reader", "support" or "admin"',
        'prices' => 'an object: product to "currency", three capital letters, and "minor", a whole number from 0 to 1000000000',
        'formKey' => 'a text of 32 characters or more',
        'refundHooks' => 'a file of PHP that returns a Shop\RefundHooks',
        'appleHosts' => 'an object: host to the address of this machine where it is played',
    ];
    private const MOST_COINS = 1_000_000_000;
    /** The meter of calls to Apple (BCK-43). */
    public const ASKED = 'shop:ask-apple';

    /** The configuration of the library (docs/config.md), with the engine in `ledger`. */
    public readonly \stdClass $verifier;
    public readonly Database $database;
    public readonly KeySource $bearer;
    /** @var array<string, int> coins of a unit by product: each consumable needs an entry */
    public readonly array $goods;
    /** "transaction" if the coins are in this database; "lease" as if they were elsewhere. */
    public readonly string $grants;
    /** Whether receipts are verified offline; if not, Apple is asked about each of them. */
    public readonly bool $offline;
    /** @var list<string> accounts whose Sandbox purchases count: App Review's, your own */
    public readonly array $testers;
    /** @var array<string, Login> the operators of the pages, by name */
    public readonly array $operators;
    /** @var array<string, Price> list prices by product, for the revenue on the dashboard */
    public readonly array $prices;
    /** The key of the tokens in the forms of /support. */
    public readonly string $formKey;
    /** What the shop knows when Apple asks about a refund (RefundHooks); null: nothing. */
    public readonly ?string $refundHooks;
    /** @var array<string, string> only for tests: the addresses of a mock Apple on this machine */
    public readonly array $appleHosts;

    public function __construct(string $text)
    {
        $given = json_decode($text, false, 64);
        $given instanceof \stdClass
            || throw new \DomainException('shop: the configuration is no JSON object');
        foreach (get_object_vars($given) as $name => $value) {
            isset(self::FORMS[$name])
                || throw new \DomainException("shop: no setting is called $name");
            self::fits((string) $name, $value)
                || throw new \DomainException("shop: $name is not " . self::FORMS[$name]);
        }
        foreach (['verifier', 'database', 'bearer'] as $name) {
            isset($given->{$name}) || throw new \DomainException("shop: $name is missing");
        }
        $this->verifier = $given->verifier;
        $this->database = self::valid(Database::of($given->database));
        $this->bearer = self::valid(KeySource::of($given->bearer));
        $this->goods = (array) ($given->goods ?? []);
        $this->grants = $given->grants ?? 'transaction';
        $this->offline = $given->offline ?? true;
        $this->testers = $given->testers ?? [];
        $this->operators = array_filter(array_map(Login::of(...), (array) ($given->operators ?? [])));
        $this->prices = array_filter(array_map(Price::of(...), (array) ($given->prices ?? [])));
        $this->formKey = $given->formKey ?? '';
        $this->refundHooks = $given->refundHooks ?? null;
        $this->appleHosts = (array) ($given->appleHosts ?? []);
        $this->operators === [] || $this->formKey !== ''
            || throw new \DomainException('shop: formKey is missing, and operators have forms');
        $this->pricesEveryConsumable();
        $this->completesTheVerifier();
    }

    /** Returns the settings in the file that SHOP_CONFIG names. */
    public static function named(): self
    {
        $text = @file_get_contents((string) getenv('SHOP_CONFIG'));

        return new self(is_string($text) ? $text
            : throw new \DomainException('shop: SHOP_CONFIG names no file'));
    }

    /** Returns the type of a product in the catalogue; null if it has none. */
    public function type(?string $product): ?string
    {
        return $this->verifier->products->{(string) $product}->type ?? null;
    }

    /** Returns the default plan, which every account has, with its quotas. */
    public function plan(): string
    {
        $plans = $this->verifier->plans ?? null;

        return is_array($plans) && is_string($plans[0] ?? null) ? $plans[0] : 'free';
    }

    /** @return list<string> products with coins or a price that the catalogue lacks: withdrawn, or misspelt */
    public function unsold(): array
    {
        return array_values(array_filter(
            array_map(strval(...), array_keys($this->goods + $this->prices)),
            fn (string $product): bool => $this->type($product) === null,
        ));
    }

    private static function fits(string $name, mixed $value): bool
    {
        $members = $value instanceof \stdClass ? get_object_vars($value) : null;

        return match ($name) {
            'verifier' => $members !== null,
            'database' => Database::of($value) !== null,
            'bearer' => KeySource::of($value) !== null,
            'goods' => self::each($members, static fn (mixed $coins): bool
                => is_int($coins) && $coins >= 1 && $coins <= self::MOST_COINS),
            'grants' => in_array($value, ['transaction', 'lease'], true),
            'offline' => is_bool($value),
            'testers' => is_array($value)
                && self::each($value, static fn (mixed $it): bool => is_string($it) && $it !== ''),
            'operators' => self::each($members, static fn (mixed $it): bool => Login::of($it) !== null),
            'prices' => self::each($members, static fn (mixed $it): bool => Price::of($it) !== null),
            'formKey' => is_string($value) && strlen($value) >= 32,
            'refundHooks' => is_string($value) && is_file($value),
            'appleHosts' => self::each($members, is_string(...)),
            default => false,
        };
    }

    /** @param array<string, mixed>|null $values null if the member is no object */
    private static function each(?array $values, \Closure $fits): bool
    {
        return $values !== null && array_filter($values, $fits) === $values;
    }

    /**
     * @template T of object
     *
     * @param T|null $value a setting whose form was checked before
     *
     * @return T
     */
    private static function valid(?object $value): object
    {
        return $value ?? throw new \LogicException('a setting was not checked');
    }

    /** Refuses a consumable without coins: it would be granted as nothing, and finished. */
    private function pricesEveryConsumable(): void
    {
        foreach ((array) ($this->verifier->products ?? []) as $product => $one) {
            if (($one->type ?? null) === 'consumable' && !isset($this->goods[$product])) {
                throw new \DomainException("shop: goods has no coins for $product, a consumable");
            }
        }
    }

    /**
     * Sets what the shop determines itself: the engine, and how often it calls Apple. A block of a
     * wrong form is left to the library, which reports it.
     */
    private function completesTheVerifier(): void
    {
        $limits = [$this->plan() => (object) [self::ASKED => 1]];
        $known = ['ledger' => ['engine' => $this->database->engine(), 'placeholders' => 'qmark'],
            'quotas' => $limits];
        foreach ($known as $block => $members) {
            $this->verifier->{$block} ??= new \stdClass();
            self::fill($this->verifier->{$block}, $members);
        }
    }

    /** @param array<string, mixed> $members */
    private static function fill(mixed $block, array $members): void
    {
        foreach ($block instanceof \stdClass ? $members : [] as $name => $value) {
            if ($value instanceof \stdClass && isset($block->{$name})) {
                self::fill($block->{$name}, get_object_vars($value));
            } else {
                $block->{$name} = $value;
            }
        }
    }
}
