<?php

declare(strict_types=1);

namespace Shop;

/**
 * The five classes into which a payment server's requests fall (docs/spec/receipts-triage.md 1.1).
 * A request is in the class that its outcome shows; without a receipt or an answer it is in none.
 */
enum RequestClass: string
{
    case Foreign = 'foreign';
    case Confirmed = 'confirmed';
    case CrackingTool = 'cracking tool';
    case Repeated = 'repeated';
    case Unconfirmed = 'unconfirmed';

    /** The outcomes of requests without a receipt, and of those that will come again. */
    private const NONE = ['no-receipt', 'deferred'];
    private const BY_OUTCOME = [
        'triage foreign' => self::Foreign,
        'triage cracking-tool' => self::CrackingTool,
        'granted' => self::Confirmed,
        'renewed' => self::Confirmed,
        'unconfirmed-settled' => self::Confirmed,
        'already-granted' => self::Repeated,
        'other-account' => self::Repeated,
        'revoked' => self::Repeated,
    ];

    /** Returns the class of an outcome; null if it has none. */
    public static function of(string $outcome): ?self
    {
        return in_array($outcome, self::NONE, true) ? null
            : self::BY_OUTCOME[$outcome] ?? self::Unconfirmed;
    }

    /** Returns the class of the page's style. */
    public function colour(): string
    {
        return match ($this) {
            self::Foreign => 'e',
            self::Confirmed => 'a',
            self::CrackingTool => 'i',
            self::Repeated => 'h',
            self::Unconfirmed => 'c',
        };
    }

    public function meaning(): string
    {
        return match ($this) {
            self::Foreign => 'a receipt of another app, or of a product that is not in the catalogue',
            self::Confirmed => 'a purchase of yours, verified and paid out',
            self::CrackingTool => 'made by a cracking tool: no receipt in it',
            self::Repeated => 'a purchase that was confirmed before, sent again',
            self::Unconfirmed => 'looked like yours, and was refused',
        };
    }
}
