<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Facts\AppStoreResponse;
use Assay\Facts\Facts;
use Assay\Facts\Triage;
use Assay\Ledger\Ledger;
use Assay\Ledger\LedgerPurchase as Row;
use Assay\Verifier;
use PDOException;

/** Checks whether evidence is genuine and of this shop, the cheapest check first (FLW-1). */
final class Judge
{
    /** @param \Closure(): Ledger $ledger opens the database */
    public function __construct(
        private Settings $settings,
        private Verifier $verifier,
        private \Closure $ledger,
        private Apple $apple,
    ) {
    }

    /**
     * Returns the row of a transaction receipt that this account was granted before. It needs no
     * verification, because the response grants nothing (TRI-10). Other kinds of evidence may
     * contain a refund of a known purchase (RFD-1).
     */
    public function repeated(Triage $finding, string $account): ?Row
    {
        $claimed = $finding->unverified;
        $known = $finding->format === 'transaction-receipt' && $claimed->environment !== null
            && preg_match('/^[0-9]{14,20}$/', (string) $claimed->transactionId) === 1
            && $this->settings->type($claimed->productId) === 'consumable';
        $row = $known ? $this->known($account, $claimed->environment, $claimed->transactionId) : null;

        return $row?->state === 'granted' && $row->isOwn ? $row : null;
    }

    /**
     * Returns the verified evidence: what was sent, and Apple's response if there is one.
     *
     * @throws AssayException if the evidence is refused
     */
    public function verified(string $evidence, Triage $finding): Proof
    {
        if ($finding->format === 'jws') {
            return new Proof([$this->verifier->verifyTransaction(trim($evidence))]);
        }

        return $this->settings->offline ? $this->apple->newer($this->offline($evidence, $finding))
            : $this->judged($evidence, $finding);
    }

    /** Whether the evidence counts: Sandbox purchases are free, and only for testers. */
    public function isAllowed(Proof $proof, string $account): bool
    {
        $first = $proof->evidence[0];
        $facts = $first instanceof Document ? $first->facts() : $first;
        // A response of Apple may have several transactions.
        $environments = $facts instanceof AppStoreResponse
            ? array_column($facts->transactions, 'environment') : [$facts->environment];

        return array_unique($environments) === ['Production']
            || in_array($account, $this->settings->testers, true);
    }

    /** @throws AssayException if the evidence is refused */
    private function offline(string $evidence, Triage $finding): Facts
    {
        return $finding->format === 'app-receipt'
            ? $this->verifier->verifyAppReceipt($evidence)
            : $this->verifier->verifyTransactionReceipt($evidence);
    }

    /**
     * Returns Apple's verification. Status 21002 is no proof of fraud: if the signature is genuine,
     * the client retries (VRR-7).
     */
    private function judged(string $evidence, Triage $finding): Proof
    {
        try {
            return $this->apple->judged($evidence);
        } catch (Rejected $refusal) {
            if ($refusal->status !== 'rejected.verify-receipt.malformed') {
                throw $refusal;
            }
            $this->offline($evidence, $finding);

            return new Proof([], true);
        }
    }

    /** Returns the row of a purchase; null without the database: verification follows. */
    private function known(string $account, string $environment, string $transactionId): ?Row
    {
        try {
            return ($this->ledger)()->find(
                account: $account,
                environment: $environment,
                transactionId: $transactionId,
            )->rows[0] ?? null;
        } catch (PDOException | Unavailable) {
            return null;
        }
    }
}
