<?php

declare(strict_types=1);

namespace Shop;

/**
 * GET /v1/account and GET /v1/orders: what a game shows its player. Whose rows are read is the
 * subject of the access token, and no part of the query.
 */
final class Account
{
    public function __construct(private Shop $shop)
    {
    }

    /** Returns the coins that were granted and not taken back, and the current plan. */
    public function answer(Request $request): Answer
    {
        $account = $this->shop->bearer()->account($request);
        $plan = $this->shop->plan($account);
        if ($plan !== null && (!$plan->ok || $plan->isCached === true)) {
            // Without its database the library answers the default plan, which a subscriber must not see.
            return Answer::later();
        }

        return Answer::json(200, ['coins' => $this->shop->wallet()->coins($account), 'plan' => $plan?->plan
            ?? $this->shop->settings->plan(), 'planExpiresAtMs' => $plan?->expiresAtMs]);
    }

    /**
     * Returns a page of the account's orders, the newest first, and where the next one begins.
     *
     * @throws Refused 400, 401
     */
    public function orders(Request $request): Answer
    {
        $account = $this->shop->bearer()->account($request);
        $after = $request->query['after'] ?? '';
        $place = $after === '' ? null : Purchases::place($after) ?? throw new Refused(400, 'No such page');

        return Answer::json(200, $this->shop->purchases()->own($account, $place));
    }
}
