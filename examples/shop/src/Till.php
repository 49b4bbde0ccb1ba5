<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Ledger\ApplyEventResult;
use Assay\Ledger\Claim;
use Assay\Ledger\ClaimResult;
use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Ledger\ResumeExpiredResult;
use Assay\Ledger\ResumeExpiredRevocationsResult;
use Assay\Ledger\ResumeResult;
use Assay\Ledger\Take;
use Assay\Ledger\UpdateSubscriptionsResult;
use PDO;

/**
 * Grants what evidence proves, once, and takes back exactly what the ledger returns (BCK-41). With
 * grants "transaction" a purchase and its coins are committed together or not at all; with "lease"
 * the coins follow the ledger, and `sweep` completes what a crash left between the two.
 */
final class Till
{
    private const LASTING = ['auto-renewable', 'non-renewing', 'non-consumable'];
    /** The limit of purchases of one claim (STO-25), and the limit of one request. */
    private const AT_ONCE = 64;
    private const MOST = 1024;
    private const UUID = '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i';

    /** @var (\Closure(PDO, Grant, string): void)|null */
    private ?\Closure $audit = null;

    public function __construct(
        private Settings $settings,
        private Ledger $ledger,
        private Wallet $wallet,
    ) {
    }

    /**
     * Returns a till whose payments are an operator's: `audit` writes each in its transaction.
     *
     * @param \Closure(PDO, Grant, string): void $audit
     */
    public function audited(\Closure $audit): self
    {
        $till = clone $this;
        $till->audit = $audit;

        return $till;
    }

    /**
     * Grants the purchases of evidence. The owner of a subscription is determined first: no other
     * account gets its periods (RPL-2).
     *
     * @param list<Facts|Document> $evidence
     * @param string|null $note operator and reason of a grant by hand (LST-7)
     */
    public function settle(array $evidence, string $account, ?string $note = null): Settled
    {
        $purchases = Purchase::in($evidence);
        // An account whose id is a UUID is the appAccountToken that the app gave StoreKit.
        $token = preg_match(self::UUID, $account) === 1 ? $account : null;
        if (in_array(true, array_column($purchases, 'isRevoked'), true)) {
            $this->ledger->revoke($evidence, $this->takeBack(...), $this->settings->grants);
        }
        $applied = null;
        if ($this->lasts($purchases)) {
            $applied = $this->ledger->updateSubscriptions($evidence, $account, accountToken: $token);
        }
        $claimed = [];
        foreach ($this->parts($purchases, $applied) as $only) {
            $options = ['accountToken' => $token, 'note' => $note, 'transactionIds' => $only];
            $claimed[] = $this->undone($this->ledger->claim(
                $evidence,
                $account,
                $this->pay(...),
                $this->settings->grants,
                options: array_filter($options, static fn (mixed $it): bool => $it !== null),
            ));
        }

        return new Settled($claimed, $applied);
    }

    /** Applies Apple's state of a subscription, for its owner if an account has claimed it. */
    public function renew(Document $state, ?string $account): void
    {
        (string) $account === ''
            ? $this->happened($state, 'a line of nobody') : $this->settle([$state], $account);
    }

    /**
     * Applies what Apple sends by itself: refunds and their reversals, renewals (STO-34). Each part
     * is independent (BCK-42) and may be repeated: the next delivery completes what a crash left.
     *
     * @param string $what name of the evidence in the log
     */
    public function happened(Facts|Document $evidence, string $what): ApplyEventResult
    {
        // Under a lease `delivered` completes the grant, and handles a late completion.
        $grant = $this->isLease() ? null : $this->pay(...);
        $event = $this->ledger->applyEvent(
            $evidence,
            $grant,
            $this->takeBack(...),
            $this->settings->grants,
        );
        foreach ($event->refused as $part) {
            // A product that the catalogue lacks, for example: a repetition would not help.
            Log::line('WARN', "$what: $part->at $part->transactionId: $part->status");
        }
        array_map($this->delivered(...), self::ours($event->give));

        return $event;
    }

    /** Resumes a claim that was not completed, by its key. */
    public function resume(string $purchaseKey, string $account, string $note): ResumeResult
    {
        return $this->undone($this->ledger->resume(
            $purchaseKey,
            $account,
            $this->pay(...),
            options: ['note' => $note],
        ));
    }

    /**
     * Grants at most 25 claims whose lease has expired. A claim that cannot be granted becomes due
     * again, and does not delay the others.
     */
    public function due(): ResumeExpiredResult
    {
        $due = $this->ledger->resumeExpired();
        foreach (self::ours($due->claims) as $claim) {
            $this->tried($claim->purchaseKey, fn () => $this->delivered($claim));
        }

        return $due;
    }

    /** Undoes payments that a refund overtook, and returns their number. */
    public function undoRefunded(): int
    {
        return $this->wallet->undoRefunded();
    }

    /** Takes back, as `due` grants, what was not completed in time (STO-35). */
    public function dueTakes(): ResumeExpiredRevocationsResult
    {
        $due = $this->ledger->resumeExpiredRevocations();
        foreach ($due->takes as $take) {
            $this->tried($take->purchaseKey, function () use ($take): void {
                $this->wallet->takeBack($take);
                $this->ledger->completeRevocation($take);
            });
        }

        return $due;
    }

    private function tried(string $purchaseKey, \Closure $what): void
    {
        try {
            $what();
        } catch (\RuntimeException $fault) {
            Log::line('ERROR', "$purchaseKey has to wait: " . $fault::class);
        }
    }

    /**
     * Grants a purchase. A product with neither coins nor an entry in the catalogue is an error, so
     * that the purchase stays claimed until the configuration has the product again.
     */
    private function pay(Grant $grant, ?PDO $pdo = null): void
    {
        if (!isset($this->settings->goods[$grant->product]) && $this->settings->type($grant->product) === null) {
            throw new \UnexpectedValueException("the catalogue lacks $grant->product");
        }
        $this->wallet->pay($grant, $pdo, $this->audit);
    }

    private function takeBack(Take $take, PDO $pdo): void
    {
        $this->wallet->takeBack($take, $pdo);
    }

    private function isLease(): bool
    {
        return $this->settings->grants === 'lease';
    }

    /** Grants a claim that this process holds under a lease, and completes it. */
    private function delivered(Claim $claim): void
    {
        $grant = Grant::of($claim->payload());
        $this->pay($grant);
        $this->undoneIf($this->ledger->complete($grant)->outcome, $claim);
    }

    /**
     * Undoes the payments of claims that could not be completed.
     *
     * @template R of ClaimResult|ResumeResult
     *
     * @param R $claimed
     *
     * @return R
     */
    private function undone(ClaimResult|ResumeResult $claimed): ClaimResult|ResumeResult
    {
        foreach ($claimed->claims as $claim) {
            $this->undoneIf($claim->outcome, $claim);
        }

        return $claimed;
    }

    /**
     * Undoes the payment of a claim that a refund, and perhaps its reversal, overtook before its
     * completion. If another request pays under the same grant id, that payment is this one.
     *
     * @param Claim $claim has a grant id if it was handed out
     */
    private function undoneIf(string $outcome, Claim $claim): void
    {
        $isOver = $outcome === 'revoked'
            || $outcome === 'superseded' && $this->newestGrantId($claim) !== $claim->grantId;
        if ($claim->grantId !== null && $isOver) {
            $this->wallet->undo(Grant::of($claim->payload()));
        }
    }

    private function newestGrantId(Claim $claim): ?string
    {
        $rows = $this->ledger->find(
            environment: (string) strstr($claim->purchaseKey, '/', true),
            transactionId: $claim->transactionId,
            operatorView: true,
        )->rows;

        return ($rows[0] ?? null)?->grantId;
    }

    /**
     * @param list<Claim> $claims
     *
     * @return list<Claim> the claims that need a grant
     */
    private static function ours(array $claims): array
    {
        return array_values(array_filter($claims, static fn (Claim $it): bool => $it->needsGrant()));
    }

    /** @param list<Purchase> $purchases */
    private function lasts(array $purchases): bool
    {
        $types = array_map($this->settings->type(...), array_column($purchases, 'product'));

        return array_intersect($types, self::LASTING) !== [];
    }

    /**
     * Returns the transactions to claim, newest first, in parts of one claim each, without those of
     * subscriptions that another account owns. Null means all of the evidence.
     *
     * @param list<Purchase> $purchases
     *
     * @return list<list<string>|null>
     */
    private function parts(array $purchases, ?UpdateSubscriptionsResult $applied): array
    {
        $foreign = self::foreignLines($purchases, $applied);
        $ids = [];
        usort($purchases, static fn (Purchase $a, Purchase $b): int => $b->boughtMs <=> $a->boughtMs);
        foreach ($purchases as $purchase) {
            if ($purchase->transactionId !== null && !in_array($purchase->line, $foreign, true)) {
                $ids["$purchase->transactionId "] = $purchase->transactionId;
            }
        }

        return $foreign === [] && count($ids) <= self::AT_ONCE ? [null]
            : array_chunk(array_slice(array_values($ids), 0, self::MOST), self::AT_ONCE);
    }

    /**
     * @param list<Purchase> $purchases
     *
     * @return list<string|null>
     */
    private static function foreignLines(array $purchases, ?UpdateSubscriptionsResult $applied): array
    {
        $newest = [];
        foreach ($applied?->subscriptions ?? [] as $line) {
            if ($line->outcome === 'other-account') {
                $newest[] = $line->transactionId;
            }
        }
        $on = array_filter(
            $purchases,
            static fn (Purchase $it): bool => in_array($it->transactionId, $newest, true),
        );

        return array_column($on, 'subscription');
    }
}
