<?php

declare(strict_types=1);

namespace Assay\Ledger;

/** The connection leads to a standby, or to a file that cannot be written (STO-74). */
final class NotPrimary extends \RuntimeException
{
}
