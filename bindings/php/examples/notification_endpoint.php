<?php

// An endpoint for App Store Server Notifications V2.
//
// Apple posts {"signedPayload": "<JWS>"}. One call verifies the notification and every JWS inside
// it. The text is stored before the response 200, because Apple does not send an acknowledged
// notification again; a repeated notification is stored once.
//
//   ASSAY_CONFIG=config.json NOTIFICATIONS=notifications.db \
//     php -d ffi.enable=1 -S 127.0.0.1:8080 notification_endpoint.php

declare(strict_types=1);

use Assay\Exception\AssayException;
use Assay\Exception\Unsupported;
use Assay\Facts\Notification;
use Assay\Verifier;

// With Composer: require 'vendor/autoload.php'.
require_once __DIR__ . '/../autoload.php';

const LONGEST_BODY = 256 * 1024;
const TABLE = 'create table if not exists notification (
  key text primary key, type text, subtype text, line text, signed_ms integer,
  jws text not null)';

/** Verifies and stores the notification of one request, and returns the HTTP status. */
function receive(string $method, string $body): int
{
    if ($method !== 'POST') {
        return 405;
    }
    if ($body === '' || strlen($body) > LONGEST_BODY) {
        return 413;
    }
    $jws = json_decode($body, true)['signedPayload'] ?? null;
    if (!is_string($jws)) {
        return 400;
    }
    try {
        $verifier = new Verifier((string) file_get_contents((string) getenv('ASSAY_CONFIG')));
        store(row($verifier->verifyNotification($jws), $jws));
    } catch (Unsupported $refusal) {
        // Genuine, but of a newer version: keep the text until the library supports it.
        error_log($refusal->getMessage());
        store(['unknown/' . hash('sha256', $jws), null, null, null, null, $jws]);
    } catch (AssayException $refusal) {
        error_log($refusal->getMessage());

        return $refusal->httpStatus;
    }

    return 200;
}

/**
 * Returns the row to store. Verify the text again when the row is processed.
 *
 * @return list<int|string|null>
 */
function row(Notification $notification, string $jws): array
{
    return [
        $notification->keys?->notification,
        $notification->notificationType,
        $notification->subtype,
        $notification->transaction?->keys?->subscription,
        $notification->signedDate,
        $jws,
    ];
}

/** @param list<int|string|null> $values */
function store(array $values): void
{
    $database = new PDO('sqlite:' . getenv('NOTIFICATIONS'));
    $database->setAttribute(PDO::ATTR_TIMEOUT, 10);
    $database->exec(TABLE);
    $database->prepare('insert or ignore into notification values (?,?,?,?,?,?)')
        ->execute($values);
}

$body = (string) file_get_contents('php://input', length: LONGEST_BODY + 1);
http_response_code(receive($_SERVER['REQUEST_METHOD'], $body));
