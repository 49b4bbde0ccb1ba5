<?php

declare(strict_types=1);

namespace Assay\Exception;

/** A bug or a damaged build; nothing was trusted. */
final class Internal extends AssayException
{
}
