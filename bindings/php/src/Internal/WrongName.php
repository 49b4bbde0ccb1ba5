<?php

declare(strict_types=1);

namespace Assay\Internal;

/**
 * Makes the message for a property that does not exist, with the one that was meant.
 *
 * @internal
 */
final class WrongName
{
    /** @param array<string, array{0: int, 1: string, 2?: string}> $members */
    public static function message(string $class, array $members, string $name): string
    {
        $right = self::right($members, $name);

        return "Undefined property $class::$$name" . ($right === null ? '' : ": use $right");
    }

    /**
     * Returns the property that was meant by a name of the JSON, or by a misspelt one.
     *
     * @param array<string, array{0: int, 1: string, 2?: string}> $members
     */
    private static function right(array $members, string $name): ?string
    {
        $wanted = self::plain($name);
        $nearest = null;
        $distance = 1 + intdiv(strlen($wanted), 4);
        foreach ($members as $known => $row) {
            if (in_array($wanted, [self::plain($known), self::plain($row[1])], true)) {
                return $known;
            }
            $away = levenshtein($wanted, self::plain($known));
            if ($away < $distance) {
                [$nearest, $distance] = [$known, $away];
            }
        }

        return $nearest;
    }

    private static function plain(string $name): string
    {
        return strtolower(str_replace('_', '', $name));
    }
}
