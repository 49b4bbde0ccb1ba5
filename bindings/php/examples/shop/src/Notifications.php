<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Facts\Notification;
use Assay\Store\Ledger;
use Assay\Verifier;

/** POST /v1/notifications: App Store Server Notifications V2 (BCK-16). */
final class Notifications
{
    private const LIMIT = 256 << 10;
    private const REFUSAL = 'Invalid notification';

    /**
     * @param \Closure(): Ledger $ledger opens the database: a forged one never does
     * @param \Closure(): Till $till
     */
    public function __construct(
        private Verifier $verifier,
        private \Closure $ledger,
        private \Closure $till,
    ) {
    }

    /** 200 only when everything is written: what was acknowledged is not sent again. */
    public function answer(Request $request): Answer
    {
        $jws = $request->text('signedPayload', self::LIMIT, self::REFUSAL);
        try {
            $notification = $this->verifier->verifyNotification($jws);
        } catch (Unavailable $away) {
            throw $away;
        } catch (AssayException $refusal) {
            Log::line('WARN', "notification refused: $refusal->status");

            return $refusal->status === 'unsupported.notification.body'
                ? new Answer(200) : throw new Refused(400, self::REFUSAL);
        }
        try {
            $notification->transaction !== null && $this->state($notification);
        } catch (Rejected $refusal) {
            // A product that the catalogue lacks, say: sending it again would not help.
            Log::line('WARN', "notification $notification->notificationUuid: $refusal->status");
        }
        $this->effect($notification);

        return new Answer(200);
    }

    /** States only grow newer: repeated and late notifications change nothing. */
    private function state(Notification $notification): void
    {
        ($this->ledger)()->apply($notification);
        if ($notification->transaction->revocationDate !== null) {
            ($this->till)()->takeBack($notification);
        } elseif ($notification->notificationType === 'REFUND_REVERSED') {
            ($this->till)()->giveBack($notification);
        }
    }

    /** Mail, push and credits go here: once for a notification, however often it comes. */
    private function effect(Notification $notification): void
    {
        if ($notification->notificationUuid !== null
            && ($this->ledger)()->once("NOTE#$notification->notificationUuid")) {
            Log::line('INFO', "$notification->notificationType $notification->subtype");
        }
    }
}
