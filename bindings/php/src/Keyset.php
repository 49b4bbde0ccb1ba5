<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Arguments;
use Assay\Internal\Loader;
use Assay\Internal\Refusal;

/**
 * The public keys of a token issuer: a JSON Web Key Set (RFC 7517).
 *
 * It remembers which tokens it has verified: keep it for as long as the process lives. A refreshed
 * set is another Keyset.
 */
final class Keyset
{
    private ?object $handle;
    private Facts\IssuerKeys $facts;

    /**
     * @param array<string, mixed>|object|string $jwks what the issuer publishes, as an array or as
     *     JSON text. A member `issuer` beside `keys` names the issuer if the configuration has
     *     several
     *
     * @throws Exception\Malformed if it is not a key set
     * @throws Exception\Rejected for a set with a key that must not be published, such as a private
     *     one: keep the old set, and raise an alarm
     * @throws Exception\LoadError if there is no usable libassay
     * @throws \ValueError if it cannot be encoded as JSON
     */
    public function __construct(array|object|string $jwks)
    {
        $this->handle = null;
        $library = Loader::library();
        $code = $library->keysetNew(Arguments::json($jwks, 'the key set'), $handle, $answer);
        if ($answer === null) {
            throw Refusal::ofStatus($code);
        }
        $document = new Document($library, $answer, $code);
        $document->throwIfFailed();
        $this->facts = Facts\IssuerKeys::in($document, 'keyset');
        $this->handle = $handle;
    }

    /** Returns the keys, and the skipped ones with the reason. */
    public function facts(): Facts\IssuerKeys
    {
        return $this->facts;
    }

    public function isClosed(): bool
    {
        return $this->handle === null;
    }

    /** Frees the key set. Documents stay valid. Closing twice is allowed. */
    public function close(): void
    {
        $this->handle = null;
    }

    /** @internal for `Verifier::verifyToken` */
    public function open(): object
    {
        return $this->handle ?? throw new \LogicException('the key set is closed');
    }

    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException('a Keyset cannot be serialised: make one in each process');
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException('a Keyset cannot be unserialised');
    }

    public function __debugInfo(): array
    {
        return ['closed' => $this->isClosed()];
    }
}
