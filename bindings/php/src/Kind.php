<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Header;

/** What evidence must turn out to be. There is deliberately no "any". */
enum Kind: string
{
    case Transaction = 'transaction';
    case RenewalInfo = 'renewal-info';
    case Notification = 'notification';
    case AppTransaction = 'app-transaction';
    case RealtimeRequest = 'realtime-request';
    case TransactionReceipt = 'transaction-receipt';
    case AppReceipt = 'app-receipt';
    case AttestReceipt = 'attest-receipt';
    /** An answer from Apple's verifyReceipt endpoint. */
    case VerifyReceiptResponse = 'verify-receipt-response';

    /**
     * Its number for assay_verify_jws; null for what is no JWS.
     *
     * @internal
     */
    public function jws(): ?int
    {
        return match ($this) {
            self::Transaction => Header::JWS_TRANSACTION,
            self::RenewalInfo => Header::JWS_RENEWAL_INFO,
            self::Notification => Header::JWS_NOTIFICATION,
            self::AppTransaction => Header::JWS_APP_TRANSACTION,
            self::RealtimeRequest => Header::JWS_REALTIME_REQUEST,
            default => null,
        };
    }

    /**
     * Its number for assay_verify_receipt; null for what is not a receipt.
     *
     * @internal
     */
    public function receipt(): ?int
    {
        return match ($this) {
            self::TransactionReceipt => Header::RECEIPT_TRANSACTION,
            self::AppReceipt => Header::RECEIPT_APP,
            self::AttestReceipt => Header::RECEIPT_ATTEST,
            default => null,
        };
    }
}
