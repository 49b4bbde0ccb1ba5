<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Kinds;
use Assay\Internal\Library;
use Assay\Internal\Refusal;

/**
 * The immutable result of one call. Only a Verifier makes one.
 *
 * It is proof of its contents: `Verifier::decide` takes documents, or the facts made from them, and
 * never JSON. For the same reason it cannot be serialised: keep the signed text and verify it
 * again. It stays valid after its verifier is closed.
 */
final class Document implements \JsonSerializable
{
    /** Whether every check passed. If not, trust nothing in the document. */
    public readonly bool $ok;

    /**
     * @var \WeakMap<self, array<string, mixed>>|null decoded documents; var_dump does not print
     *     them
     */
    private static ?\WeakMap $decoded = null;

    /**
     * @param int $code the status as a number, family | detail << 8; 0 if every check passed
     *
     * @internal documents are made by a Verifier
     */
    public function __construct(
        private Library $library,
        private object $handle,
        public readonly int $code,
    ) {
        $this->ok = $code === 0;
    }

    /** Returns the name of the status: "ok", "rejected.chain.untrusted-root". */
    public function status(): string
    {
        return $this->library->statusName($this->code);
    }

    /** Returns the kind of the document: "transaction", "decision", "configuration" … */
    public function kind(): string
    {
        return $this->textAt('kind') ?? '';
    }

    /** Returns the whole document as JSON text, as the library wrote it. */
    public function text(): string
    {
        return $this->library->docJson($this->handle) ?? '{}';
    }

    /**
     * Returns the whole document, decoded at the first use. Objects are arrays, and integers that
     * do not fit in 64 bits are strings.
     *
     * @return array<string, mixed>
     */
    public function json(): array
    {
        self::$decoded ??= new \WeakMap();

        return self::$decoded[$this] ??= json_decode(
            $this->text(),
            true,
            512,
            JSON_BIGINT_AS_STRING | JSON_THROW_ON_ERROR,
        );
    }

    /**
     * @return list<Check> every check of this kind of evidence, in the order in which they are made
     */
    public function checks(): array
    {
        return array_map(
            static fn (array $check): Check =>
                new Check($check['id'], $check['ok'], $check['reason'] ?? null),
            $this->json()['checks'] ?? [],
        );
    }

    /** @return list<Warning> findings that led to no refusal, but need attention */
    public function warnings(): array
    {
        return array_map(
            static fn (array $warning): Warning =>
                new Warning($warning['id'], $warning['at'] ?? null),
            $this->json()['warnings'] ?? [],
        );
    }

    /** @return array<string, string|null>|null message, check, rule, at, hint, retryClass */
    public function error(): ?array
    {
        return $this->json()['error'] ?? null;
    }

    /**
     * Returns the typed facts (Transaction, AppReceipt, Decision, Triage …). Null after a refusal,
     * except for documents that have their findings in both cases; null for kinds without facts.
     */
    public function facts(): ?Facts\Facts
    {
        return Kinds::facts($this);
    }

    /** @throws Exception\AssayException of the status's family, unless it is 0 */
    public function throwIfFailed(): void
    {
        if (!$this->ok) {
            throw Refusal::of($this);
        }
    }

    /** Returns one member by dotted path; null if it is absent. */
    public function at(string $path): mixed
    {
        $value = $this->json();
        foreach (explode('.', $path) as $step) {
            if (!is_array($value)) {
                return null;
            }
            $value = $value[$step] ?? null;
        }

        return $value;
    }

    /**
     * Returns the object of facts at a path. If the object is the document's last member, as facts
     * are, and the document is not decoded yet, only the object is decoded.
     *
     * @internal
     *
     * @return array<string, mixed>|null
     */
    public function factsAt(string $path): ?array
    {
        if (!isset(self::$decoded[$this])) {
            // An unescaped quote after a comma begins a name: no string contains these bytes.
            $text = $this->text();
            $start = strpos($text, ",\"$path\":{");
            $own = $start === false ? null : json_decode(
                substr($text, $start + strlen($path) + 4, -1),
                true,
                512,
                JSON_BIGINT_AS_STRING,
            );
            if (is_array($own)) {
                return $own;
            }
        }

        return $this->at($path);
    }

    /** Returns one string by dotted path, without decoding the rest; null if the member is none. */
    public function textAt(string $path): ?string
    {
        return $this->library->docText($this->handle, $path);
    }

    /**
     * Returns one integer by dotted path, without decoding the rest; null if the member is none.
     */
    public function integerAt(string $path): ?int
    {
        // No integer in a document has this value: times and counts are never that small.
        $found = $this->library->docInteger($this->handle, $path, PHP_INT_MIN);

        return $found === PHP_INT_MIN ? null : $found;
    }

    /**
     * Returns the library's handle of this document.
     *
     * @internal
     */
    public function handle(): object
    {
        return $this->handle;
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return $this->json();
    }

    public function __debugInfo(): array
    {
        $json = $this->json();
        // Members that the library marks as secret are not printed (EXC-22).
        if (isset($json['exchange']['http']['sensitivePaths'])) {
            $json['exchange']['http']['body'] = 'not shown';
            if (in_array('url', $json['exchange']['http']['sensitivePaths'], true)) {
                $json['exchange']['http']['url'] = 'not shown';
            }
            foreach ($json['exchange']['http']['headers'] as &$header) {
                if (strtolower($header[0]) === 'authorization') {
                    $header[1] = 'not shown';
                }
            }
        }
        foreach ($json['exchange']['sensitivePaths'] ?? [] as $path) {
            self::hide($json['exchange'], explode('.', $path));
        }

        return $json;
    }

    /**
     * @param array<string, mixed> $object
     * @param list<string> $path
     */
    private static function hide(array &$object, array $path): void
    {
        $name = array_shift($path);
        if ($path === []) {
            $object[$name] = 'not shown';
        } elseif (is_array($object[$name] ?? null)) {
            self::hide($object[$name], $path);
        }
    }

    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException(
            'a Document is proof in this process only: keep the signed text'
        );
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException('documents are made by a Verifier');
    }
}
