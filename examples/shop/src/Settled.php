<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Claim;
use Assay\Ledger\ClaimResult;
use Assay\Ledger\UpdateSubscriptionsResult;

/** What the ledger made of evidence. */
final class Settled
{
    /** @param list<ClaimResult> $claimed none: there was nothing that this account may claim */
    public function __construct(
        public readonly array $claimed,
        public readonly ?UpdateSubscriptionsResult $applied,
    ) {
    }

    /** One answer for all purchases (LST-2): the client deletes its copy by it. */
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
     * A purchase that has to wait keeps the evidence with the client, whatever the others did.
     *
     * @return array{Claim, int} with its HTTP status
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

    /** A period after the first one of its line. */
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

    /** Family Sharing gives a plan, but nothing that is paid out once. */
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
