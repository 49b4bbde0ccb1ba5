<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Facts\Facts;
use Assay\Ledger\DueSubscription;
use Assay\Ledger\Ledger;
use Assay\Sender;
use Assay\Verifier;

/**
 * What only Apple knows: asked for seldom, and never needed to see that something is genuine.
 * While Apple is silent the customers who need no answer of its are served as always (BCK-43).
 */
final class Apple
{
    /** A question in a request has this time. */
    public const MAX_WAIT_MS = 2000;
    /** So many requests of this machine wait for Apple: half the workers of server/fpm.conf. */
    private const AT_ONCE = 2;
    /** After so many questions in silence nobody waits for so long, and then one at once. */
    private const SILENCES = 2;
    private const SILENCE_S = 30;
    private const NEAR_MS = 86_400_000;
    private const HOUR_MS = 3_600_000;
    /** What says nothing of the evidence: no answer, one of a proxy, or one to a wrong request. */
    private const NO_ANSWER = '/^(unavailable|pending|internal|misuse)\.'
        . '|^(malformed|too-large|unsupported)\.(verify-receipt|app-store)\.'
        . '|^rejected\.verify-receipt\.(http|request|secret|internal)$'
        . '|^rejected\.app-store\.(bad-request|forbidden|unauthorized|inconsistent|partial)$/';

    /** Questions without a usable answer, one after the other. */
    public int $unanswered = 0;

    /** @param \Closure(): Ledger $ledger opens the database */
    public function __construct(
        private Settings $settings,
        private Verifier $verifier,
        private \Closure $ledger,
        private Sender $sender,
        private Shared $shared,
        private int $maxWaitMs = self::MAX_WAIT_MS,
    ) {
    }

    /** Whether a status is none of Apple's word on the evidence. */
    public static function isNoAnswer(string $status): bool
    {
        return preg_match(self::NO_ANSWER, $status) === 1;
    }

    /**
     * A receipt, and the current state of its subscription where the end is near or past and
     * there is a shared secret to ask with: one answer an hour for a line, whatever is sent how
     * often. A question without a usable answer gives its unit back (BCK-43).
     */
    public function newer(Facts $receipt): Proof
    {
        $line = $this->ending($receipt);
        if ($line === null || !isset($this->settings->verifier->receipts->sharedSecrets)) {
            return new Proof([$receipt]);
        }
        $ledger = ($this->ledger)();
        try {
            // A bucket of the hour: its number is part of the scope.
            $scope = "ASK#$line#" . intdiv(Clock::ms(), self::HOUR_MS);
            $ticket = $ledger->consumeQuota($scope, Settings::ASKED, $this->settings->plan())->ticket;
        } catch (Rejected) {
            return new Proof([$receipt]);
        }
        $found = null;
        try {
            $found = $this->asked(['operation' => 'call-verify-receipt'], $receipt);
        } finally {
            $found === null && $this->giveBack($ledger, (string) $ticket);
        }

        return $found?->ok ? new Proof([$receipt, $found]) : new Proof([$receipt], $found === null);
    }

    /**
     * Apple's word on a receipt, where offline verification is switched off.
     *
     * @throws AssayException where Apple refuses it
     */
    public function judged(string $receipt): Proof
    {
        $document = $this->asked(['operation' => 'call-verify-receipt', 'receipt' => $receipt]);
        $document?->throwIfFailed();

        return $document === null ? new Proof([], true) : new Proof([$document]);
    }

    /** What became of a line: by the App Store Server API, else by a receipt that was kept. */
    public function state(DueSubscription $line): ?Document
    {
        $found = null;
        if ($this->hasKey()) {
            $found = $this->asked(['operation' => 'get-all-subscription-statuses',
                'environment' => $line->environment,
                'transactionId' => $line->originalTransactionId]);
        } elseif ($this->settings->verifier->ledger->keepEvidence ?? false) {
            $kept = ($this->ledger)()->getEvidence([$line->evidence])->evidence[0] ?? null;
            $form = $kept === null ? null : $this->verifier->triage($kept->text)->format;
            $found = in_array($form, ['transaction-receipt', 'app-receipt'], true)
                ? $this->asked(['operation' => 'call-verify-receipt', 'receipt' => $kept->text]) : null;
        }

        return $found?->ok ? $found : null;
    }

    /** Whether there is a key for the App Store Server API. */
    public function hasKey(): bool
    {
        return isset($this->settings->verifier->appStoreServerApi);
    }

    /** The purchases of an order number in Apple's mail (LST-6); null: no usable answer. */
    public function order(string $orderId): ?Document
    {
        return $this->asked(['operation' => 'look-up-order-id', 'environment' => 'Production',
            'orderId' => $orderId]);
    }

    /** Null: no usable answer; what is known stays as it was (FLW-8). A refusal is an answer. */
    private function asked(array $request, ?Facts $evidence = null): ?Document
    {
        $turn = $this->turn();
        if ($turn === null) {
            Log::line('WARN', "{$request['operation']}: not asked, Apple is silent or busy with others");

            return null;
        }
        $question = new Question($this->sender, $this->maxWaitMs);
        $document = $question->put($this->verifier->exchange($request, $evidence ?? []));
        is_resource($turn) && fclose($turn);
        $isUsable = $document->ok || !self::isNoAnswer($document->status());
        $question->wasSilent ? $this->shared->mark('silence')
            : ($isUsable && $this->shared->clear('silence'));
        $this->unanswered = $isUsable ? 0 : $this->unanswered + 1;
        $document->ok || Log::line('WARN', "{$request['operation']}: {$document->status()}");

        return $isUsable ? $document : null;
    }

    /**
     * The right to wait for Apple, until it is closed. Who has a time of its own needs none: the
     * sweep holds up nobody.
     *
     * @return resource|true|null
     */
    private function turn()
    {
        if ($this->maxWaitMs > self::MAX_WAIT_MS || !$this->shared->isThere()) {
            return true;
        }
        [$silences, $ago] = $this->shared->marks('silence');
        $isSilent = $silences >= self::SILENCES;
        if ($isSilent && $ago < self::SILENCE_S) {
            return null;
        }
        $most = $isSilent ? 1 : self::AT_ONCE;
        for ($number = 0, $turn = null; $number < $most && $turn === null; $number++) {
            $turn = $this->shared->locked("turn$number", false);
        }

        return $turn;
    }

    /** At most once: a unit too few is a later answer, nothing else. */
    private function giveBack(Ledger $ledger, string $ticket): void
    {
        try {
            $ledger->releaseQuota($ticket);
        } catch (AssayException $refusal) {
            Log::line('WARN', "a question is not given back: $refusal->status");
        }
    }

    /** The line that is to end within a day, or has ended, by what the receipt shows. */
    private function ending(Facts $receipt): ?string
    {
        $ends = [];
        foreach (Purchase::in([$receipt]) as $purchase) {
            if ($this->settings->type($purchase->product) === 'auto-renewable') {
                $ends[$purchase->line] = max($ends[$purchase->line] ?? 0, (int) $purchase->expiresAtMs);
            }
        }
        $near = array_filter($ends, static fn (int $end): bool => $end < Clock::ms() + self::NEAR_MS);

        return $near === [] ? null : (string) array_key_first($near);
    }
}
