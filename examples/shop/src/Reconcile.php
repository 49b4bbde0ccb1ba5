<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Difference;
use Assay\Ledger\Ledger;
use Assay\Ledger\ReconcileResult;

/** Finds what ledger and Apple do not agree on, and lists what is left for a person. */
final class Reconcile
{
    public function __construct(private Ledger $ledger)
    {
    }

    /**
     * Runs until nothing is left, and yields a line for the log after each exchange.
     *
     * @param list<string> $parts failures, events, open; none: failures and open
     *
     * @return iterable<string>
     */
    public function run(string $environment, array $parts): iterable
    {
        do {
            $found = $this->ledger->reconcile($environment, parts: $parts === [] ? null : $parts);
            yield self::line($found);
        } while ($found->hasMore);
    }

    private static function line(ReconcileResult $found): string
    {
        $counts = '';
        foreach (['found' => $found->found, 'closed' => $found->closed] as $word => $list) {
            foreach ($list as $one) {
                $counts .= "; $word $one->count $one->kind";
            }
        }

        return "$found->requests requests, $found->notifications notifications,"
            . " $found->lostCount had been missed$counts";
    }

    /** @return iterable<Difference> those that are open, the oldest first */
    public function differences(): iterable
    {
        $after = null;
        do {
            $page = $this->ledger->listDifferences(after: $after);
            yield from $page->differences;
            $after = $page->after;
        } while ($page->hasMore);
    }

    public static function describe(Difference $one): string
    {
        $worth = $one->price === null ? '' : '  ' . Money::price($one->price, (string) $one->currency);

        return "$one->id  $one->kind  $one->transactionId  $one->productId$worth"
            . ($one->settledBy === null ? '' : "  settled by $one->settledBy");
    }

    /** @return string "closed", "already", "none" */
    public function close(string $id, string $note): string
    {
        return (string) $this->ledger->closeDifference($id, $note)->outcome;
    }
}
