<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Exception\Unavailable;

/**
 * Claims of a result that are paid out after it was made.
 *
 * @internal used by Claimed and DueClaims
 */
trait PaidOut
{
    /** @var array<int, Completed> by the place of the claim */
    private array $completed = [];

    /**
     * The same after its claims were paid out.
     *
     * @param array<string, Completed> $completed by purchase key
     * @param Unavailable|null $away why the others of this call are not: "deferred" (STO-20)
     *
     * @internal
     */
    public function after(array $completed, ?Unavailable $away = null): static
    {
        $next = $this->withAway($away);
        foreach ($this->claims as $place => $claim) {
            if ($claim->isOurs() && isset($completed[$claim->purchaseKey])) {
                $next->completed[$place] = $completed[$claim->purchaseKey];
            }
        }

        return $next;
    }

    /** @return list<Claim> */
    private function claims(): array
    {
        $claims = array_map(Claim::of(...), $this->values()['claims'] ?? []);
        foreach ($this->completed as $place => $completed) {
            $claims[$place] = $claims[$place]->ended($completed);
        }
        if ($this->away !== null) {
            $later = static fn (Claim $claim): Claim => $claim->isOurs() ? $claim->later() : $claim;
            $claims = array_map($later, $claims);
        }

        return $claims;
    }
}
