<?php

declare(strict_types=1);

namespace Assay\Exception;

/** Nothing is decided yet: take the next step. */
final class Pending extends AssayException
{
}
