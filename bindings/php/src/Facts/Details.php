<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use SensitiveParameter;

/** An object inside the facts. */
abstract class Details extends Members
{
    /**
     * The members that are not printed (EXC-22): in the JSON, and as properties of the same name.
     */
    private const SECRETS = [
        AppleTokens::class => ['accessToken', 'refreshToken'],
        SignedToken::class => ['token'],
        ClientSecret::class => ['clientSecret'],
        IssuedSession::class => ['text'],
    ];

    /** @var array<string, mixed>|null without the secrets, if the class has any */
    protected ?array $values = null;
    /**
     * @var \WeakMap<self, array<string, mixed>>|null with the secrets; var_dump does not print it
     */
    private static ?\WeakMap $whole = null;

    /**
     * @param array<string, mixed> $values
     *
     * @internal
     */
    final public static function of(#[SensitiveParameter] array $values): static
    {
        $details = static::blank();
        $details->values = $values;
        foreach (self::SECRETS[static::class] ?? [] as $name) {
            self::$whole ??= new \WeakMap();
            self::$whole[$details] = $values;
            unset($details->values[$name]);
        }

        return $details;
    }

    /** Returns this object's JSON, including members that this version does not know. */
    public function payload(): array
    {
        return self::$whole[$this] ?? $this->values ?? [];
    }

    /** @param array{0: int, 1: string, 2?: string} $row */
    protected function read(array $row, string $name): mixed
    {
        return Member::convert($row, $this->payload()[$row[1]] ?? null);
    }

    /** Whether a property must not be stored in the object, where var_export would find it. */
    protected function isSecret(string $name): bool
    {
        return in_array($name, self::SECRETS[static::class] ?? [], true);
    }

    public function __debugInfo(): array
    {
        return array_fill_keys(self::SECRETS[static::class] ?? [], 'not shown')
            + $this->toArray();
    }

    public function __serialize(): array
    {
        throw new \LogicException(static::class . ' cannot be serialised: keep its payload()');
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException(static::class . ' cannot be unserialised');
    }
}
