<?php

declare(strict_types=1);

namespace Assay\Internal;

use DateTimeImmutable;

/**
 * Converts the members of a document into properties. A member that is absent, null, or not of its
 * declared type becomes null; a list becomes an empty array.
 *
 * A row of a class's MEMBERS is [kind, name in the JSON, class or inner member].
 *
 * @internal
 */
final class Member
{
    public const TEXT = 1;
    public const INTEGER = 2;
    public const TIME = 3;
    public const MOMENT = 4;
    public const BOOLEAN = 5;
    public const TEXTS = 6;
    public const NUMBERS = 7;
    public const DETAILS = 8;
    public const DETAILS_LIST = 9;
    public const MAP = 10;
    public const OCTETS = 11;
    public const INNER_TEXT = 12;
    public const INNER_OCTETS = 13;
    /** Nested facts of the same document. */
    public const NESTED = 14;
    /** Computed by the class itself, in its method `own`. */
    public const OWN = 15;

    /** A list of nested facts. */
    public const NESTED_LIST = 16;
    /** A value of any type. */
    public const JSON = 17;

    /** Added to a kind if the member is in the signed JSON, `payload`. */
    public const SIGNED = 32;

    /** @param array{0: int, 1: string, 2?: string} $row */
    public static function convert(array $row, mixed $value): mixed
    {
        switch ($row[0] & ~self::SIGNED) {
            case self::TEXT:
                return is_string($value) ? $value : null;
            case self::INTEGER:
                return self::integer($value, ($row[0] & self::SIGNED) !== 0);
            case self::TIME:
                return self::time($value);
            case self::MOMENT:
                return self::moment($value);
            case self::BOOLEAN:
                return is_bool($value) ? $value : null;
            case self::TEXTS:
                return self::listed($value, is_string(...));
            case self::NUMBERS:
                return is_array($value) ? array_values($value) : [];
            case self::DETAILS:
                return self::isObject($value) ? $row[2]::of($value) : null;
            case self::DETAILS_LIST:
                return array_map($row[2]::of(...), self::listed($value, self::isObject(...)));
            case self::JSON:
                return $value;
            case self::MAP:
                return self::isObject($value) ? $value : [];
            case self::OCTETS:
                return self::octets($value);
            case self::INNER_TEXT:
                return self::text($value[$row[2]] ?? null);
            case self::INNER_OCTETS:
                return self::octets($value[$row[2]] ?? null);
        }
        throw new \LogicException("no member of kind {$row[0]}");
    }

    private static function text(mixed $value): ?string
    {
        return is_string($value) ? $value : null;
    }

    /** Returns an integer; beyond 2^53 the library writes it as a string (DOC-2). */
    private static function integer(mixed $value, bool $signed): ?int
    {
        if (is_int($value)) {
            return $value;
        }
        if ($signed || !is_string($value) || preg_match('/^-?\d{1,19}$/D', $value) !== 1) {
            return null;
        }
        $number = (int) $value;

        return (string) $number === $value ? $number : null;
    }

    /** Returns whole milliseconds; Xcode signs fractions of one (JWS-81). */
    private static function time(mixed $value): ?int
    {
        if (is_float($value) && abs($value) < 2 ** 53) {
            return (int) $value;
        }

        return is_int($value) ? $value : null;
    }

    private static function moment(mixed $value): ?DateTimeImmutable
    {
        $milliseconds = self::time($value);
        // A DateTime cannot represent years outside 1 to 9999.
        if (
            $milliseconds === null
            || $milliseconds < -62_135_596_800_000 || $milliseconds > 253_402_300_799_999
        ) {
            return null;
        }
        $rest = $milliseconds % 1000;
        $rest = $rest < 0 ? $rest + 1000 : $rest;
        $text = sprintf('%d.%03d', intdiv($milliseconds - $rest, 1000), $rest);

        return DateTimeImmutable::createFromFormat('U.v', $text) ?: null;
    }

    private static function octets(mixed $value): ?string
    {
        $octets = is_string($value) ? base64_decode($value, true) : false;

        return $octets === false ? null : $octets;
    }

    /** Whether a decoded value was an object; an empty one cannot be distinguished from a list. */
    private static function isObject(mixed $value): bool
    {
        return is_array($value) && ($value === [] || !array_is_list($value));
    }

    /** @return list<mixed> */
    private static function listed(mixed $value, callable $wanted): array
    {
        return is_array($value) && array_is_list($value)
            ? array_values(array_filter($value, $wanted)) : [];
    }
}
