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

    /** The stored hash of the challenge, 64 hex digits. */
    public readonly string $sha256;
    /** When the challenge expires. Milliseconds since 1970 UTC. */
    public readonly int $expiresAtMs;
    /** Whether the operation succeeded; if not, `status` has the reason. */
    public readonly bool $ok;
    /** The name of the status: "ok", "rejected.…". */
    public readonly string $status;
    /** The HTTP status with which a back end answers its own client. */
    public readonly int $httpStatus;

    /** @internal */
    private string $text = '';

    /** Returns the challenge for the app, 43 characters of base64url. */
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
