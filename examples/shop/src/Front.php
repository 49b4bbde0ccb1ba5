<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\Pending;
use Assay\Exception\Unavailable;

/** Returns the response to any request, and catches every fault. */
final class Front
{
    private const ROUTES = [
        '/v1/receipts' => ['POST' => 'receipts'],
        '/v1/notifications' => ['POST' => 'notifications'],
        '/v1/account' => ['GET' => 'account'],
        '/v1/orders' => ['GET' => 'orders'],
        '/support' => ['GET' => 'support', 'POST' => 'support'],
        '/balance' => ['GET' => 'balance', 'POST' => 'balance'],
        '/refunds' => ['GET' => 'refunds'],
        '/dashboard' => ['GET' => 'dashboard'],
        '/events' => ['GET' => 'events'],
        '/export' => ['GET' => 'export'],
    ];

    /** @param \Closure(): Shop $open */
    public function __construct(private \Closure $open)
    {
    }

    public function answer(Request $request): Answer
    {
        $methods = self::ROUTES[$request->path] ?? null;
        if ($methods === null) {
            return Answer::error(404, 'Not found');
        }
        $part = $methods[$request->method] ?? null;
        if ($part === null) {
            $allowed = implode(', ', array_keys($methods));

            return Answer::error(405, 'Method not allowed', ['Allow' => $allowed]);
        }
        try {
            return self::part(($this->open)(), $part)($request);
        } catch (Refused $refused) {
            return Answer::error($refused->status, $refused->getMessage(), $refused->headers);
        } catch (Unavailable | Pending $away) {
            Log::line('WARN', $away->status);

            return self::later($away);
        } catch (\Throwable $fault) {
            Log::fault($fault);

            return Answer::later();
        }
    }

    /** @return \Closure(Request): Answer */
    private static function part(Shop $shop, string $name): \Closure
    {
        return match ($name) {
            'receipts' => $shop->receipts()->answer(...),
            'notifications' => $shop->notifications()->answer(...),
            'account' => $shop->account()->answer(...),
            'orders' => $shop->account()->orders(...),
            'support' => $shop->support()->answer(...),
            'balance' => $shop->balance()->answer(...),
            'refunds' => $shop->refundPage()->answer(...),
            'dashboard' => $shop->dashboard()->answer(...),
            'events' => $shop->eventPages()->answer(...),
            'export' => $shop->export()->answer(...),
            default => throw new \LogicException("no part is called $name"),
        };
    }

    private static function later(Unavailable|Pending $away): Answer
    {
        $at = $away->document?->at('exchange.retry.notBeforeMs');

        return $at === null ? Answer::later() : Answer::later($at - Clock::ms());
    }
}
