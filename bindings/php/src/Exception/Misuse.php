<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The calling program broke a rule of the library. */
final class Misuse extends AssayException
{
}
