<?php

declare(strict_types=1);

namespace Assay\Internal\Http;

/**
 * Sends with the extension curl.
 *
 * @internal
 */
final class CurlTransport implements Transport
{
    public function __construct(private ?string $roots)
    {
    }

    public function send(Call $call, Body $body): ?array
    {
        $head = '';
        $begun = false;
        $curl = curl_init($call->base . $call->target);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $call->method,
            CURLOPT_HTTPHEADER => [...$call->headers, 'Expect:'],
            CURLOPT_TIMEOUT_MS => max(intdiv($call->left(), 1000), 1),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROXY => '', // not even the environment's
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$head): int {
                // After an interim response another head follows.
                $head = (str_starts_with($line, 'HTTP/') ? '' : $head) . $line;

                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function ($_, string $piece) use (
                &$head,
                &$begun,
                $body,
            ): int {
                if (!$begun) {
                    $begun = $body->coded(Call::head($head)[1]['content-encoding'] ?? null);
                }

                return $begun && $body->add($piece) ? strlen($piece) : 0;
            },
        ]);
        if ($this->roots !== null) {
            curl_setopt($curl, CURLOPT_CAINFO, $this->roots);
        }
        if ($call->content !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $call->content);
        }
        $done = curl_exec($curl);

        return $done === true || $body->isCut() ? Call::head($head) : null;
    }
}
