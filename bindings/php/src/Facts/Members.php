<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;

/**
 * What facts and the objects inside them have in common: typed readonly properties,
 * each read from the document when it is first asked for.
 *
 * Names are Apple's. Times are integer milliseconds since 1970 UTC (`expiresDate`) with
 * a DateTimeImmutable in UTC beside them (`expiresAt`). Ids are strings. Prices are
 * thousandths of the currency unit. Enum values are given as Apple writes them, new ones
 * included. What is absent, null, or not of its declared type reads as null.
 *
 * Compare facts by their `payload()`: what `==` says depends on which properties were read.
 */
abstract class Members implements \JsonSerializable
{
    /** @return array<string, mixed> the JSON that these facts come from */
    abstract public function payload(): array;

    /**
     * Property => where it stands in the JSON.
     *
     * @return array<string, array{0: int, 1: string, 2?: string}>
     *
     * @internal
     */
    abstract public static function members(): array;

    /** An object whose properties are all still to be read. */
    abstract protected static function blank(): self;

    /** @param array{0: int, 1: string, 2?: string} $row */
    abstract protected function read(array $row, string $name): mixed;

    /** Whether a property is never kept in the object. */
    abstract protected function isSecret(string $name): bool;

    /**
     * Every property by its name; objects as arrays, times as milliseconds alone.
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
     * The same for json_encode: octets as base64.
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
