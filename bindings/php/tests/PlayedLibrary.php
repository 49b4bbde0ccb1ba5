<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Internal\Library;

/**
 * A library whose conversations answer with a list of codes; their documents are ones that the
 * real library made. SenderTest has a real conversation.
 */
final class PlayedLibrary implements Library
{
    /** @var list<array{object, string, int}> what the steps were given */
    public array $answers = [];

    /** @var callable|null called inside a step */
    public $inside = null;

    /** @param list<int> $codes of the steps to come */
    public function __construct(
        private Library $real,
        private object $document,
        public array $codes,
    ) {
    }

    public function exchangeStep(object $exchange, string $answer, int $nowMs, ?object &$doc): int
    {
        $this->answers[] = [$exchange, $answer, $nowMs];
        if ($this->inside !== null) {
            ($this->inside)();
        }
        $doc = $this->document;

        return array_shift($this->codes);
    }

    public function way(): string
    {
        return 'played';
    }

    public function path(): string
    {
        return $this->real->path();
    }

    public function versionNumber(): int
    {
        return $this->real->versionNumber();
    }

    public function version(): string
    {
        return $this->real->version();
    }

    public function buildInfo(): string
    {
        return $this->real->buildInfo();
    }

    public function statusName(int $status): string
    {
        return $this->real->statusName($status);
    }

    public function docStatus(object $doc): int
    {
        return $this->real->docStatus($doc);
    }

    public function docJson(object $doc): ?string
    {
        return $this->real->docJson($doc);
    }

    public function docText(object $doc, string $path): ?string
    {
        return $this->real->docText($doc, $path);
    }

    public function docInteger(object $doc, string $path, int $fallback): int
    {
        return $this->real->docInteger($doc, $path, $fallback);
    }

    public function verifierNew(string $config, ?object &$out, ?object &$doc): int
    {
        return $this->real->verifierNew($config, $out, $doc);
    }

    public function verifyJws(
        object $verifier,
        int $kind,
        string $jws,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->verifyJws($verifier, $kind, $jws, $nowMs, $doc);
    }

    public function verifyReceipt(
        object $verifier,
        int $kind,
        string $receipt,
        ?string $subject,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->verifyReceipt($verifier, $kind, $receipt, $subject, $nowMs, $doc);
    }

    public function triage(object $verifier, string $blob, int $nowMs, ?object &$doc): int
    {
        return $this->real->triage($verifier, $blob, $nowMs, $doc);
    }

    public function readVerifyReceipt(
        object $verifier,
        string $body,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->readVerifyReceipt($verifier, $body, $nowMs, $doc);
    }

    public function verifyAttestation(
        object $verifier,
        string $attestation,
        string $keyId,
        int $clientDataKind,
        string $clientData,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->verifyAttestation(
            $verifier,
            $attestation,
            $keyId,
            $clientDataKind,
            $clientData,
            $nowMs,
            $doc,
        );
    }

    public function verifyAssertion(
        object $verifier,
        string $assertion,
        string $publicKey,
        int $counter,
        int $clientDataKind,
        string $clientData,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->verifyAssertion(
            $verifier,
            $assertion,
            $publicKey,
            $counter,
            $clientDataKind,
            $clientData,
            $nowMs,
            $doc,
        );
    }

    public function decide(
        object $verifier,
        array $evidence,
        ?string $account,
        int $nowMs,
        ?object &$doc,
    ): int {
        return $this->real->decide($verifier, $evidence, $account, $nowMs, $doc);
    }

    public function checkExpiry(int $expiresMs, int $graceMs, int $revokedMs, int $nowMs): int
    {
        return $this->real->checkExpiry($expiresMs, $graceMs, $revokedMs, $nowMs);
    }

    public function exchangeNew(
        object $verifier,
        string $request,
        array $evidence,
        int $nowMs,
        ?object &$out,
        ?object &$doc,
    ): int {
        return $this->real->exchangeNew($verifier, $request, $evidence, $nowMs, $out, $doc);
    }
}
