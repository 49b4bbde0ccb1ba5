<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Claim;
use Assay\Ledger\ClaimResult;
use Assay\Ledger\UpdateSubscriptionsResult;

/** The results of the ledger for some evidence. */
final class Settled
{
    /** @param list<ClaimResult> $claimed empty if this account may claim none of it */
    public function __construct(
        public readonly array $claimed,
        public readonly ?UpdateSubscriptionsResult $applied,
    ) {
    }

    /** Returns one outcome for all purchases (LST-2), by which the client deletes its copy. */
    public function outcome(bool $hasTraits): Outcome
    {
        if ($this->claimed === []) {
            return new Outcome('refused-final', 409, 'other-account');
        }
        [$claim, $status] = $this->lead();
        $answer = $this->isShared($claim) ? $this->sharedAnswer() : $claim->clientResult;

        return new Outcome(
            (string) $answer,
            $answer === $claim->clientResult ? $status : 200,
            $hasTraits && $answer === 'granted'
                ? 'unconfirmed-settled' : $this->counted($claim, $answer),
            $claim->product,
            $answer === 'deferred' ? $claim->retryAfterMs ?? Answer::RETRY_MS : null,
        );
    }

    /**
     * Returns the claim that determines the outcome: a deferred purchase keeps the evidence at the
     * client, whatever the others are.
     *
     * @return array{Claim, int} the claim and its HTTP status
     */
    private function lead(): array
    {
        foreach (['deferred', 'granted', 'already-granted', null] as $answer) {
            foreach ($this->claimed as $claimed) {
                foreach ($claimed->claims as $claim) {
                    if ($claim->clientResult === $answer || $answer === null) {
                        return [$claim, $answer === 'deferred' ? 202 : $claimed->httpStatus];
                    }
                }
            }
        }
        throw new \LogicException('a claim without a purchase');
    }

    private function counted(Claim $claim, string $answer): string
    {
        return match (true) {
            $answer === 'granted' => $this->isRenewal($claim) ? 'renewed' : 'granted',
            in_array($answer, ['already-granted', 'deferred'], true) => $answer,
            in_array($claim->outcome, ['other-account', 'revoked'], true) => $claim->outcome,
            default => 'refused rejected',
        };
    }

    /** Whether the claim is of a period after the first one of its subscription. */
    private function isRenewal(Claim $claim): bool
    {
        foreach ($this->applied?->subscriptions ?? [] as $line) {
            if ($line->subscription?->transactionId === $claim->transactionId) {
                return $line->subscription->expiresAtMs !== null
                    && $line->subscription->originalTransactionId !== $claim->transactionId;
            }
        }

        return false;
    }

    /** Whether Family Sharing gave the purchase: it has a plan, but nothing to grant once. */
    private function isShared(Claim $claim): bool
    {
        $lines = array_column($this->applied?->subscriptions ?? [], 'subscription');

        return $claim->outcome === 'family-shared'
            && in_array(true, array_column($lines, 'isActive'), true);
    }

    private function sharedAnswer(): string
    {
        return $this->applied->changed ? 'granted' : 'already-granted';
    }
}
