<?php

declare(strict_types=1);

namespace Assay\Exception;

/** The configuration is not usable; `at` has the path of the member. */
final class Configuration extends AssayException
{
}
