<?php

declare(strict_types=1);

namespace Shop;

/**
 * The one configuration file: engine, keys and secrets. The variable SHOP_CONFIG names it; let
 * only the shop's own user read it.
 */
final class Settings
{
    private const MEMBERS = ['verifier', 'database', 'bearer', 'goods', 'grants', 'offline',
        'testers', 'operators', 'formKey', 'appleHosts'];

    /** What the library judges by (docs/config.md), without the engine in `stores`. */
    public readonly object $verifier;
    /** {dsn, user, password} of PDO. */
    public readonly object $database;
    /** {issuer, keys}: a key set in a file; or {issuer, folder}: fetched and kept there. */
    public readonly object $bearer;
    /** @var array<string, int> coins by product; a product without any unlocks, or is a plan */
    public readonly array $goods;
    /** "transaction": coins live in this database; "lease": as if they lived elsewhere. */
    public readonly string $grants;
    /** False: Apple is asked about every receipt, as it was done before. */
    public readonly bool $offline;
    /** @var list<string> accounts whose Sandbox purchases count: App Review's, your own */
    public readonly array $testers;
    /** @var array<string, string> who may see /support, and the hash of their password */
    public readonly array $operators;
    /** Protects the forms of /support. */
    public readonly string $formKey;
    /** @var array<string, string> only for tests: where Apple is played on this machine */
    public readonly array $appleHosts;

    public function __construct(string $text)
    {
        $given = json_decode($text, false, 64, JSON_THROW_ON_ERROR);
        foreach (array_keys((array) $given) as $name) {
            in_array($name, self::MEMBERS, true)
                || throw new \DomainException("shop: no setting is called $name");
        }
        foreach (['verifier', 'database', 'bearer'] as $name) {
            $this->{$name} = $given->{$name} ?? throw new \DomainException("shop: $name is missing");
        }
        $this->goods = (array) ($given->goods ?? []);
        $this->grants = $given->grants ?? 'transaction';
        in_array($this->grants, ['transaction', 'lease'], true)
            || throw new \DomainException('shop: grants is "transaction" or "lease"');
        $this->offline = $given->offline ?? true;
        $this->testers = $given->testers ?? [];
        $this->operators = (array) ($given->operators ?? []);
        $this->formKey = $given->formKey ?? '';
        $this->appleHosts = (array) ($given->appleHosts ?? []);
    }

    /** Those of the file that SHOP_CONFIG names. */
    public static function named(): self
    {
        $file = (string) getenv('SHOP_CONFIG');

        return new self(is_file($file) ? (string) file_get_contents($file)
            : throw new \DomainException('shop: SHOP_CONFIG names no file'));
    }

    /** The type of a product in the catalogue; null: none of ours. */
    public function type(?string $product): ?string
    {
        return $this->verifier->products->{(string) $product}->type ?? null;
    }
}
