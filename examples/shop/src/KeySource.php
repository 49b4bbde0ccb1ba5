<?php

declare(strict_types=1);

namespace Shop;

/** Where the keys of access tokens are: in a file, or at an issuer from which they are fetched. */
final class KeySource
{
    /**
     * @param string|null $keys a file with a key set; null if the keys are fetched
     * @param string $issuer the issuer whose keys are fetched
     * @param string $folder the folder in which fetched keys are stored
     */
    private function __construct(
        public readonly ?string $keys,
        public readonly string $issuer,
        public readonly string $folder,
    ) {
    }

    /** Returns the source of a setting; null if it has another form. */
    public static function of(mixed $given): ?self
    {
        $all = $given instanceof \stdClass ? get_object_vars($given) : [];
        $texts = array_filter($all, static fn (mixed $it): bool => is_string($it) && $it !== '');
        $isKnown = count($texts) === count($all)
            && array_diff_key($texts, ['keys' => 0, 'issuer' => 0, 'folder' => 0]) === [];
        $isThere = isset($texts['keys']) ? is_file($texts['keys']) : isset($texts['issuer'], $texts['folder']);

        return $isKnown && $isThere
            ? new self($texts['keys'] ?? null, $texts['issuer'] ?? '', $texts['folder'] ?? '') : null;
    }
}
