<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

/**
 * Sends one request; follows no redirect, keeps no cookie, uses no proxy.
 *
 * @internal
 */
interface Transport
{
    /**
     * Passes the body to `$body` as it is received, until that wants no more. Returns null if no
     * whole response was received in time.
     *
     * @return array{int, array<string, string>}|null status, and headers by name in lower case
     */
    public function send(Call $call, Body $body): ?array;
}
