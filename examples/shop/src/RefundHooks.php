<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\RefundCase;

/**
 * What the shop alone knows of a purchase about which Apple asks (RFA-61). This class knows nothing,
 * no consent above all: a shop that is not set up sends nothing. Extend it in the file that the
 * setting `refundHooks` names. An exception leaves the case open, and it comes again.
 */
class RefundHooks
{
    /**
     * Returns how much of this purchase was used; null if nobody knows.
     *
     * @return array{consumed: int, granted: int}|array{percentage: int}|null
     */
    public function usage(RefundCase $case): ?array
    {
        return null;
    }

    /**
     * Returns what the customer has answered in the app, and when; null if there is no answer.
     *
     * @return array{isGiven: bool, answeredAtMs: int, withdrawnAtMs?: int, account?: string}|null
     */
    public function consent(RefundCase $case): ?array
    {
        return null;
    }

    /**
     * Returns the hooks of a file, which returns an object of a class that extends this one.
     *
     * @param string|null $file null: this class
     */
    final public static function in(?string $file): self
    {
        $hooks = $file === null ? new self() : (static fn (): mixed => require $file)();

        return $hooks instanceof self ? $hooks
            : throw new \DomainException('shop: the file of refundHooks returns no Shop\RefundHooks');
    }
}
