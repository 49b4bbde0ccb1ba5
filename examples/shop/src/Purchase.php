<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Facts\AppReceipt;
use Assay\Facts\AppStoreResponse;
use Assay\Facts\Facts;
use Assay\Facts\TransactionReceipt;
use Assay\Facts\VerifyReceiptResponse;

/** One verified purchase, with the same members for every kind of evidence. */
final class Purchase
{
    private function __construct(
        public readonly ?string $product,
        public readonly ?string $transactionId,
        public readonly ?string $line,
        public readonly ?int $boughtMs,
        public readonly ?int $expiresAtMs,
        public readonly bool $isRevoked,
    ) {
    }

    /**
     * @param iterable<Facts|Document> $evidence
     *
     * @return list<self>
     */
    public static function in(iterable $evidence): array
    {
        $found = [];
        foreach ($evidence as $one) {
            $facts = $one instanceof Document ? $one->facts() : $one;
            array_push($found, ...array_map(self::of(...), match (true) {
                $facts instanceof AppReceipt => $facts->purchases,
                $facts instanceof VerifyReceiptResponse,
                $facts instanceof AppStoreResponse => $facts->transactions,
                default => [$facts],
            }));
        }

        return $found;
    }

    private static function of(object $entry): self
    {
        // A transaction receipt never contains a refund (RFD-5).
        $revoked = $entry instanceof TransactionReceipt ? null
            : $entry->revocationDate ?? $entry->cancellationDate ?? null;

        return new self(
            $entry->productId,
            $entry->transactionId,
            $entry->originalTransactionId ?? $entry->transactionId,
            $entry->purchaseDate,
            $entry->expiresDate,
            $revoked !== null,
        );
    }
}
