<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Facts\Facts;
use Assay\Ledger\DueSubscription;
use Assay\Ledger\Ledger;
use Assay\Verifier;

/**
 * Fetches what only Apple knows, rarely, and never to verify that evidence is genuine. While Apple
 * does not respond, customers who do not need its response are served as always (BCK-43).
 */
final class Apple
{
    /** The time limit of Apple's responses within one request, in milliseconds. */
    public const MAX_WAIT_MS = 2000;
    /**
     * The limit of requests of this machine that wait for Apple: half of server/fpm.conf's workers.
     */
    private const AT_ONCE = 2;
    /** After this many calls without a response none is made for SILENCE_S, then one at a time. */
    private const SILENCES = 2;
    private const SILENCE_S = 30;
    private const NEAR_MS = 86_400_000;
    private const HOUR_MS = 3_600_000;
    /** Statuses that do not concern the evidence: no response, a proxy's, a wrong request's. */
    private const NO_ANSWER = '/^(unavailable|pending|internal|misuse)\.'
        . '|^(malformed|too-large|unsupported)\.(verify-receipt|app-store)\.'
        . '|^rejected\.verify-receipt\.(http|request|secret|internal)$'
        . '|^rejected\.app-store\.(bad-request|forbidden|unauthorized|inconsistent|partial)$/';

    /** The number of consecutive calls without a usable response. */
    public int $unanswered = 0;

    /**
     * @param \Closure(): Ledger $ledger opens the database
     * @param \Closure(array<string, mixed>): array<string, mixed> $send runs an HTTP step
     */
    public function __construct(
        private Settings $settings,
        private Verifier $verifier,
        private \Closure $ledger,
        private \Closure $send,
        private Shared $shared,
        private int $maxWaitMs = self::MAX_WAIT_MS,
    ) {
    }

    /** Whether a status has no information of Apple about the evidence. */
    public static function isNoAnswer(string $status): bool
    {
        return preg_match(self::NO_ANSWER, $status) === 1;
    }

    /**
     * Returns a receipt and, if its subscription ends soon or has ended and a shared secret is
     * configured, Apple's current state of it. Apple is asked once an hour for a subscription,
     * whatever is sent how often; a call without a usable response releases its unit (BCK-43).
     */
    public function newer(Facts $receipt): Proof
    {
        $line = $this->ending($receipt);
        if ($line === null || !isset($this->settings->verifier->receipts->sharedSecrets)) {
            return new Proof([$receipt]);
        }
        $ledger = ($this->ledger)();
        try {
            // A quota for the hour, whose number is part of the account's name.
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
     * Returns Apple's response to a receipt, for shops that do not verify offline.
     *
     * @throws AssayException if Apple refuses the receipt
     */
    public function judged(string $receipt): Proof
    {
        $document = $this->asked(['operation' => 'call-verify-receipt', 'receipt' => $receipt]);
        $document?->throwIfFailed();

        return $document === null ? new Proof([], true) : new Proof([$document]);
    }

    /** Fetches a subscription's state: by the App Store Server API, else by a stored receipt. */
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

    /** Whether a key for the App Store Server API is configured. */
    public function hasKey(): bool
    {
        return isset($this->settings->verifier->appStoreServerApi);
    }

    /** Returns the purchases of an order number in Apple's mail (LST-6); null if unavailable. */
    public function order(string $orderId): ?Document
    {
        return $this->asked(['operation' => 'look-up-order-id', 'environment' => 'Production',
            'orderId' => $orderId]);
    }

    /**
     * Sends the answer to a question of Apple's, and returns the status with which that ended.
     *
     * @param array<string, mixed> $request that of `assess-refund`
     */
    public function say(array $request): string
    {
        try {
            return (new Question($this->send, $this->maxWaitMs))->put($this->verifier->exchange($request))->status();
        } catch (AssayException $fault) {
            return $fault->status;
        }
    }

    /** Runs an exchange; null without a usable response, which changes nothing (FLW-8). */
    private function asked(array $request, ?Facts $evidence = null): ?Document
    {
        $turn = $this->turn();
        if ($turn === null) {
            Log::line('WARN', "{$request['operation']}: not asked, Apple is silent or busy with others");

            return null;
        }
        $question = new Question($this->send, $this->maxWaitMs);
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
     * Returns the right to wait for Apple, held until it is closed. A caller with its own time
     * limit needs none, because the sweep delays no customer.
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

    /** Releases a unit at most once: a unit too few only delays the next call. */
    private function giveBack(Ledger $ledger, string $ticket): void
    {
        try {
            $ledger->releaseQuota($ticket);
        } catch (AssayException $refusal) {
            Log::line('WARN', "a question is not given back: $refusal->status");
        }
    }

    /** Returns the receipt's subscription that ends within a day or has ended; null if none. */
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
