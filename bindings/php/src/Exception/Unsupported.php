<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The library does not handle the algorithm, version or kind. */
final class Unsupported extends AssayException
{
}
