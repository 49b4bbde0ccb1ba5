<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\Rejected;
use Assay\Facts\Notification;
use Assay\Ledger\Ledger;
use Assay\Ledger\RefundCase;

/** Keeps Apple's questions about refunds, and lists those that nobody has answered. */
final class Refunds
{
    /** @param \Closure(): Ledger $ledger */
    public function __construct(private \Closure $ledger)
    {
    }

    /** Keeps a question before Apple hears 200; what no answer could be about is only logged. */
    public function asked(Notification $notification): void
    {
        try {
            ($this->ledger)()->openRefund($notification);
        } catch (Rejected $refusal) {
            Log::line('WARN', "question $notification->notificationUuid: $refusal->status");
        }
    }

    /** @return iterable<RefundCase> those that are open, the oldest first */
    public function open(): iterable
    {
        $after = null;
        do {
            $page = ($this->ledger)()->reportRefunds(state: 'open', after: $after);
            yield from $page->refunds;
            $after = $page->after;
        } while ($page->hasMore);
    }

    public static function describe(RefundCase $case): string
    {
        $leftMs = $case->dueAtMs - Clock::ms();
        $left = $leftMs < 0 ? 'too late' : intdiv($leftMs, 60_000) . ' minutes left';

        return "$case->environment  $case->transactionId  $case->productId  $left"
            . ($case->account === null ? '' : "  account $case->account");
    }
}
