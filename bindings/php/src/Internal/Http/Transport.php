<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

/**
 * Sends one request, and follows no redirect, keeps no cookie, uses no proxy.
 *
 * @internal
 */
interface Transport
{
    /**
     * The body goes to `$body` as it comes in, until that wants no more. Null: no whole answer
     * came in time.
     *
     * @return array{int, array<string, string>}|null status, and headers by name in lower case
     */
    public function send(Call $call, Body $body): ?array;
}
