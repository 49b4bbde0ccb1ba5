<?php

declare(strict_types=1);

namespace Assay\Exception;

/** Well formed, but not authentic, not for us, or not allowed. */
final class Rejected extends AssayException
{
}
