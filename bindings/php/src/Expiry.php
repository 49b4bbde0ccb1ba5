<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Loader;

/** What `Verifier::checkExpiry` says of dates that were stored earlier. */
final class Expiry
{
    /** An end that never comes, stored for purchases without one. */
    public const FOREVER = PHP_INT_MAX;

    public readonly bool $inForce;

    /** @param int $code the status as a number */
    public function __construct(public readonly int $code)
    {
        $this->inForce = $code === 0;
    }

    /** "ok", "rejected.expiry.expired" or "rejected.expiry.revoked". */
    public function status(): string
    {
        return Loader::library()->statusName($this->code);
    }
}
