<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Store\Applied;
use Assay\Store\Claimed;
use Assay\Store\DueClaims;
use Assay\Store\Grant;
use Assay\Store\Ledger;
use PDO;

/**
 * Pays out what evidence proves, once, and takes back what Apple took back. With grants
 * "transaction" a purchase and its coins stand together or not at all; with "lease" the coins
 * follow the claim, and `sweep` pays what a crash left between the two.
 */
final class Till
{
    private const LASTING = ['auto-renewable', 'non-renewing', 'non-consumable'];
    /** What one claim takes (STO-25), and what a request does at most. */
    private const AT_ONCE = 64;
    private const MOST = 1024;
    private const UUID = '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i';

    public function __construct(
        private Settings $settings,
        private Ledger $ledger,
        private Wallet $wallet,
    ) {
    }

    /**
     * Who has a line is decided first: its periods are paid to nobody else (RPL-2).
     *
     * @param list<Facts|Document> $evidence
     * @param string|null $note operator and reason, of a grant by hand (LST-7)
     */
    public function settle(array $evidence, string $account, ?string $note = null): Settled
    {
        $purchases = Purchase::in($evidence);
        // An account whose id is a UUID is what the app gave StoreKit as appAccountToken.
        $token = preg_match(self::UUID, $account) === 1 ? $account : null;
        $applied = null;
        if ($this->lasts($purchases)) {
            $applied = $this->ledger->apply($evidence, $account, accountToken: $token);
        }
        if (in_array(true, array_column($purchases, 'isRevoked'), true)) {
            $this->takeBack($evidence);
        }
        $claimed = [];
        foreach ($this->parts($purchases, $applied) as $only) {
            $options = ['accountToken' => $token, 'note' => $note, 'only' => $only];
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

    /** What Apple says of a line, for whoever has it; nobody, as long as no account showed it. */
    public function renew(Document $state, ?string $account): void
    {
        (string) $account === ''
            ? $this->ledger->apply($state) : $this->settle([$state], $account);
    }

    /** What Apple took back. Safe to repeat: a crash before its end is made good by the next. */
    public function takeBack(array|Facts $evidence): void
    {
        foreach ($this->ledger->revoke($evidence)->revocations as $revoked) {
            if ($revoked->grantId !== null && $revoked->outcome !== 'not-revoked') {
                $this->wallet->takeBack($revoked->grantId);
            }
        }
    }

    /** A refund that Apple reversed: for whoever has the purchase. */
    public function giveBack(Facts $notification): void
    {
        $this->undone($this->ledger->claim(
            $notification,
            null,
            $this->pay(...),
            $this->settings->grants,
        ));
    }

    /** A claim that nobody completed, by its key. */
    public function resume(string $purchaseKey, string $account, string $note): Claimed
    {
        return $this->undone($this->ledger->resume(
            $purchaseKey,
            $account,
            $this->pay(...),
            options: ['note' => $note],
        ));
    }

    /**
     * Pays claims whose lease is over, at most 25. One that cannot be paid comes again, and does
     * not keep the others waiting.
     */
    public function due(): DueClaims
    {
        $due = $this->ledger->due();
        foreach ($due->grants() as $grant) {
            try {
                $this->pay($grant);
                if ($this->ledger->complete($grant)->outcome === 'revoked') {
                    $this->wallet->takeBack($grant->grantId);
                }
            } catch (\RuntimeException $fault) {
                Log::line('ERROR', "$grant->purchaseKey is not paid: " . $fault::class);
            }
        }

        return $due;
    }

    /**
     * What has neither coins nor a place in the catalogue is not paid out as nothing: it stays
     * claimed until the configuration knows it again.
     */
    private function pay(Grant $grant, ?PDO $pdo = null): void
    {
        if (!isset($this->settings->goods[$grant->product]) && $this->settings->type($grant->product) === null) {
            throw new \UnexpectedValueException("the catalogue lacks $grant->product");
        }
        $this->wallet->pay($grant, $pdo);
    }

    /** A refund may come between a grant and its completion: nothing of it stays. */
    private function undone(Claimed $claimed): Claimed
    {
        foreach ($claimed->claims as $claim) {
            if ($claim->outcome === 'revoked' && $claim->grantId !== null) {
                $this->wallet->takeBack($claim->grantId);
            }
        }

        return $claimed;
    }

    /** @param list<Purchase> $purchases */
    private function lasts(array $purchases): bool
    {
        $types = array_map($this->settings->type(...), array_column($purchases, 'product'));

        return array_intersect($types, self::LASTING) !== [];
    }

    /**
     * The transactions to claim, in parts that one claim takes, newest first. What stands on a
     * line that another account has is left out. Null: all of the evidence.
     *
     * @param list<Purchase> $purchases
     *
     * @return list<list<string>|null>
     */
    private function parts(array $purchases, ?Applied $applied): array
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
    private static function foreignLines(array $purchases, ?Applied $applied): array
    {
        $newest = [];
        foreach ($applied?->lines ?? [] as $line) {
            if ($line->outcome === 'other-account') {
                $newest[] = $line->transactionId;
            }
        }
        $on = array_filter(
            $purchases,
            static fn (Purchase $it): bool => in_array($it->transactionId, $newest, true),
        );

        return array_column($on, 'line');
    }
}
