<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Document;
use Assay\Facts\Facts;
use DateTimeInterface;
use SensitiveParameter;

/**
 * Converts arguments of the binding's callers into the library's form.
 *
 * @internal
 */
final class Arguments
{
    /**
     * Returns a time in milliseconds since 1970 UTC; the system's time for null. A time beyond 64
     * bits becomes the nearest that fits, which the library refuses.
     */
    public static function milliseconds(int|DateTimeInterface|null $moment): int
    {
        if ($moment === null) {
            return (int) (microtime(true) * 1000);
        }
        if (is_int($moment)) {
            return $moment;
        }
        $milliseconds = $moment->getTimestamp() * 1000 + (int) $moment->format('v');
        if (is_int($milliseconds)) {
            return $milliseconds;
        }

        return $milliseconds < 0 ? PHP_INT_MIN : PHP_INT_MAX;
    }

    /** Returns a date for assay_check_expiry; ASSAY_NO_DATE for null. */
    public static function date(int|DateTimeInterface|null $moment, string $name): int
    {
        if ($moment === null) {
            return Header::NO_DATE;
        }
        $date = self::milliseconds($moment);
        if ($date === Header::NO_DATE) {
            throw new \ValueError("$name does not fit in 64 bits");
        }

        return $date;
    }

    /**
     * Returns the JSON text of an array or object; a string is JSON text already.
     *
     * @param array<string, mixed>|object|string $value
     */
    public static function json(
        #[SensitiveParameter] array|object|string $value,
        string $name,
    ): string {
        if (is_string($value)) {
            return $value;
        }
        try {
            return json_encode(
                $value === [] ? (object) [] : $value,
                JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE,
            );
        } catch (\JsonException $error) {
            throw new \ValueError("$name cannot be written as JSON: {$error->getMessage()}");
        }
    }

    /**
     * Returns the library's handles of the documents behind the evidence, each once.
     *
     * @param Document|Facts|iterable<Document|Facts> $evidence
     *
     * @return list<object>
     */
    public static function handles(Document|Facts|iterable $evidence): array
    {
        $handles = [];
        $items = is_iterable($evidence) ? $evidence : [$evidence];
        foreach ($items as $item) {
            $document = $item instanceof Facts ? $item->document() : $item;
            if (!$document instanceof Document) {
                throw new \TypeError(
                    'evidence is facts or documents of a Verifier, not '
                    . get_debug_type($item)
                );
            }
            $handles[spl_object_id($document)] = $document->handle();
        }

        return array_values($handles);
    }

    /** Returns the bytes of a vendor id or a MAC address; a UUID may be given as text. */
    public static function device(#[SensitiveParameter] ?string $subject): ?string
    {
        $uuid = '/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/Di';
        if ($subject === null || preg_match($uuid, $subject) !== 1) {
            return $subject;
        }

        return (string) hex2bin(str_replace('-', '', $subject));
    }

    /**
     * Returns the kind of the client data and their bytes; exactly one argument must be given.
     *
     * @return array{int, string}
     */
    public static function clientData(
        #[SensitiveParameter] ?string $data,
        #[SensitiveParameter] ?string $hash,
    ): array {
        if ($data !== null && $hash === null) {
            return [Header::CLIENT_DATA, $data];
        }
        if ($data === null && $hash !== null) {
            return [Header::CLIENT_DATA_HASH, $hash];
        }
        throw new \ValueError('give either clientData or clientDataHash');
    }
}
