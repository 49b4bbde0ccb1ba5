<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Configuration;
use Assay\Exception\Internal;
use Assay\Exception\Malformed;
use Assay\Exception\Misuse;
use Assay\Exception\Pending;
use Assay\Exception\Rejected;
use Assay\Exception\TooLarge;
use Assay\Exception\Unavailable;
use Assay\Exception\Unsupported;

/**
 * Which exception a status becomes.
 *
 * @internal
 */
final class Refusal
{
    /** Family => class. */
    public const FAMILIES = [
        Header::REJECTED => Rejected::class,
        Header::MALFORMED => Malformed::class,
        Header::UNSUPPORTED => Unsupported::class,
        Header::TOO_LARGE => TooLarge::class,
        Header::MISUSE => Misuse::class,
        Header::CONFIG => Configuration::class,
        Header::UNAVAILABLE => Unavailable::class,
        Header::INTERNAL => Internal::class,
        Header::PENDING => Pending::class,
    ];

    /** For statuses of a library that is newer than this binding's table. */
    private const HTTP_OF_FAMILY = [
        Header::REJECTED => 400,
        Header::MALFORMED => 400,
        Header::UNSUPPORTED => 400,
        Header::TOO_LARGE => 413,
        Header::UNAVAILABLE => 503,
    ];

    /** The exception for a refused document. */
    public static function of(Document $document): AssayException
    {
        $class = self::FAMILIES[$document->code & 0xff] ?? Internal::class;

        return new $class(
            $document->code,
            $document->status(),
            $document->error() ?? [],
            $document,
        );
    }

    /**
     * The exception for a status that came without a document.
     *
     * @param string|null $reason in place of the table's
     */
    public static function ofStatus(int $code, ?string $reason = null): AssayException
    {
        $class = self::FAMILIES[$code & 0xff] ?? Internal::class;
        $row = StatusTable::ROWS[$code] ?? null;
        $error = $row === null
            ? [] : ['retryClass' => $row[2], 'message' => $reason ?? $row[3], 'hint' => $row[4]];

        return new $class($code, $row[0] ?? Loader::library()->statusName($code), $error);
    }

    /**
     * The exception for a status of the table that the binding itself finds.
     *
     * @param string|null $reason in place of the table's
     */
    public static function named(string $name, ?string $reason = null): AssayException
    {
        foreach (StatusTable::ROWS as $code => $row) {
            if ($row[0] === $name) {
                return self::ofStatus($code, $reason);
            }
        }
        throw new \LogicException("no status $name");
    }

    /** What a back end would answer its own client; our own faults count as 500. */
    public static function httpStatus(int $code): int
    {
        $row = StatusTable::ROWS[$code] ?? null;
        if ($row !== null) {
            return $row[1] ?? 500;
        }

        return self::HTTP_OF_FAMILY[$code & 0xff] ?? 500;
    }
}
