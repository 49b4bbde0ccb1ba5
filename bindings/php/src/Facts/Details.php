<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;

/** An object inside the facts. */
abstract class Details extends Members
{
    /** @var array<string, mixed>|null */
    protected ?array $values = null;

    /**
     * @param array<string, mixed> $values
     *
     * @internal
     */
    final public static function of(array $values): static
    {
        $details = static::blank();
        $details->values = $values;

        return $details;
    }

    /** This object's JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values ?? [];
    }

    /** @param array{0: int, 1: string, 2?: string} $row */
    protected function read(array $row, string $name): mixed
    {
        return Member::convert($row, $this->values[$row[1]] ?? null);
    }
}
