<?php

declare(strict_types=1);

namespace Assay\Exception;

/** A size, depth or count limit was exceeded. */
final class TooLarge extends AssayException
{
}
