<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Assay\Exception\AssayException;
use Assay\Exception\Unsupported;
use Assay\Keyset;
use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Ledger\Take;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;

/** What an app bought, and what happened at Apple. */
final class PurchaseController
{
    public function __construct(private Ledger $ledger, private Keyset $keys)
    {
    }

    /** Pays out what an app bought, once. */
    public function purchase(Request $request): JsonResponse
    {
        $jws = self::text($request, 'jws');
        $bearer = (string) $request->bearerToken();
        try {
            $token = $this->ledger->verifier->verifyToken($bearer, $this->keys);
            $claimed = $this->ledger->claim($jws, $token->subject, self::payOut(...));
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        if ($claimed->httpStatus !== 200) {
            Log::warning($claimed->status);
        }

        return self::answered(['answer' => $claimed->clientResult], $claimed->httpStatus);
    }

    /** Stores what happened at Apple, then answers 200: Apple repeats everything else. */
    public function notification(Request $request): JsonResponse
    {
        $text = self::text($request, 'signedPayload');
        try {
            $note = $this->ledger->verifier->verifyNotification($text);
        } catch (Unsupported $newer) {               // genuine, and newer than this version
            Log::warning($newer->getMessage());

            return self::answered([], 200);
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        if ($note->transaction === null) {
            return self::answered([], 200);
        }
        try {
            $event = $this->ledger->applyEvent(
                $note,
                self::payOut(...),
                self::takeBack(...),
                'transaction',
            );
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        foreach ($event->refused as $part) {         // for good: it would be refused again
            Log::warning("$part->at of $part->transactionId: $part->status");
        }
        $body = $event->httpStatus === 200 ? [] : ['answer' => 'deferred'];

        return self::answered($body, $event->httpStatus);
    }

    /** Books in the transaction of the claim: both are stored, or neither is. */
    private static function payOut(Grant $grant): void
    {
        self::book($grant->grantId, $grant->account, $grant->units);
    }

    /** Books in the transaction of the refund. */
    private static function takeBack(Take $take): void
    {
        self::book($take->takeId, $take->account, -$take->units);
    }

    /**
     * Inserts a booking. A customer has the sum of these and needs no row before the first; the
     * same id enters once.
     */
    private static function book(string $id, string $account, int $units): void
    {
        DB::table('booking')->insert(['id' => $id, 'account' => $account, 'units' => $units]);
    }

    private static function text(Request $request, string $name): string
    {
        $text = $request->json($name);
        abort_unless(is_string($text), 400);

        return $text;
    }

    /** Logs status, place and hint, none of them secret; the client gets one text for all. */
    private static function refused(AssayException $refusal): JsonResponse
    {
        Log::warning($refusal->getMessage());
        $body = $refusal->httpStatus === 503 ? ['answer' => 'deferred'] : ['error' => 'refused'];

        return self::answered($body, $refusal->httpStatus);
    }

    /** After "deferred" the app keeps its purchase and comes again. */
    private static function answered(array $body, int $status): JsonResponse
    {
        $later = ($body['answer'] ?? '') === 'deferred' ? ['Retry-After' => '5'] : [];

        return response()->json((object) $body, $status, $later);
    }
}
