<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\Facts;
use Assay\Sender;
use Assay\Store\Ledger;
use Assay\Store\Line;

/** What only Apple knows: asked for seldom, and never needed to see that something is genuine. */
final class Apple
{
    private const NEAR_MS = 86_400_000;
    /** A request does not wait longer than this for a second try. */
    private const PATIENCE_S = 1.5;
    private const HOUR_MS = 3_600_000;

    public function __construct(
        private Settings $settings,
        private Ledger $ledger,
        private Sender $sender,
    ) {
    }

    /**
     * The current state of a subscription whose end is near or past, where there is a shared
     * secret to ask with; once an hour for a line, whatever is sent how often.
     */
    public function newer(Facts $receipt): ?Document
    {
        $line = $this->ending($receipt);
        if ($line === null || !isset($this->settings->verifier->receipts->sharedSecrets)) {
            return null;
        }
        if (!$this->ledger->once("ASK#$line#" . intdiv(Clock::ms(), self::HOUR_MS))) {
            return null;
        }

        return $this->ask(['kind' => 'verifyReceipt'], $receipt);
    }

    /** Apple's word on a receipt, where offline verification is switched off. */
    public function judged(string $receipt): Document
    {
        $request = ['kind' => 'verifyReceipt', 'receipt' => $receipt];
        $document = $this->ledger->verifier->exchange($request)->run($this->sender, self::PATIENCE_S);
        $document->throwIfRefused();

        return $document;
    }

    /** What became of a line: by the App Store Server API, else by a receipt that was kept. */
    public function state(Line $line): ?Document
    {
        if (isset($this->settings->verifier->appStoreServerApi)) {
            return $this->ask(['kind' => 'appstore.subscription-statuses',
                'environment' => $line->environment,
                'transactionId' => $line->originalTransactionId]);
        }
        if (!($this->settings->verifier->stores->keepEvidence ?? false)) {
            return null;
        }
        $kept = $this->ledger->evidence([$line->evidence])->evidence[0] ?? null;
        $form = $kept === null ? null : $this->ledger->verifier->triage($kept->text)->form;

        return in_array($form, ['transaction-receipt', 'app-receipt'], true)
            ? $this->ask(['kind' => 'verifyReceipt', 'receipt' => $kept->text]) : null;
    }

    /** The purchases of an order number in Apple's mail (LST-6); null: none, or no key to ask. */
    public function order(string $orderId): ?Document
    {
        $found = isset($this->settings->verifier->appStoreServerApi)
            ? $this->ask(['kind' => 'appstore.order-lookup', 'environment' => 'Production',
                'orderId' => $orderId]) : null;

        return ($found?->at('exchange.result.transactions') ?? []) === [] ? null : $found;
    }

    /** Null: no answer that says anything; what is known stays as it was (FLW-8). */
    private function ask(array $request, ?Facts $evidence = null): ?Document
    {
        $document = $this->ledger->verifier->exchange($request, $evidence ?? [])
            ->run($this->sender, self::PATIENCE_S);
        if (!$document->ok) {
            error_log("[WARN] {$request['kind']}: {$document->status()}");
        }

        return $document->ok ? $document : null;
    }

    /** The line that is to end within a day, or has ended, by what the receipt shows. */
    private function ending(Facts $receipt): ?string
    {
        $ends = [];
        foreach (Purchase::in([$receipt]) as $purchase) {
            if ($this->settings->type($purchase->product) === 'auto-renewable') {
                $ends[$purchase->line] = max($ends[$purchase->line] ?? 0, (int) $purchase->expiresMs);
            }
        }
        $near = array_filter($ends, static fn (int $end): bool => $end < Clock::ms() + self::NEAR_MS);

        return $near === [] ? null : (string) array_key_first($near);
    }
}
