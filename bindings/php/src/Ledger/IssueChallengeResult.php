<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/** A challenge for the app. Only its hash is stored. */
final class IssueChallengeResult extends Result
{
    use ReadOnce;

    protected const MEMBERS = [
        'sha256' => [Member::TEXT, 'sha256'],
        'expiresAtMs' => [Member::TIME, 'expiresAtMs'],
    ] + self::STATUS;

    /** What is stored, 64 hex digits. */
    public readonly string $sha256;
    /** Milliseconds since 1970 UTC. */
    public readonly int $expiresAtMs;
    /** Whether it was carried out; false: `status` says why not. */
    public readonly bool $ok;
    /** Name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** What a back end answers its client. */
    public readonly int $httpStatus;

    /** @internal */
    private string $text = '';

    /** 43 characters of base64url: what the app gets. */
    public function text(): string
    {
        return $this->text;
    }

    /** @internal */
    public function with(string $text): self
    {
        $this->text = $text;

        return $this;
    }
}
