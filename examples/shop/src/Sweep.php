<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Ledger\Claim;
use Assay\Ledger\Ledger;

/** Does what no request does: run it every minute, on as many machines as you like. */
final class Sweep
{
    private int $resumed = 0;
    private int $taken = 0;
    private int $asked = 0;
    private int $renewed = 0;

    /** After this many calls without a response the subscriptions wait for the next sweep. */
    private const UNANSWERED = 3;

    public function __construct(
        private Ledger $ledger,
        private Till $till,
        private Apple $apple,
        private Tally $tally,
        private EventLog $events,
    ) {
    }

    /** @return string a summary for the log */
    public function run(): string
    {
        $this->tally->write(0);
        $this->takes();
        $held = $this->claims();
        $this->lines();
        $this->ledger->deleteExpiredRows();
        $this->events->deleteOld();
        $waiting = $held === [] ? ''
            : '; for a person: ' . implode(', ', array_column($held, 'purchaseKey'));

        $taken = $this->taken === 0 ? '' : "; $this->taken take-backs carried out";

        return "$this->resumed claims resumed, $this->asked lines looked at,"
            . " $this->renewed with news$taken$waiting";
    }

    private function takes(): void
    {
        do {
            $due = $this->till->dueTakes();
            $this->taken += count($due->takes);
        } while ($due->hasMore);
        $this->taken += $this->till->undoRefunded();
    }

    /** @return list<Claim> claims that an operator must resolve (STO-27) */
    private function claims(): array
    {
        do {
            $due = $this->till->due();
            $this->resumed += count($due->claims);
        } while ($due->hasMore);

        return $due->held;
    }

    private function lines(): void
    {
        do {
            $due = $this->ledger->leaseDueSubscriptions();
            foreach ($due->subscriptions as $line) {
                if ($this->apple->unanswered >= self::UNANSWERED) {
                    return;
                }
                $this->asked++;
                try {
                    $state = $this->apple->state($line);
                    if ($state !== null) {
                        $this->till->renew($state, $line->account);
                        $this->renewed++;
                    }
                } catch (AssayException $refusal) {
                    // A missing response changes nothing (FLW-8); the subscription is due again.
                    Log::line('WARN', "line $line->originalTransactionId: $refusal->status");
                }
            }
        } while ($due->hasMore);
    }
}
