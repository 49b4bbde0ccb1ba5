<?php

declare(strict_types=1);

namespace Assay\Exception;

/** A server or the database gave no usable response: retry. */
final class Unavailable extends AssayException
{
}
