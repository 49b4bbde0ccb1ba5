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

/** Is it genuine, and ours? The cheapest question first (FLW-1). */
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
     * The row of a receipt that this account was granted before: it needs no verification, for
     * nothing is granted by saying so (TRI-10). Only of a kind that never shows a refund: other
     * evidence of a known purchase may be news (RFD-1).
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
     * The verified evidence: what was sent, and what Apple says besides.
     *
     * @throws AssayException where it is refused
     */
    public function verified(string $evidence, Triage $finding): Proof
    {
        if ($finding->format === 'jws') {
            return new Proof([$this->verifier->verifyTransaction(trim($evidence))]);
        }

        return $this->settings->offline ? $this->apple->newer($this->offline($evidence, $finding))
            : $this->judged($evidence, $finding);
    }

    /** Sandbox purchases cost nothing: they count for testers alone, App Review among them. */
    public function isAllowed(Proof $proof, string $account): bool
    {
        $first = $proof->evidence[0];
        $facts = $first instanceof Document ? $first->facts() : $first;
        // Of a transaction each, where Apple answers with several.
        $environments = $facts instanceof AppStoreResponse
            ? array_column($facts->transactions, 'environment') : [$facts->environment];

        return array_unique($environments) === ['Production']
            || in_array($account, $this->settings->testers, true);
    }

    /** @throws AssayException where it is refused */
    private function offline(string $evidence, Triage $finding): Facts
    {
        return $finding->format === 'app-receipt'
            ? $this->verifier->verifyAppReceipt($evidence)
            : $this->verifier->verifyTransactionReceipt($evidence);
    }

    /**
     * Apple's word. 21002 is no proof of fraud: what is genuine by its signature comes again
     * (VRR-7).
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

    /** Without the database nobody knows, and a forgery is still refused by its signature. */
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
