<?php

declare(strict_types=1);

namespace Assay\Exception;

/** Not the format it claims to be. */
final class Malformed extends AssayException
{
}
