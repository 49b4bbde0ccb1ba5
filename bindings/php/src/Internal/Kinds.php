<?php

declare(strict_types=1);

namespace Assay\Internal;

use Assay\Document;
use Assay\Facts;

/**
 * The class of the facts of each kind of document, and their path in it.
 *
 * @internal
 */
final class Kinds
{
    /** @var array<string, array{class-string<Facts\Facts>, string}> */
    public const FACTS = [
        'transaction' => [Facts\Transaction::class, 'transaction'],
        'renewal-info' => [Facts\RenewalInfo::class, 'renewalInfo'],
        'notification' => [Facts\Notification::class, 'notification'],
        'app-transaction' => [Facts\AppTransaction::class, 'appTransaction'],
        'realtime-request' => [Facts\RealtimeRequest::class, 'realtimeRequest'],
        'transaction-receipt' => [Facts\TransactionReceipt::class, 'transactionReceipt'],
        'app-receipt' => [Facts\AppReceipt::class, 'appReceipt'],
        'attest-receipt' => [Facts\AttestReceipt::class, 'attestReceipt'],
        'verify-receipt-response' => [Facts\VerifyReceiptResponse::class, 'verifyReceipt'],
        'triage' => [Facts\Triage::class, 'triage'],
        'attestation' => [Facts\Attestation::class, 'attestation'],
        'assertion' => [Facts\Assertion::class, 'assertion'],
        'decision' => [Facts\Decision::class, 'decision'],
        'risk' => [Facts\Risk::class, 'risk'],
        'token' => [Facts\Token::class, 'token'],
        'keyset' => [Facts\IssuerKeys::class, 'keyset'],
        'exchange' => [Facts\DeviceCheck::class, 'exchange.deviceCheck'],
    ];

    public static function facts(Document $document): ?Facts\Facts
    {
        $known = self::FACTS[$document->kind()] ?? null;
        if (is_array($document->at('exchange.result'))) {
            $known = [Facts\AppStoreResponse::class, 'exchange.result'];
        }
        $known = match ($document->at('exchange.operation')) {
            // A refusal has only Apple's status, which is no facts.
            'call-verify-receipt' => $document->ok
                ? [Facts\VerifyReceiptResponse::class, 'exchange.verifyReceipt'] : null,
            'check-revocation' => [Facts\Revocation::class, 'exchange.revocation'],
            'answer-verify-receipt' => [Facts\VerifyReceiptAnswer::class, 'exchange.answer'],
            'refresh-attest-receipt' => [Facts\RefreshedReceipt::class, 'exchange.attestReceipt'],
            default => $known,
        };
        if ($known === null || !is_array($document->at($known[1]))) {
            return null;
        }

        return $known[0]::in($document, $known[1]);
    }
}
