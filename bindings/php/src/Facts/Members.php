<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;

/**
 * The base of facts and of the objects inside them: typed readonly properties, each converted from
 * the document at its first use.
 *
 * Names are Apple's. Times are integer milliseconds since 1970 UTC (`expiresDate`) with a
 * DateTimeImmutable in UTC beside them (`expiresAt`). Ids are strings. Prices are in thousandths of
 * the currency unit. Enum values are strings as Apple writes them, including unknown ones. A member
 * that is absent, null, or not of its declared type is null.
 *
 * Compare facts by their `payload()`: the result of `==` depends on which properties were read.
 */
abstract class Members implements \JsonSerializable
{
    /** @return array<string, mixed> the JSON from which these facts are read */
    abstract public function payload(): array;

    /**
     * Returns the location of each property in the JSON, by property.
     *
     * @return array<string, array{0: int, 1: string, 2?: string}>
     *
     * @internal
     */
    abstract public static function members(): array;

    /** Returns an object none of whose properties is set yet. */
    abstract protected static function blank(): self;

    /** @param array{0: int, 1: string, 2?: string} $row */
    abstract protected function read(array $row, string $name): mixed;

    /** Whether a property is never stored in the object. */
    abstract protected function isSecret(string $name): bool;

    /**
     * Returns every property by its name; objects as arrays, times as milliseconds only.
     *
     * @return array<string, mixed>
     */
    public function toArray(): array
    {
        $found = [];
        foreach (static::members() as $name => $row) {
            if (($row[0] & ~Member::SIGNED) !== Member::MOMENT) {
                $found[$name] = self::plain($this->{$name});
            }
        }

        return $found;
    }

    /**
     * Returns the array of `toArray` for json_encode, with bytes as base64.
     *
     * @return array<string, mixed>
     */
    public function jsonSerialize(): array
    {
        return self::texts($this->toArray());
    }

    public function __debugInfo(): array
    {
        return $this->toArray();
    }

    private static function plain(mixed $value): mixed
    {
        if ($value instanceof self) {
            return $value->toArray();
        }

        return is_array($value) ? array_map(self::plain(...), $value) : $value;
    }

    private static function texts(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map(self::texts(...), $value);
        }
        $octets = is_string($value) && preg_match('//u', $value) !== 1;

        return $octets ? base64_encode($value) : $value;
    }
}
