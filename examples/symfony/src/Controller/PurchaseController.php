<?php

declare(strict_types=1);

namespace App\Controller;

use Assay\Exception\AssayException;
use Assay\Exception\Unsupported;
use Assay\Keyset;
use Assay\Ledger\Grant;
use Assay\Ledger\Ledger;
use Assay\Ledger\Take;
use Doctrine\DBAL\Connection;
use Psr\Log\LoggerInterface;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpKernel\Attribute\AsController;
use Symfony\Component\HttpKernel\Exception\BadRequestHttpException;

/** What an app bought, and what happened at Apple. */
#[AsController]
final class PurchaseController
{
    public function __construct(
        private Ledger $ledger,
        private Keyset $keys,
        private Connection $database,
        private LoggerInterface $logger,
    ) {
    }

    /** Pays out what an app bought, once. */
    public function purchase(Request $request): JsonResponse
    {
        $jws = self::text($request, 'jws');
        $authorization = (string) $request->headers->get('Authorization');
        $bearer = preg_replace('/^Bearer /', '', $authorization);
        try {
            $token = $this->ledger->verifier->verifyToken($bearer, $this->keys);
            $claimed = $this->ledger->claim($jws, $token->subject, $this->payOut(...));
        } catch (AssayException $refusal) {
            return $this->refused($refusal);
        }
        if ($claimed->httpStatus !== 200) {
            $this->logger->warning($claimed->status);
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
            $this->logger->warning($newer->getMessage());

            return self::answered([], 200);
        } catch (AssayException $refusal) {
            return $this->refused($refusal);
        }
        if ($note->transaction === null) {
            return self::answered([], 200);
        }
        try {
            $event = $this->ledger->applyEvent(
                $note,
                $this->payOut(...),
                $this->takeBack(...),
                'transaction',
            );
        } catch (AssayException $refusal) {
            return $this->refused($refusal);
        }
        foreach ($event->refused as $part) {         // for good: it would be refused again
            $this->logger->warning("$part->at of $part->transactionId: $part->status");
        }
        $body = $event->httpStatus === 200 ? [] : ['answer' => 'deferred'];

        return self::answered($body, $event->httpStatus);
    }

    /** Books in the transaction of the claim: both are stored, or neither is. */
    private function payOut(Grant $grant): void
    {
        $this->book($grant->grantId, $grant->account, $grant->units);
    }

    /** Books in the transaction of the refund. */
    private function takeBack(Take $take): void
    {
        $this->book($take->takeId, $take->account, -$take->units);
    }

    /**
     * Inserts a booking. A customer has the sum of these and needs no row before the first; the
     * same id enters once.
     */
    private function book(string $id, string $account, int $units): void
    {
        $this->database->insert('booking', ['id' => $id, 'account' => $account, 'units' => $units]);
    }

    private static function text(Request $request, string $name): string
    {
        $text = $request->toArray()[$name] ?? null;
        if (!is_string($text)) {
            throw new BadRequestHttpException("$name is missing");
        }

        return $text;
    }

    /** Logs status, place and hint, none of them secret; the client gets one text for all. */
    private function refused(AssayException $refusal): JsonResponse
    {
        $this->logger->warning($refusal->getMessage());
        $body = $refusal->httpStatus === 503 ? ['answer' => 'deferred'] : ['error' => 'refused'];

        return self::answered($body, $refusal->httpStatus);
    }

    /** After "deferred" the app keeps its purchase and comes again. */
    private static function answered(array $body, int $status): JsonResponse
    {
        $later = ($body['answer'] ?? '') === 'deferred' ? ['Retry-After' => '5'] : [];

        return new JsonResponse((object) $body, $status, $later);
    }
}
