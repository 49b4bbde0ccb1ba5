<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Facts\Details;
use Assay\Facts\Facts;
use Assay\Facts\Members;
use Assay\Internal\Member;
use PHPUnit\Framework\Assert;

/** Asserts that every member that the library writes has a property with its value. */
final class Places
{
    /** Checks one object of facts, and the objects inside it. */
    public static function check(Members $found, string $where): void
    {
        $values = $found instanceof Facts ? $found->values() : $found->payload();
        $known = [];
        foreach ($found::members() as $name => $row) {
            $known[$row[1]] = true;
            self::checkValue($found, $name, $row, $values, "$where.$name");
        }
        $own = ['payload' => true, 'warnings' => true];
        $unplaced = array_diff_key($values, $known, $found instanceof Details ? [] : $own);
        // Members that the library itself does not know are passed on as received.
        unset($unplaced['unknown'], $unplaced['unknownInReceipt'], $unplaced['otherExtensions']);
        unset($unplaced['failures'], $unplaced['externalPurchaseReport']); // as Apple has them
        Assert::assertSame([], array_keys($unplaced), "$where: members without a property");
    }

    /** @param array{0: int, 1: string, 2?: string} $row */
    private static function checkValue(
        Members $found,
        string $name,
        array $row,
        array $values,
        string $where,
    ): void {
        $value = $found->{$name};
        if ($row[0] === Member::OWN) {
            return;
        }
        if ($row[0] === Member::NESTED) {
            Assert::assertSame(isset($values[$row[1]]), $value !== null, $where);
            if ($value !== null) {
                self::check($value, $where);
            }

            return;
        }
        if ($row[0] === Member::NESTED_LIST) {
            Assert::assertCount(count($values[$row[1]] ?? []), $value, $where);
            foreach ($value as $entry) {
                self::check($entry, $where);
            }

            return;
        }
        $source = $row[0] & Member::SIGNED ? $found->payload() : $values;
        $wanted = Member::convert($row, $source[$row[1]] ?? null);
        Assert::assertEquals(self::comparable($wanted), self::comparable($value), $where);
        foreach (is_array($value) ? $value : [$value] as $entry) {
            // The signed JSON may have members that are not known yet.
            if ($entry instanceof Members && ($row[0] & Member::SIGNED) === 0) {
                self::check($entry, $where);
            }
        }
    }

    /** Returns objects by their JSON, which does not depend on which properties were read. */
    private static function comparable(mixed $value): mixed
    {
        if ($value instanceof Members) {
            return [$value::class, $value->payload()];
        }

        return is_array($value) ? array_map(self::comparable(...), $value) : $value;
    }
}
