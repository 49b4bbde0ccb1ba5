<?php

declare(strict_types=1);

namespace Assay\Internal;

/**
 * Readonly properties that are set when they are first read, by the rows of the class's MEMBERS. It
 * is a trait because only the class itself may set them.
 *
 * @internal
 */
trait ReadOnce
{
    private static ?self $blank = null;

    private function __construct()
    {
    }

    private function __clone()
    {
    }

    /** Returns an object none of whose properties is set yet. */
    protected static function blank(): self
    {
        if (self::$blank === null) {
            $blank = new self();
            foreach (self::MEMBERS as $name => $row) {
                unset($blank->{$name});
            }
            self::$blank = $blank;
        }

        return clone self::$blank;
    }

    public function __get(string $name): mixed
    {
        $row = self::MEMBERS[$name] ?? throw new \Error(
            WrongName::message(self::class, self::MEMBERS, $name)
        );

        if ($this->isSecret($name)) {
            return $this->read($row, $name);
        }
        if ($row[0] === Member::TEXT && $this->values !== null) {
            $value = $this->values[$row[1]] ?? null;

            return $this->{$name} = is_string($value) ? $value : null;
        }

        return $this->{$name} = $this->read($row, $name);
    }

    public function __isset(string $name): bool
    {
        // Does not set the property: `??` calls this first and then still calls __get.
        return isset(self::MEMBERS[$name])
            && $this->read(self::MEMBERS[$name], $name) !== null;
    }

    /** @return array<string, array{0: int, 1: string, 2?: string}> */
    public static function members(): array
    {
        return self::MEMBERS;
    }
}
