<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The input is well formed, but not authentic, not for these apps, or not allowed. */
final class Rejected extends AssayException
{
}
