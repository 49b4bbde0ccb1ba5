<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Facts\Notification;
use Assay\Facts\RefundAnswer;
use Assay\Ledger\RefundCase;

/**
 * Keeps Apple's questions about refunds, and answers them: what the rules say of the case and of what
 * `RefundHooks` knows.
 */
final class Refunds
{
    /** The time for which a case is this process's; one that dies delays it for as long. */
    private const LEASE_MS = 600_000;
    /** After this many answers in sequence that Apple did not take the others wait for the next run. */
    private const UNANSWERED = 3;
    /** A case is not closed by these: the key is ours to mend, and then it is sent. */
    private const OURS = '/^(config|misuse|internal)\.|^rejected\.app-store\.(unauthorized|forbidden)$/';

    /** The number of cases that a person has to look at. */
    public int $failed = 0;
    /** The number of cases that come again. */
    public int $waiting = 0;
    private int $unanswered = 0;

    public function __construct(private Shop $shop)
    {
    }

    /** Keeps a question before Apple hears 200; what no answer could be about is only logged. */
    public function asked(Notification $notification): void
    {
        try {
            $this->shop->ledger()->openRefund($notification);
        } catch (Rejected $refusal) {
            Log::line('WARN', "question $notification->notificationUuid: $refusal->status");
        }
    }

    /**
     * Answers what is open, those with less time first, and yields a line about each. Two that answer
     * at once send the same, and Apple takes it twice (RFA-3).
     *
     * @return iterable<string>
     */
    public function run(): iterable
    {
        do {
            $due = $this->shop->ledger()->leaseDueRefunds(leaseMs: self::LEASE_MS);
            foreach ($due->refunds as $case) {
                if ($this->unanswered >= self::UNANSWERED) {
                    return;
                }
                yield "$case->environment  $case->transactionId  $case->productId  " . self::left($case)
                    . '  ' . $this->answered($case);
            }
        } while ($due->hasMore);
    }

    /**
     * Returns what is said of an open case at this moment.
     *
     * @throws \Throwable what a hook throws
     */
    public function assessed(RefundCase $case): RefundAnswer
    {
        $hooks = $this->shop->refundHooks();
        $purchase = (array) $case->purchase;
        if ($case->account !== null && $this->shop->plan($case->account) === null) {
            // A parent has withdrawn consent, or a person has restricted the account.
            $purchase['isRestricted'] = true;
        }
        $known = ['consent' => $hooks->consent($case), 'usage' => $hooks->usage($case)];

        return $this->shop->verifier()->assessRefund(
            $purchase,
            array_filter($known, static fn (?array $it): bool => $it !== null),
        );
    }

    /** @return iterable<RefundCase> those that are open, the oldest first */
    public function open(): iterable
    {
        yield from $this->cases('open');
    }

    /** @return iterable<RefundCase> those of a time that are closed, the oldest first */
    public function closed(int $fromMs, int $toMs): iterable
    {
        yield from $this->cases('closed', $fromMs, $toMs);
    }

    /** Returns the time that is left for an answer: "11 h 58 min left". */
    public static function left(RefundCase $case): string
    {
        $minutes = intdiv($case->dueAtMs - Clock::ms(), 60_000);

        return $minutes < 0 ? 'too late' : intdiv($minutes, 60) . ' h ' . $minutes % 60 . ' min left';
    }

    /** Returns what became of an answer: sent, nothing was to be sent, or the case stays open. */
    private function answered(RefundCase $case): string
    {
        try {
            $answer = $this->assessed($case);
        } catch (\Throwable $fault) {
            Log::fault($fault);
            $this->failed++;

            return 'stays open: ' . ($fault instanceof AssayException ? $fault->status : $fault::class);
        }
        $status = $answer->request === null ? null : $this->shop->apple(Shop::SWEEP_PATIENCE_MS)
            ->say((array) $answer->request);
        if ($status !== null && preg_match(self::OURS, $status) === 1) {
            $this->failed++;

            return "stays open: $status";
        }
        $settled = $this->shop->ledger()->settleRefund($case->environment, $case->transactionId, $answer, $status);
        if ($settled->outcome === 'open') {
            $this->waiting++;
            $this->unanswered += $status === null ? 0 : 1;
        } else {
            $this->unanswered = 0;
            $this->failed += $status === null || $status === 'ok' ? 0 : 1;
        }
        $rule = $answer->fields[0]->rule;
        $would = $answer->would === 'send' ? ', would be sent' : '';

        return $status === null ? "$answer->answer$would: " . RefundWords::why($rule) . " ($rule)"
            : ($status === 'ok' ? 'sent' : ($settled->outcome === 'open' ? "stays open: $status" : "failed: $status"));
    }

    /** @return iterable<RefundCase> */
    private function cases(string $state, ?int $fromMs = null, ?int $toMs = null): iterable
    {
        $after = null;
        do {
            $page = $this->shop->ledger()->reportRefunds(
                state: $state,
                fromMs: $fromMs,
                untilMs: $toMs,
                after: $after,
            );
            yield from $page->refunds;
            $after = $page->after;
        } while ($page->hasMore);
    }
}
