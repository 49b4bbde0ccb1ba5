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
use Illuminate\Http\Response;
use Illuminate\Support\Facades\DB;

/** What an app bought, and what happened at Apple. */
final class PurchaseController
{
    public function __construct(private Ledger $ledger, private Keyset $keys)
    {
    }

    public function purchase(Request $request): JsonResponse
    {
        try {
            $token = $this->ledger->verifier->verifyToken(
                (string) $request->bearerToken(),
                $this->keys,
            );
            $claimed = $this->ledger->claim(
                self::text($request, 'jws'),
                $token->subject,
                self::payOut(...),
            );
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        $later = $claimed->clientResult === 'deferred' ? ['Retry-After' => '5'] : [];

        return new JsonResponse(['answer' => $claimed->clientResult], $claimed->httpStatus, $later);
    }

    /** 200 only when it is stored: Apple repeats everything else. */
    public function notification(Request $request): Response|JsonResponse
    {
        try {
            $note = $this->ledger->verifier->verifyNotification(
                self::text($request, 'signedPayload'),
            );
        } catch (Unsupported $newer) {
            logger()->warning($newer->getMessage());

            return new Response();
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        if ($note->transaction === null) {
            return new Response();
        }
        try {
            // Both stand with the row in the ledger, or not at all.
            $event = $this->ledger->applyEvent(
                $note,
                self::payOut(...),
                self::takeBack(...),
                'transaction',
            );
        } catch (AssayException $refusal) {
            return self::refused($refusal);
        }
        foreach ($event->refused as $part) {               // and so it would be the next time
            logger()->warning("$part->at $part->transactionId: $part->status");
        }

        return new Response(status: $event->httpStatus);
    }

    /** For a customer without a row as well: an update that finds none would pay nothing. */
    private static function payOut(Grant $grant): void
    {
        $coins = 100 * $grant->units;
        DB::table('wallet')->upsert(
            [['account' => $grant->account, 'coins' => $coins]],
            ['account'],
            ['coins' => DB::raw("wallet.coins + $coins")],
        );
    }

    private static function takeBack(Take $take): void
    {
        DB::table('wallet')->where('account', $take->account)
            ->decrement('coins', 100 * $take->units);
    }

    private static function text(Request $request, string $name): string
    {
        $text = $request->json($name);
        abort_unless(is_string($text), 400);

        return $text;
    }

    private static function refused(AssayException $refusal): JsonResponse
    {
        logger()->warning($refusal->getMessage());
        $later = $refusal->httpStatus === 503 ? ['Retry-After' => '5'] : [];

        return new JsonResponse(['error' => 'refused'], $refusal->httpStatus, $later);
    }
}
