<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Internal;
use Assay\Exception\Malformed;
use Assay\Exception\Misuse;
use Assay\Exception\Configuration;
use Assay\Exception\Pending;
use Assay\Exception\TooLarge;
use Assay\Exception\Unsupported;
use Assay\Facts\Triage;

/** The definite result of one request, and the name under which it is counted. */
final class Outcome
{
    /** The HTTP statuses of each result (LST-2); the first is the default. */
    private const STATUSES = [
        'granted' => [200],
        'already-granted' => [200],
        'refused-final' => [400, 403, 409],
        'refused-keep' => [409, 403],
        'resend' => [400],
        'deferred' => [503, 202],
    ];
    private const BY_DISPOSITION = ['drop' => 'refused-final', 'keep' => 'refused-keep'];

    public readonly int $status;

    /** @param string $counted an outcome of BCK-24 */
    public function __construct(
        public readonly string $answer,
        int $status,
        public readonly string $counted,
        public readonly ?string $product = null,
        public readonly ?int $retryAfterMs = null,
    ) {
        $fitting = self::STATUSES[$answer];
        $this->status = in_array($status, $fitting, true) ? $status : $fitting[0];
    }

    /** Returns the outcome of evidence that triage stopped. */
    public static function unverified(Triage $finding): self
    {
        return new self(
            self::BY_DISPOSITION[$finding->disposition] ?? 'resend',
            (int) $finding->httpStatus,
            "triage $finding->category",
        );
    }

    /** Returns the outcome of evidence that was refused, by verification or by the ledger. */
    public static function refused(AssayException $refusal): self
    {
        $others = ['rejected.purchase.other-account', 'rejected.subscription.other-account'];
        if (in_array($refusal->status, $others, true)) {
            return new self('refused-final', 409, 'other-account');
        }
        $family = strstr($refusal->status, '.', true) ?: $refusal->status;
        $answer = self::answerTo($refusal);

        return new self(
            $answer,
            $refusal->httpStatus,
            $answer === 'deferred' ? 'deferred' : "refused $family",
            null,
            $answer === 'deferred' ? Answer::RETRY_MS : null,
        );
    }

    /** Returns the outcome of a fault of the shop or of Apple: the client keeps its evidence. */
    public static function deferred(): self
    {
        return new self('deferred', 503, 'deferred', null, Answer::RETRY_MS);
    }

    /**
     * Returns "deferred" for a grant about which Apple may know more; the client retries (BCK-43).
     */
    public function open(): self
    {
        return !in_array($this->answer, ['granted', 'already-granted'], true) ? $this
            : new self('deferred', 202, 'deferred', $this->product, Answer::RETRY_MS);
    }

    public function answer(): Answer
    {
        $headers = $this->retryAfterMs === null
            ? [] : ['Retry-After' => Answer::seconds($this->retryAfterMs)];

        return Answer::json($this->status, ['answer' => $this->answer,
            'product' => $this->product, 'retryAfterMs' => $this->retryAfterMs], $headers);
    }

    private static function answerTo(AssayException $refusal): string
    {
        $isOurs = $refusal instanceof Misuse || $refusal instanceof Internal
            || $refusal instanceof Configuration || $refusal instanceof Pending;

        return match (true) {
            $isOurs || $refusal->retryClass === 'later' => 'deferred',
            // A response of another server has no information about the receipt.
            Apple::isNoAnswer($refusal->status) => 'deferred',
            // The receipt has text instead of a signature: a retry would not help.
            $refusal->status === 'unsupported.transaction-receipt.version'
                && str_contains((string) $refusal->hint, 'text') => 'refused-final',
            $refusal->retryClass === 'after-config', $refusal instanceof Unsupported,
            $refusal->status === 'rejected.freshness.stale' => 'refused-keep',
            $refusal instanceof Malformed, $refusal instanceof TooLarge => 'resend',
            default => 'refused-final',
        };
    }
}
