<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\AssayException;
use Assay\Exception\Pending;
use Assay\Exception\Unavailable;

/**
 * POST /v1/receipts: what an app sends for a purchase, in any form (BCK-39). A request that triage
 * or verification refuses never opens the database.
 */
final class Receipts
{
    private const LIMIT = 4 << 20;

    public function __construct(private Shop $shop)
    {
    }

    public function answer(Request $request): Answer
    {
        try {
            $account = $this->shop->bearer()->account($request);
            $evidence = $request->text('evidence', self::LIMIT, 'Invalid request');
        } catch (Refused $refused) {
            return $this->counted(
                Answer::error($refused->status, $refused->getMessage(), $refused->headers),
                'no-receipt',
            );
        } catch (Unavailable | Pending $away) {
            Log::line('WARN', "token: $away->status");
            $outcome = Outcome::deferred();

            return $this->counted($outcome->answer(), $outcome->counted);
        }

        return $this->settled($evidence, $account);
    }

    private function settled(string $evidence, string $account): Answer
    {
        $class = 'malformed';
        try {
            $finding = $this->shop->porter()->triage($evidence);
            $class = $finding->category;
            $outcome = null;
            if (!$finding->worthVerifying) {
                $outcome = Outcome::unverified($finding);
            } elseif (($row = $this->shop->judge()->repeated($finding, $account)) !== null) {
                $class = 'repeated';
                $outcome = new Outcome('already-granted', 200, 'already-granted', $row->product);
            }
            $outcome ??= $this->claimed(
                $this->shop->judge()->verified($evidence, $finding),
                $account,
                $finding->anomalies !== [],
            );
        } catch (AssayException $refusal) {
            // The log has the status name; the client receives nothing that helps a forger (BCK-3).
            Log::line('WARN', "receipt refused for user $account: $refusal->status");
            $outcome = Outcome::refused($refusal);
        } catch (\Throwable $fault) {
            Log::fault($fault);
            $outcome = Outcome::deferred();
        }

        return $this->counted($outcome->answer(), $outcome->counted, $class);
    }

    private function claimed(Proof $proof, string $account, bool $hasTraits): Outcome
    {
        if ($proof->evidence === []) {
            return Outcome::deferred();
        }
        if (!$this->shop->judge()->isAllowed($proof, $account)) {
            return new Outcome('refused-keep', 403, 'refused rejected');
        }
        $outcome = $this->shop->till()->settle($proof->evidence, $account)->outcome($hasTraits);

        return $proof->isOpen ? $outcome->open() : $outcome;
    }

    /** Counts the outcome after the response; a crash in between loses the count (BCK-24). */
    private function counted(Answer $answer, string $outcome, ?string $class = null): Answer
    {
        return $answer->then(fn () => $this->shop->count($outcome, $class));
    }
}
