<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Exception\Unavailable;

/**
 * Claims of a result that are granted after the result was made.
 *
 * @internal used by ClaimResult, ResumeResult and ResumeExpiredResult
 */
trait PaidOut
{
    /** @var array<int, CompleteResult> by the index of the claim */
    private array $completed = [];

    /**
     * Returns this result with the outcome of its grants.
     *
     * @param array<string, CompleteResult> $completed by purchase key
     * @param Unavailable|null $away why the other claims of this call are "deferred" (STO-20)
     *
     * @internal
     */
    public function after(array $completed, ?Unavailable $away = null): static
    {
        $next = $this->withAway($away);
        foreach ($this->claims as $place => $claim) {
            if ($claim->needsGrant() && isset($completed[$claim->purchaseKey])) {
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
            $claims = array_map(
                static fn (Claim $it): Claim => $it->needsGrant() ? $it->later() : $it,
                $claims,
            );
        }

        return $claims;
    }

    /** Returns a member that depends on the outcome of the grants. */
    private function led(string $name): mixed
    {
        return match ($name) {
            'claims' => $this->claims(),
            'outcome', 'clientResult' => $this->away === null
                ? $this->lead()?->{$name} ?? $this->values()[$name] ?? null
                : ['outcome' => 'resume', 'clientResult' => 'deferred'][$name],
            'changed' => in_array(true, array_column($this->claims, 'changed'), true),
            default => parent::own($name),
        };
    }

    /** Returns the first claim that was granted by this call. */
    private function lead(): ?Claim
    {
        $place = array_key_first($this->completed);

        return $place === null ? null : $this->claims[$place];
    }
}
