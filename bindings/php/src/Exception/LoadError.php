<?php

declare(strict_types=1);

namespace Assay\Exception;

/**
 * There is no usable libassay. The message lists everything that was tried and why each attempt
 * failed, or names the ini line that is missing. It is no AssayException, because the installation
 * is at fault.
 */
final class LoadError extends \RuntimeException
{
}
