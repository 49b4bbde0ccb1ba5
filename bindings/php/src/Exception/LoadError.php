<?php

declare(strict_types=1);

namespace Assay\Exception;

/**
 * There is no usable libassay: the message lists everything that was tried and why each
 * one failed, or names the ini line that is missing. A fault of the installation, so
 * that it is no AssayException.
 */
final class LoadError extends \RuntimeException
{
}
