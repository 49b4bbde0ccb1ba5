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
 * Maps a status to its exception.
 *
 * @internal
 */
final class Refusal
{
    /** The class of each family. */
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

    /** Returns the exception for a refused document. */
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
     * Returns the exception for a status without a document.
     *
     * @param string|null $reason replaces the library's
     */
    public static function ofStatus(int $code, ?string $reason = null): AssayException
    {
        $class = self::FAMILIES[$code & 0xff] ?? Internal::class;
        $library = Loader::library();

        return new $class($code, $library->statusName($code), [
            'message' => $reason ?? $library->statusText($code, Header::STATUS_MESSAGE),
            'hint' => $library->statusText($code, Header::STATUS_HINT),
            'retryClass' => $library->statusText($code, Header::STATUS_RETRY) ?: 'never',
        ]);
    }

    /**
     * Returns the exception for a status that the binding itself found.
     *
     * @param string|null $reason replaces the library's
     */
    public static function named(string $name, ?string $reason = null): AssayException
    {
        foreach (self::statuses() as $code) {
            if (Loader::library()->statusName($code) === $name) {
                return self::ofStatus($code, $reason);
            }
        }
        throw new \LogicException("no status $name");
    }

    /** @return iterable<int> the codes of all statuses that the library has, except "ok" */
    public static function statuses(): iterable
    {
        $library = Loader::library();
        for ($code = $library->statusNext(0); $code !== 0; $code = $library->statusNext($code)) {
            yield $code;
        }
    }

    /** Returns the HTTP status for a back end's own client; 500 for faults of the program. */
    public static function httpStatus(int $code): int
    {
        return Loader::library()->statusHttp($code);
    }
}
