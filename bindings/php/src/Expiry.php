<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Loader;

/** The result of `Verifier::checkExpiry`. */
final class Expiry
{
    /** The expiry date of a purchase that never ends. */
    public const FOREVER = PHP_INT_MAX;

    public readonly bool $inForce;

    /** @param int $code the status as a number */
    public function __construct(public readonly int $code)
    {
        $this->inForce = $code === 0;
    }

    /** Returns "ok", "rejected.expiry.expired" or "rejected.expiry.revoked". */
    public function status(): string
    {
        return Loader::library()->statusName($this->code);
    }
}
