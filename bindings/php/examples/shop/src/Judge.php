<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Facts\Facts;
use Assay\Facts\Triage;
use Assay\Store\Ledger;
use Assay\Store\Purchase as Row;
use Assay\Verifier;

/** Is it genuine, and ours? The cheapest question first (FLW-1). */
final class Judge
{
    private Verifier $verifier;

    public function __construct(
        private Settings $settings,
        private Ledger $ledger,
        private Apple $apple,
    ) {
        $this->verifier = $ledger->verifier;
    }

    /** What was sent: no cryptography, no store, no network. */
    public function look(string $evidence): Triage
    {
        return $this->verifier->triage($evidence);
    }

    /**
     * The row of a receipt that this account was granted before: it needs no verification, for
     * nothing is granted by saying so (TRI-10). Only of a kind that never shows a refund: other
     * evidence of a known purchase may be news (RFD-1).
     */
    public function repeated(Triage $finding, string $account): ?Row
    {
        $claimed = $finding->claimed;
        $known = $finding->form === 'transaction-receipt' && $claimed->environment !== null
            && preg_match('/^[0-9]{14,20}$/', (string) $claimed->transactionId) === 1
            && $this->settings->type($claimed->productId) === 'consumable';
        $row = $known ? $this->ledger->lookup(
            account: $account,
            environment: $claimed->environment,
            transactionId: $claimed->transactionId,
        )->rows[0] ?? null : null;

        return $row?->state === 'granted' && $row->isAccounts ? $row : null;
    }

    /**
     * The verified evidence: what was sent, and what Apple says besides.
     *
     * @return list<Facts|Document>
     *
     * @throws AssayException where it is refused
     */
    public function verified(string $evidence, Triage $finding): array
    {
        if ($finding->form === 'jws') {
            return [$this->verifier->verifyTransaction(trim($evidence))];
        }
        if (!$this->settings->offline) {
            return [$this->apple->judged($evidence)];
        }
        $receipt = $finding->form === 'app-receipt'
            ? $this->verifier->verifyAppReceipt($evidence)
            : $this->verifier->verifyTransactionReceipt($evidence);
        $newer = $this->apple->newer($receipt);

        return $newer === null ? [$receipt] : [$receipt, $newer];
    }

    /** Sandbox purchases cost nothing: they count for testers alone, App Review among them. */
    public function isAllowed(array $evidence, string $account): bool
    {
        $facts = $evidence[0] instanceof Document ? $evidence[0]->facts() : $evidence[0];

        return $facts->environment === 'Production'
            || in_array($account, $this->settings->testers, true);
    }
}
