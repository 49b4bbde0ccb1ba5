<?php

declare(strict_types=1);

namespace Assay\Exception;

/** Algorithm, version or kind not handled. */
final class Unsupported extends AssayException
{
}
