<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The decision is not made yet: take the next step. */
final class Pending extends AssayException
{
}
