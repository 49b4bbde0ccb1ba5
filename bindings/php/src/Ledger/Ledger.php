<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Unavailable;
use Assay\Facts\Facts;
use Assay\Internal\Arguments;
use Assay\Internal\Refusal;
use Assay\Verifier;
use DateTimeInterface;
use SensitiveParameter;

/**
 * Purchases that are granted once, subscriptions, quotas, sign-ups and device keys in your
 * database.
 *
 *     $ledger = Ledger::open('sqlite:/srv/shop.db', $configuration);
 *     $claimed = $ledger->claim($jws, $account, static function (Grant $grant, \PDO $pdo) {
 *         $pdo->prepare('INSERT INTO coins (grant_id, account, n) VALUES (?, ?, ?)')
 *             ->execute([$grant->grantId, $grant->account, 100 * $grant->units]);
 *     });
 *     http_response_code($claimed->httpStatus);
 *     echo json_encode(['answer' => $claimed->clientResult]);
 *
 * A refusal of a purchase is a result: `claim`, `resume`, `complete` and `completeRevocation`
 * return it, and so does `recordEvent`. Every other refusal is thrown, so that it cannot be
 * overlooked: `consumeQuota` throws Rejected with `httpStatus` 429 and the headers in its
 * `document`. All throw Unavailable if the database is unavailable: answer 503.
 *
 * `$evidence` is the JWS of a transaction as text, or facts and documents of `$verifier`.
 *
 * A grant writes with the connection that it is passed, and may return false, or throw, to grant
 * nothing. A take-back returns the number of units that it took, null for all of them, false to be
 * called again later. In mode "transaction" that connection throws Misuse,
 * `misuse.ledger.transaction`, at commit, rollBack, beginTransaction and statements that do the
 * same (STO-38). In mode "lease" both may run again for the same `grantId` or `takeId`, and must do
 * nothing the second time: what was not completed is returned again by `resumeExpired` and
 * `resumeExpiredRevocations`.
 */
final class Ledger
{
    use LedgerCalls;

    private OperationRunner $runner;
    private \Closure $clock;
    /** The lineage of the database, as found by the first check (STO-78). */
    private ?string $lineage = null;

    /**
     * @param Verifier $verifier one whose configuration has the block `ledger` for this engine
     * @param (callable(): int)|null $clock milliseconds since 1970 UTC; null for the system's clock
     */
    public function __construct(
        private Executor $executor,
        public readonly Verifier $verifier,
        ?callable $clock = null,
        ?callable $sender = null,
    ) {
        $this->clock = ($clock ?? static fn (): int => Arguments::milliseconds(null))(...);
        $this->runner = new OperationRunner($verifier, $executor, $this->clock, $sender);
    }

    /**
     * Returns a ledger over a connection of its own, opened at the first use. Only `createSchema`
     * creates tables and SQLite's file, and an operator calls it once: a database that is missing
     * later is an error, not an empty one that would grant each purchase again (STO-78).
     *
     * @param string $dsn PDO's address of the primary: "sqlite:/srv/shop.db",
     *     "pgsql:host=…;dbname=…", "mysql:host=…;dbname=…;charset=utf8mb4". A relative path of
     *     SQLite begins with "./"
     * @param array<string, mixed>|object|string $configuration docs/config.md; the member
     *     `ledger.engine` is filled in
     *
     * @throws AssayException if the configuration is not usable
     */
    public static function open(
        #[SensitiveParameter] string $dsn,
        #[SensitiveParameter] array|object|string $configuration,
        ?string $user = null,
        #[SensitiveParameter] ?string $password = null,
        ?callable $clock = null,
        ?callable $sender = null,
    ): self {
        $executor = PdoExecutor::to($dsn, $user, $password);

        return new self(
            $executor,
            new Verifier(self::configured($configuration, $executor)),
            $clock,
            $sender,
        );
    }

    /**
     * Returns a ledger over your own connection: a PDO, or a Redis for quotas, sign-ups, challenges
     * and `recordEvent`. A PDO with an open transaction of yours is refused at each operation, with
     * Misuse, `misuse.ledger.transaction`, and left unchanged: write what belongs to a claim in its
     * grant.
     *
     * @param array<string, mixed>|object|string $configuration as in `open`
     */
    public static function withConnection(
        \PDO|\Redis $connection,
        #[SensitiveParameter] array|object|string $configuration,
        ?callable $clock = null,
        ?callable $sender = null,
    ): self {
        $executor = $connection instanceof \PDO
            ? PdoExecutor::withConnection($connection) : new RedisExecutor($connection);

        return new self(
            $executor,
            new Verifier(self::configured($configuration, $executor)),
            $clock,
            $sender,
        );
    }

    // ---- the schema

    /**
     * Creates SQLite's file and all tables that do not exist, or changes those of an older version
     * (STO-78); an operator calls it once.
     *
     * @return string "created", "exists", "migrated"
     *
     * @throws AssayException config.ledger.schema if a part is missing: nothing is then created
     */
    public function createSchema(): string
    {
        if ($this->executor instanceof PdoExecutor) {
            $this->executor->createFile();
        }
        $document = $this->accepted(['operation' => 'create-schema',
            'lineage' => self::text(random_bytes(24))]);
        $this->lineage ??= $document->at('exchange.lineage');

        return (string) $document->at('exchange.outcome');
    }

    /** Deletes expired rows, and stored texts that no row refers to: run it once a day. */
    public function deleteExpiredRows(): void
    {
        $calls = $this->accepted(['operation' => 'describe-schema'])->at('exchange.garbage');
        $step = ['id' => 0, 'transaction' => null, 'calls' => $calls,
            'limits' => ['statementMs' => 60000]];
        if ($this->executor->run($step)['code'] !== 200) {
            throw Refusal::named('unavailable.database.statement-failed');
        }
    }

    // ---- used by LedgerCalls

    /** @param Document|Facts|iterable<Document|Facts>|string $evidence */
    private function claimed(
        array $request,
        string|Document|Facts|iterable $evidence,
        ?callable $grant,
    ): ClaimResult {
        $mode = $request['grantMode'] ??= $grant === null ? 'lease' : 'transaction';
        $wasCalled = false;
        $called = $grant === null ? null
            : static function (Grant $given, object $connection) use ($grant, &$wasCalled): mixed {
                $wasCalled = true;

                return $grant($given, $connection);
            };
        $document = $this->runner->run($request, $this->verified($evidence), $called);
        $claimed = ClaimResult::in(self::answer($document, $wasCalled), 'exchange');

        return $mode === 'lease' ? $this->payOut($claimed, $grant) : $claimed;
    }

    private function resumed(array $request, ?callable $grant): ResumeResult
    {
        return $this->payOut(ResumeResult::in($this->answered($request), 'exchange'), $grant);
    }

    private function resumedExpired(array $request, ?callable $grant): ResumeExpiredResult
    {
        $expired = ResumeExpiredResult::in($this->accepted($request), 'exchange');

        return $this->payOut($expired, $grant);
    }

    /** @param Document|Facts|iterable<Document|Facts>|string $evidence */
    private function revoked(
        array $request,
        string|Document|Facts|iterable $evidence,
        ?callable $takeBack,
    ): RevokeResult {
        $mode = $request['grantMode'] ??= $takeBack === null ? 'none' : 'lease';
        $document = $this->runner->run(
            $request,
            $this->verified($evidence),
            takeBack: $takeBack,
        );
        $revoked = RevokeResult::in(self::effects($document), 'exchange');

        return $this->takeBack($revoked, $revoked->takes(), $takeBack, $mode);
    }

    private function resumedRevocations(
        array $request,
        ?callable $takeBack,
    ): ResumeExpiredRevocationsResult {
        $expired = ResumeExpiredRevocationsResult::in($this->accepted($request), 'exchange');

        return $this->takeBack($expired, $expired->takes, $takeBack, 'lease');
    }

    /** @param Document|Facts|iterable<Document|Facts>|string $evidence */
    private function eventApplied(
        array $request,
        string|Document|Facts|iterable $evidence,
        ?callable $grant,
        ?callable $takeBack,
    ): ApplyEventResult {
        $mode = $request['grantMode'] ??= $takeBack === null ? 'none' : 'lease';
        $evidence = $this->verified($evidence);
        $document = $this->runner->run($request, $evidence, $grant, $takeBack);
        $event = ApplyEventResult::in(self::effects($document), 'exchange');
        if ($mode === 'transaction') {
            return $event;
        }
        $event = $this->takeBack($event, $event->take, $takeBack, $mode);
        try {
            foreach ($grant === null ? [] : $event->grants() as $each) {
                $this->isGranted($each, $grant) && $this->complete($each);
            }
        } catch (Unavailable $away) {
            return $event->withAway($away);
        }

        return $event;
    }

    private function challenged(array $request): IssueChallengeResult
    {
        $made = IssueChallengeResult::in($this->accepted($request), 'exchange');

        return $made->with($request['challenge']);
    }

    private function forgotten(array $request): ForgetAccountResult
    {
        $document = $this->accepted($request);
        $this->emptyLog();

        return ForgetAccountResult::in($document, 'exchange');
    }

    private function customerForgotten(
        array $request,
        Document|Facts $evidence,
    ): ForgetCustomerResult {
        $document = $this->accepted($request, $evidence);
        $this->emptyLog();

        return ForgetCustomerResult::in($document, 'exchange');
    }

    /** Empties the log of the engine, which may still contain what was deleted. */
    private function emptyLog(): void
    {
        if ($this->executor instanceof PdoExecutor) {
            $this->executor->emptyLog();
        }
    }

    private function schemaChecked(array $request): CheckSchemaResult
    {
        $document = $this->accepted($request + ['lineage' => $this->lineage]);
        $this->lineage ??= $document->at('exchange.lineage');

        return CheckSchemaResult::in($document, 'exchange');
    }

    // ---- internal

    /**
     * @template R of ClaimResult|ResumeResult|ResumeExpiredResult
     *
     * @param R $found
     *
     * @return R
     */
    private function payOut(
        ClaimResult|ResumeResult|ResumeExpiredResult $found,
        ?callable $grant,
    ): ClaimResult|ResumeResult|ResumeExpiredResult {
        $completed = [];
        foreach ($grant === null ? [] : $found->grants() as $each) {
            if (!$this->isGranted($each, $grant)) {
                continue;
            }
            try {
                $completed[$each->purchaseKey] = $this->complete($each);
            } catch (Unavailable $away) {
                // The purchase was granted, so the next call or `resumeExpired` completes it
                // (STO-20).
                return $found->after($completed, $away);
            }
        }

        return $found->after($completed);
    }

    private function isGranted(Grant $each, callable $grant): bool
    {
        return $grant($each, $this->executor->connection()) !== false;
    }

    /**
     * @template R of Result
     *
     * @param list<Take> $takes those of the result
     * @param list<Take> $takes of it
     * @return R what was not completed is returned again by `resumeExpiredRevocations`
     * @return R what was not completed comes again, by `resumeExpiredRevocations`
     */
    private function takeBack(
        Result $found,
        array $takes,
        ?callable $takeBack,
        string $mode,
    ): Result {
        if ($takeBack === null || $mode === 'transaction') {
            return $found;
        }
        foreach ($takes as $take) {
            $taken = $takeBack($take, $this->executor->connection());
            try {
                if ($taken !== false && $mode === 'lease') {
                    $this->completeRevocation($take, is_int($taken) ? $taken : null);
                }
            } catch (Unavailable $away) {
                return $found->withAway($away);
            }
        }

        return $found;
    }

    /** Returns the document of an event, also if a part of the event waits for another (STO-35). */
    private static function effects(Document $document): Document
    {
        if (!str_starts_with($document->status(), 'unavailable.claim.')) {
            $document->throwIfFailed();
        }

        return $document;
    }

    /** Returns the document of an operation; throws for a refusal. */
    private function accepted(
        array $request,
        string|Document|Facts|iterable $evidence = [],
    ): Document {
        $document = $this->runner->run($request, $this->verified($evidence));
        $document->throwIfFailed();

        return $document;
    }

    /** Returns the document of an operation whose refusals are results. */
    private function answered(array $request): Document
    {
        return self::answer($this->runner->run($request));
    }

    /**
     * Returns the document if it is accepted or a refusal of a purchase or a claim; throws for any
     * other. If a grant was called, "deferred" is a result too, because what the grant did may have
     * been committed (STO-39).
     */
    private static function answer(Document $document, bool $wasCalled = false): Document
    {
        $family = '/^(ok$|rejected\.|unavailable\.' . ($wasCalled ? ')/' : 'claim\.)/');
        if ($document->at('exchange.outcome') === null
            && $document->at('exchange.clientResult') === null
            || preg_match($family, $document->status()) !== 1) {
            throw Refusal::of($document);
        }

        return $document;
    }

    /** @return Document|Facts|iterable<Document|Facts> */
    private function verified(
        string|Document|Facts|iterable $evidence,
    ): Document|Facts|iterable {
        return is_string($evidence)
            ? $this->verifier->verifyTransaction($evidence, ($this->clock)()) : $evidence;
    }

    /** Returns the members that were given, as an argument or by name in `$options`. */
    private static function given(array $members, array $options): array
    {
        return array_filter($members, static fn (mixed $it): bool => $it !== null) + $options;
    }

    /** Returns the members of an earlier result that the library reads. */
    private static function kept(?GetPlanResult $cachedPlan): ?array
    {
        return $cachedPlan === null ? null
            : [
                'plan' => $cachedPlan->plan,
                'expiresAtMs' => $cachedPlan->expiresAtMs,
                'readAtMs' => $cachedPlan->readAtMs,
            ];
    }

    private static function attempt(): string
    {
        return self::text(random_bytes(16));
    }

    private static function moment(int|DateTimeInterface|null $given): ?int
    {
        return $given === null ? null : Arguments::milliseconds($given);
    }

    private static function text(string $octets): string
    {
        return rtrim(strtr(base64_encode($octets), '+/', '-_'), '=');
    }

    /** Returns the configuration with the executor's engine in the block `ledger`. */
    private static function configured(
        array|object|string $configuration,
        Executor $executor,
    ): object {
        $text = Arguments::json($configuration, 'the configuration');
        $found = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        $found->ledger ??= new \stdClass();
        $found->ledger->engine = $executor->engine();
        if ($executor instanceof PdoExecutor) {
            $found->ledger->placeholders = 'qmark';
        }

        return $found;
    }
}
