<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Unavailable;
use Assay\Facts\Notification;
use Assay\Ledger\Ledger;
use Assay\Verifier;

/** POST /v1/notifications: App Store Server Notifications V2 (BCK-16). */
final class Notifications
{
    private const LIMIT = 256 << 10;
    private const REFUSAL = 'Invalid notification';

    /**
     * @param \Closure(): Ledger $ledger opens the database, which a forged notification never does
     * @param \Closure(): Till $till
     * @param \Closure(): EventLog $events
     */
    public function __construct(
        private Verifier $verifier,
        private \Closure $ledger,
        private \Closure $till,
        private \Closure $events,
        private Refunds $refunds,
    ) {
    }

    /**
     * Returns 200 only if each part was written or refused for good, because Apple does not send an
     * acknowledged notification again. Only newer states are stored: repeated and late
     * notifications change nothing (STO-33).
     */
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
        $outcome = 'nothing to do';
        if ($notification->notificationType === 'CONSUMPTION_REQUEST') {
            $this->refunds->asked($notification);
        }
        if ($notification->transaction !== null || $this->restricts($notification)) {
            $what = "notification $notification->notificationUuid";
            $event = ($this->till)()->happened($notification, $what);
            if (!$event->ok) {
                // A part of the notification waits for another process: Apple sends it again.
                Log::line('WARN', "$what: $event->status");

                return Answer::later();
            }
            $outcome = $event->refused !== [] ? 'refused: ' . $event->refused[0]->status
                : ($event->changed ? 'changed' : 'known');
        }
        ($this->events)()->received(
            $notification->notificationUuid ?? hash('sha256', $jws),
            trim("$notification->notificationType $notification->subtype"),
            (string) $notification->transaction?->transactionId,
            $outcome,
        );
        $this->effect($notification);

        return new Answer(200);
    }

    /**
     * Whether a parent withdraws the consent to a child's use of the app (CUS-20), and the index that
     * knows whose it is is switched on.
     */
    private function restricts(Notification $notification): bool
    {
        return $notification->notificationType === 'RESCIND_CONSENT'
            && ($this->verifier->configuration()['ledger']['customerKey'] ?? null) === true;
    }

    /** Sends mail, push messages and credits, once for each notification. */
    private function effect(Notification $notification): void
    {
        $id = $notification->notificationUuid;
        if ($id !== null && ($this->ledger)()->recordEvent("NOTE#$id")->ok) {
            Log::line('INFO', "$notification->notificationType $notification->subtype");
        }
    }
}
