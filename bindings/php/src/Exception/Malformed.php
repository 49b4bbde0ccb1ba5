<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The input is not of the format that it should have. */
final class Malformed extends AssayException
{
}
