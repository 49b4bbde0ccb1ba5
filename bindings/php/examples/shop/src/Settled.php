<?php

declare(strict_types=1);

namespace Shop;

use Assay\Store\Applied;
use Assay\Store\Claim;
use Assay\Store\Claimed;

/** What the ledger made of evidence. */
final class Settled
{
    /** @param Claimed|null $claimed null: there was nothing that this account may claim */
    public function __construct(
        public readonly ?Claimed $claimed,
        public readonly ?Applied $applied,
    ) {
    }

    /** One answer for all purchases (LST-2): the client deletes its copy by it. */
    public function outcome(bool $hasTraits): Outcome
    {
        if ($this->claimed === null) {
            return new Outcome('refused-final', 409, 'other-account');
        }
        $claim = $this->lead();
        $answer = $this->isShared($claim) ? $this->sharedAnswer() : $claim->answer;

        return new Outcome(
            (string) $answer,
            $answer === $claim->answer ? $this->claimed->httpStatus : 200,
            $hasTraits && $answer === 'granted' ? 'unconfirmed-settled' : $this->counted($claim, $answer),
            $claim->product,
            $answer === 'deferred' ? $claim->retryAfterMs ?? Answer::RETRY_MS : null,
        );
    }

    /** A purchase that has to wait keeps the evidence with the client, whatever the others did. */
    private function lead(): Claim
    {
        $claims = $this->claimed->claims;
        foreach (['deferred', 'granted', 'already-granted'] as $answer) {
            foreach ($claims as $claim) {
                if ($claim->answer === $answer) {
                    return $claim;
                }
            }
        }

        return $claims[count($claims) - 1];
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
        foreach ($this->applied?->lines ?? [] as $line) {
            if ($line->line?->transactionId === $claim->transactionId) {
                return $line->line->expiresMs !== null
                    && $line->line->originalTransactionId !== $claim->transactionId;
            }
        }

        return false;
    }

    /** Family Sharing gives a plan, but nothing that is paid out once. */
    private function isShared(Claim $claim): bool
    {
        return $claim->outcome === 'family-shared'
            && in_array(true, array_column(array_column($this->applied?->lines ?? [], 'line'), 'counts'), true);
    }

    private function sharedAnswer(): string
    {
        return $this->applied->changed ? 'granted' : 'already-granted';
    }
}
