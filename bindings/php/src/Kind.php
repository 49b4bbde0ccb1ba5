<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Header;

/** The kind that evidence must have. There is deliberately no "any". */
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
    /** A response of Apple's verifyReceipt endpoint. */
    case VerifyReceiptResponse = 'verify-receipt-response';

    /**
     * Returns the kind's number for assay_verify_jws; null if the kind is not a JWS.
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
     * Returns the kind's number for assay_verify_receipt; null if the kind is not a receipt.
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
