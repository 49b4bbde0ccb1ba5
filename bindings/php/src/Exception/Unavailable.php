<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The other side gave no usable answer: retry. */
final class Unavailable extends AssayException
{
}
