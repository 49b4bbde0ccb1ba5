<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Document;
use Assay\Internal\Member;

/**
 * The facts of one document, or of one evidence nested in it.
 *
 * Only a Verifier makes them; `Verifier::decide` takes them as evidence. They are proof in their
 * own process only and cannot be serialised: keep the signed text and verify it again.
 *
 * The first property decodes the document's JSON, once. For three or more properties that is faster
 * than asking the library for each by its path (`Document::textAt`).
 */
abstract class Facts extends Members
{
    protected Document $document;
    protected string $path;
    /** @var array<string, mixed>|null null if not decoded yet */
    protected ?array $values = null;

    /** @internal */
    final public static function in(Document $document, string $path): static
    {
        $facts = static::blank();
        $facts->document = $document;
        $facts->path = $path;

        return $facts;
    }

    /** Returns the whole document: checks, warnings, JSON. Nested facts return the outer one. */
    public function document(): Document
    {
        return $this->document;
    }

    /** Returns the signed JSON if there is one, else the facts' own. */
    public function payload(): array
    {
        return $this->values()['payload'] ?? [];
    }

    /**
     * Returns the facts' JSON as the library wrote it, with the signed JSON in `payload`.
     *
     * @return array<string, mixed>
     */
    public function values(): array
    {
        return $this->values ??= $this->document->factsAt($this->path) ?? [];
    }

    /** @param array{0: int, 1: string, 2?: string} $row */
    protected function read(array $row, string $name): mixed
    {
        if ($row[0] === Member::OWN) {
            return $this->own($name);
        }
        if ($row[0] === Member::NESTED) {
            return isset($this->values()[$row[1]])
                ? $row[2]::in($this->document, $this->path . '.' . $row[1]) : null;
        }
        if ($row[0] === Member::NESTED_LIST) {
            $path = $this->path . '.' . $row[1] . '.';

            return array_map(
                fn (int $place) => $row[2]::in($this->document, $path . $place),
                array_keys($this->values()[$row[1]] ?? []),
            );
        }
        $values = $row[0] & Member::SIGNED ? $this->payload() : $this->values();

        return Member::convert($row, $values[$row[1]] ?? null);
    }

    protected function isSecret(string $name): bool
    {
        return false; // only Details have tokens and keys
    }

    /** Returns the value of a member that the class computes itself. */
    protected function own(string $name): mixed
    {
        throw new \LogicException("no member $name");
    }

    public function __serialize(): array
    {
        throw new \LogicException(
            static::class . ' is proof in this process only: keep the signed text'
        );
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException(static::class . ' is made by a Verifier');
    }
}
