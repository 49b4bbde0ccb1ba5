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

/** The definite answer to one request, and what it counts as. */
final class Outcome
{
    /** LST-2; where several fit, the first is the usual one. */
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

    /** @param string $counted one outcome of BCK-24 */
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

    /** What triage did not let through. */
    public static function unverified(Triage $finding): self
    {
        return new self(
            self::BY_DISPOSITION[$finding->disposition] ?? 'resend',
            (int) $finding->httpStatus,
            "triage $finding->category",
        );
    }

    /** What was verified, or applied, and refused. */
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

    /** The store, Apple, or this program: the client keeps its evidence. */
    public static function deferred(): self
    {
        return new self('deferred', 503, 'deferred', null, Answer::RETRY_MS);
    }

    /** What was paid out stays paid; but Apple may know more, and the client comes again (BCK-43). */
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
            // An answer in Apple's place is no word on the receipt.
            Apple::isNoAnswer($refusal->status) => 'deferred',
            // Words in the place of a signature: asking again would not help.
            $refusal->status === 'unsupported.transaction-receipt.version'
                && str_contains((string) $refusal->hint, 'text') => 'refused-final',
            $refusal->retryClass === 'after-config', $refusal instanceof Unsupported,
            $refusal->status === 'rejected.freshness.stale' => 'refused-keep',
            $refusal instanceof Malformed, $refusal instanceof TooLarge => 'resend',
            default => 'refused-final',
        };
    }
}
