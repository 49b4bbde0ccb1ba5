<?php

declare(strict_types=1);

namespace Shop;

final class Clock
{
    /** Returns the time in milliseconds since 1970 UTC. */
    public static function ms(): int
    {
        return (int) (microtime(true) * 1000);
    }
}
