<?php

declare(strict_types=1);

namespace Assay\Store;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Exception\Rejected;
use Assay\Exception\Unavailable;
use Assay\Facts\Facts;
use Assay\Internal\Arguments;
use Assay\Internal\Refusal;
use Assay\Verifier;
use SensitiveParameter;

/**
 * Purchases that are paid out once, subscriptions, quotas, sign-ups and keys, in a store of
 * yours.
 *
 *     $ledger = Ledger::open('sqlite:/srv/shop.db', $configuration);
 *     $claimed = $ledger->claim($jws, $account, static function (Grant $grant, \PDO $pdo) {
 *         $pdo->prepare('INSERT INTO coins (grant_id, account, n) VALUES (?, ?, ?)')
 *             ->execute([$grant->grantId, $grant->account, 100 * $grant->units]);
 *     });
 *     http_response_code($claimed->httpStatus);
 *     echo json_encode(['answer' => $claimed->answer]);
 *
 * What the ledger says about a purchase is an answer: `claim`, `resume` and `complete` return
 * it, whatever it is. Everything else throws when it is refused, so that nobody passes who does
 * not look: `take` throws Rejected with `httpStatus` 429 and the headers in its `document`.
 * All throw Unavailable when the store is away: answer 503.
 *
 * `$evidence` is the JWS of a transaction as text, or facts and documents of `$verifier`.
 */
final class Ledger
{
    private Conversation $conversation;
    private \Closure $clock;
    /** Which store it was, at the first look (STO-78). */
    private ?string $lineage = null;

    /**
     * @param Verifier $verifier its configuration has the block `stores` for this engine
     * @param (callable(): int)|null $clock milliseconds since 1970 UTC; null: the system's
     */
    public function __construct(
        private Executor $executor,
        public readonly Verifier $verifier,
        ?callable $clock = null,
    ) {
        $this->clock = ($clock ?? static fn (): int => Arguments::milliseconds(null))(...);
        $this->conversation = new Conversation($verifier, $executor, $this->clock);
    }

    /**
     * A ledger over a connection of its own, made at its first use. Tables, and SQLite's file,
     * are made by `createSchema` alone, which an operator calls once: a store that is missing
     * later is an error, not an empty one that would pay each purchase again (STO-78).
     *
     * @param string $dsn of PDO: "sqlite:/srv/shop.db", "pgsql:host=…;dbname=…",
     *     "mysql:host=…;dbname=…;charset=utf8mb4"; give the address of the primary. A relative
     *     path of SQLite begins with "./"
     * @param array<string, mixed>|object|string $configuration docs/config.md; the engine in
     *     `stores` is filled in
     *
     * @throws AssayException when the configuration is not usable
     */
    public static function open(
        #[SensitiveParameter] string $dsn,
        #[SensitiveParameter] array|object|string $configuration,
        ?string $user = null,
        #[SensitiveParameter] ?string $password = null,
        ?callable $clock = null,
    ): self {
        $executor = PdoExecutor::to($dsn, $user, $password);

        return new self(
            $executor,
            new Verifier(self::configured($configuration, $executor)),
            $clock,
        );
    }

    /**
     * The same over your own connection: a PDO, or a Redis for quotas, sign-ups, challenges
     * and `once`. A PDO that is in a transaction of yours is refused at each operation, with
     * Misuse, `misuse.store.transaction`, and left as it was: what belongs together is written
     * in the grant of a claim.
     *
     * @param array<string, mixed>|object|string $configuration as of `open`
     */
    public static function over(
        \PDO|\Redis $connection,
        #[SensitiveParameter] array|object|string $configuration,
        ?callable $clock = null,
    ): self {
        $executor = $connection instanceof \PDO
            ? PdoExecutor::over($connection) : new RedisExecutor($connection);

        return new self(
            $executor,
            new Verifier(self::configured($configuration, $executor)),
            $clock,
        );
    }

    // ---- purchases

    /**
     * Claims the purchases of evidence for an account, and pays them out by `$grant`.
     *
     * With mode "transaction", `$grant` writes with the connection that it gets: what it does
     * and the claim stand together or not at all, also when it throws. That connection throws
     * Misuse, `misuse.store.transaction`, at commit, rollBack, beginTransaction and statements
     * that do the same (STO-38). With mode "lease" it
     * runs after the claim, over any store, and may run again for the same `grantId` after a
     * crash: it must do nothing the second time. In both it may return false, or throw, to
     * grant nothing. Without `$grant` pay out `grants()` yourself
     * and `complete` each.
     *
     * @param string|null $account null for an event of Apple's, which speaks for whoever has
     *     the purchase
     * @param (callable(Grant, \PDO|object): mixed)|null $grant
     * @param string|null $mode "transaction" or "lease"; null: "transaction" where there is a
     *     grant
     * @param string|null $attempt 22 to 64 characters: the same when a request is repeated;
     *     null: a new one
     * @param array<string, mixed> $options accountToken, allowRepeat, leaseMs, only, limit,
     *     note, onUnclear, resolve (docs/exchanges.md)
     */
    public function claim(
        #[SensitiveParameter] string|Document|Facts|iterable $evidence,
        ?string $account,
        ?callable $grant = null,
        ?string $mode = null,
        ?string $attempt = null,
        array $options = [],
    ): Claimed {
        $mode ??= $grant === null ? 'lease' : 'transaction';
        $request = ['kind' => 'claim', 'account' => $account, 'mode' => $mode,
            'attempt' => $attempt ?? self::attempt()] + $options;
        $wasCalled = false;
        $called = $grant === null ? null
            : static function (Grant $given, object $connection) use ($grant, &$wasCalled): mixed {
                $wasCalled = true;

                return $grant($given, $connection);
            };
        $document = $this->conversation->about($request, $this->verified($evidence), $called);
        $claimed = Claimed::in(self::answer($document, $wasCalled), 'exchange');

        return $grant === null || $mode !== 'lease' ? $claimed : $this->payOut($claimed, $grant);
    }

    /** What you paid out is granted (mode "lease"). Twice is once. */
    public function complete(Grant $grant, ?string $note = null): Completed
    {
        $document = $this->conversation->about([
            'kind' => 'complete', 'purchaseKey' => $grant->purchaseKey,
            'account' => $grant->account, 'grantId' => $grant->grantId,
            'fence' => $grant->fence, 'note' => $note,
        ]);

        return Completed::in(self::answer($document), 'exchange');
    }

    /**
     * A claim whose lease is over, taken up again by its purchase key: for support.
     *
     * @param array<string, mixed> $options leaseMs, onUnclear, resolve, note
     */
    public function resume(
        string $purchaseKey,
        string $account,
        ?callable $grant = null,
        ?string $attempt = null,
        array $options = [],
    ): Claimed {
        $document = $this->conversation->about(['kind' => 'claim.resume',
            'purchaseKey' => $purchaseKey, 'account' => $account,
            'attempt' => $attempt ?? self::attempt()] + $options);
        $claimed = Claimed::in(self::answer($document), 'exchange');

        return $grant === null ? $claimed : $this->payOut($claimed, $grant);
    }

    /**
     * Takes up at most 25 claims whose lease is over: run it every minute, pay out `grants()`
     * and `complete` each.
     */
    public function due(int $olderMs = 0, ?string $attempt = null): DueClaims
    {
        return DueClaims::in($this->accepted(['kind' => 'claim.due', 'olderMs' => $olderMs,
            'attempt' => $attempt ?? self::attempt()]), 'exchange');
    }

    /**
     * What Apple took back, by a notification or newer evidence. Of all deliveries of one
     * refund one is told to take back; act on `takes()`, and on nothing else.
     *
     * With mode "lease", `$takeBack` runs after the refund was noted, and may run again for
     * the same `takeId` after a crash, by `dueTakes`: it must do nothing the second time. With
     * mode "transaction" it writes with the connection that it gets, as a grant does. With
     * mode "none" each is told once, and what becomes of it is yours.
     *
     * @param (callable(Take, \PDO|object): mixed)|null $takeBack takes the units back; returns
     *     how many there were, null for all of them, false for another time
     * @param string|null $mode "lease", "transaction", "none"; null: "lease" where there is a
     *     take-back, else "none"
     * @param array<string, mixed> $options leaseMs
     */
    public function revoke(
        #[SensitiveParameter] string|Document|Facts|iterable $evidence,
        ?callable $takeBack = null,
        ?string $mode = null,
        ?string $attempt = null,
        array $options = [],
    ): Revoked {
        $mode ??= $takeBack === null ? 'none' : 'lease';
        $request = ['kind' => 'revoke', 'mode' => $mode,
            'attempt' => $attempt ?? self::attempt()] + $options;
        $document = $this->conversation->about(
            $request,
            $this->verified($evidence),
            takeBack: $takeBack,
        );
        $revoked = Revoked::in(self::effects($document), 'exchange');

        return $this->takeBack($revoked, $revoked->takes(), $takeBack, $mode);
    }

    /**
     * What you took back is taken (mode "lease"). Twice is once.
     *
     * @param int|null $taken how many units there were; null: all of them
     */
    public function completeRevoke(Take $take, ?int $taken = null): RevokeCompleted
    {
        $document = $this->conversation->about(['kind' => 'revoke.complete',
            'purchaseKey' => $take->purchaseKey, 'takeId' => $take->takeId,
            'fence' => $take->fence, 'taken' => $taken]);

        return RevokeCompleted::in(self::answer($document), 'exchange');
    }

    /**
     * Takes up at most 25 take-backs that nobody has completed: run it every minute, beside
     * `due`. Without `$takeBack` carry `takes` out yourself and `completeRevoke` each.
     *
     * @param (callable(Take, \PDO|object): mixed)|null $takeBack as of `revoke`
     * @param array<string, mixed> $options leaseMs
     */
    public function dueTakes(
        ?callable $takeBack = null,
        int $olderMs = 0,
        ?string $attempt = null,
        array $options = [],
    ): DueTakes {
        $due = DueTakes::in($this->accepted(['kind' => 'revoke.due', 'olderMs' => $olderMs,
            'attempt' => $attempt ?? self::attempt()] + $options), 'exchange');

        return $this->takeBack($due, $due->takes, $takeBack, 'lease');
    }

    /**
     * What a notification of Apple's changes, in ledger and subscriptions: refunds are taken
     * back, reversed ones are given again to the owner of the purchase. In whatever order and
     * however often they come, the newest signed state stands (STO-33, STO-34). Answer Apple
     * with its `httpStatus`.
     *
     * @param (callable(Grant, \PDO|object): mixed)|null $grant as of `claim`, for reversed
     *     refunds; without one pay out `grants()` yourself and `complete` each
     * @param (callable(Take, \PDO|object): mixed)|null $takeBack as of `revoke`
     * @param string|null $mode as of `revoke`; with "none" and "lease" grants are under a lease
     * @param array<string, mixed> $options leaseMs
     */
    public function applyEvent(
        #[SensitiveParameter] string|Document|Facts|iterable $evidence,
        ?callable $grant = null,
        ?callable $takeBack = null,
        ?string $mode = null,
        ?string $attempt = null,
        array $options = [],
    ): EventApplied {
        $mode ??= $takeBack === null ? 'none' : 'lease';
        $request = ['kind' => 'event.apply', 'mode' => $mode,
            'attempt' => $attempt ?? self::attempt()] + $options;
        $evidence = $this->verified($evidence);
        $document = $this->conversation->about($request, $evidence, $grant, $takeBack);
        $event = EventApplied::in(self::effects($document), 'exchange');
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

    /**
     * Whether a purchase was used, and by whom: by evidence, by account, or by environment and
     * transaction id.
     *
     * @param bool $operator shows what only an operator may see
     */
    public function lookup(
        #[SensitiveParameter] string|Document|Facts|iterable $evidence = [],
        ?string $account = null,
        ?string $environment = null,
        ?string $transactionId = null,
        bool $operator = false,
    ): Lookup {
        return Lookup::in($this->accepted(['kind' => 'lookup', 'account' => $account,
            'environment' => $environment, 'transactionId' => $transactionId,
            'operator' => $operator ?: null], $evidence), 'exchange');
    }

    // ---- subscriptions

    /**
     * Stores what evidence says of subscriptions and other lasting purchases; the newer one
     * wins.
     *
     * @param string|null $account null for a notification
     * @param bool $confirm the customer wants to move it here from another account
     */
    public function apply(
        #[SensitiveParameter] string|Document|Facts|iterable $evidence,
        ?string $account = null,
        bool $confirm = false,
        ?string $accountToken = null,
    ): Applied {
        $request = ['kind' => 'subscription.apply', 'account' => $account,
            'accountToken' => $accountToken, 'confirm' => $confirm ?: null];

        return Applied::in($this->accepted($request, $evidence), 'exchange');
    }

    /** The plan of an account now. Ask at each call that costs: never the app. */
    public function read(string $account): Plan
    {
        return Plan::in(
            $this->accepted(['kind' => 'subscription.read', 'account' => $account]),
            'exchange',
        );
    }

    /** The app says that it owns nothing. The next evidence brings it back. */
    public function clear(string $account): Plan
    {
        return Plan::in(
            $this->accepted(['kind' => 'subscription.clear', 'account' => $account]),
            'exchange',
        );
    }

    /** At most 25 lines about which it is time to ask Apple: `apply` what comes. */
    public function dueLines(?string $attempt = null): DueLines
    {
        return DueLines::in($this->accepted(['kind' => 'subscription.due',
            'attempt' => $attempt ?? self::attempt()]), 'exchange');
    }

    // ---- quotas, sign-up

    /**
     * Takes from the day's quota of an account.
     *
     * @param string $plan as `read` says, never as the app says
     *
     * @throws Rejected when it is used up: 429, with `exchange.headers` in its document
     */
    public function take(string $account, string $meter, string $plan, int $units = 1): Quota
    {
        return Quota::in($this->accepted(['kind' => 'quota.take', 'account' => $account,
            'meter' => $meter, 'plan' => $plan, 'units' => $units]), 'exchange');
    }

    /** Gives back what was taken, once, when the work failed before anything was delivered. */
    public function refund(string $ticket): Quota
    {
        return Quota::in(
            $this->accepted(['kind' => 'quota.refund', 'ticket' => $ticket]),
            'exchange',
        );
    }

    /**
     * Lets an address make an account; `settle` says what became of it.
     *
     * @param string|null $address the gateway's own field, never a header of the client's
     */
    public function admit(
        ?string $address,
        string $username,
        #[SensitiveParameter] string $password,
    ): Admission {
        return Admission::in($this->accepted(['kind' => 'signup.admit',
            'address' => $address ?? '', 'username' => $username,
            'passwordBytes' => strlen($password)]), 'exchange');
    }

    /** @param string $result "created", "exists", "provider-busy", "provider-error" */
    public function settle(string $ticket, string $result): Admission
    {
        return Admission::in($this->accepted(['kind' => 'signup.settle', 'ticket' => $ticket,
            'result' => $result]), 'exchange');
    }

    // ---- challenges, keys, once

    /** A new challenge, for one purpose ("attest", "assert" …) of one account or login. */
    public function challenge(string $purpose, string $subject): Challenge
    {
        $text = self::text(random_bytes(32));

        return Challenge::in($this->accepted(['kind' => 'challenge.issue', 'challenge' => $text,
            'purpose' => $purpose, 'subject' => $subject]), 'exchange')->with($text);
    }

    /**
     * Uses a challenge up: that of a verified attestation or assertion, or its text.
     *
     * @param string|null $by who uses it, where there is no evidence
     *
     * @throws Rejected when it was used, is over, or is for something else: 401
     */
    public function consume(
        string $purpose,
        string $subject,
        Document|Facts|null $evidence = null,
        #[SensitiveParameter] ?string $challenge = null,
        ?string $by = null,
    ): void {
        $this->accepted(['kind' => 'challenge.consume', 'purpose' => $purpose,
            'subject' => $subject, 'challenge' => $challenge, 'by' => $by], $evidence ?? []);
    }

    /** The key of a verified attestation belongs to an account. */
    public function bind(Document|Facts $evidence, string $account): Bound
    {
        return Bound::in(
            $this->accepted(['kind' => 'key.bind', 'account' => $account], $evidence),
            'exchange',
        );
    }

    /**
     * The counter of a verified assertion, which it returns; no assertion counts twice.
     *
     * @throws Rejected for a counter that was seen, and for a key that is another account's
     */
    public function advance(Document|Facts $evidence, string $account): int
    {
        $document = $this->accepted(['kind' => 'key.advance', 'account' => $account], $evidence);

        return (int) $document->at('exchange.counter');
    }

    /**
     * Whether something is to be done: true for the first that asks.
     *
     * @param string $id "MAIL#" with a grant id, "NOTE#" with a notification's UUID …
     * @param string|null $attempt the same when a request is repeated: then true again
     */
    public function once(string $id, ?string $attempt = null): bool
    {
        $document = $this->conversation->about(['kind' => 'once', 'id' => $id,
            'attempt' => $attempt ?? self::attempt()]);
        if ($document->status() === 'rejected.once.seen') {
            return false;
        }
        $document->throwIfRefused();

        return true;
    }

    // ---- accounts, kept texts

    /**
     * Joins an account into another; the caller has proven both. Call again while `more` is
     * true.
     */
    public function link(string $from, string $to, ?string $reason = null): Joined
    {
        return Joined::in($this->accepted(['kind' => 'account.link', 'from' => $from,
            'to' => $to, 'reason' => $reason, 'attempt' => self::attempt()]), 'exchange');
    }

    /** Puts a hash in the place of an account's id everywhere. Needs `stores.forgetKey`. */
    public function forget(string $account, ?string $reason = null): Forgotten
    {
        $document = $this->accepted(['kind' => 'account.forget', 'account' => $account,
            'reason' => $reason, 'attempt' => self::attempt()]);
        if ($this->executor instanceof PdoExecutor) {
            $this->executor->emptyLog();
        }

        return Forgotten::in($document, 'exchange');
    }

    /**
     * Texts that were kept, to be verified again: by SHA-256, by purchase key, or of a line.
     * Needs `stores.keepEvidence`.
     *
     * @param list<string>|null $sha256
     */
    public function evidence(
        ?array $sha256 = null,
        ?string $purchaseKey = null,
        ?string $environment = null,
        ?string $originalTransactionId = null,
    ): KeptTexts {
        return KeptTexts::in($this->accepted(['kind' => 'evidence.read', 'sha256' => $sha256,
            'purchaseKey' => $purchaseKey, 'environment' => $environment,
            'originalTransactionId' => $originalTransactionId]), 'exchange');
    }

    // ---- the schema

    /**
     * Makes SQLite's file and all tables where there is none, or changes those of an older
     * version (STO-78): for an operator, once.
     *
     * @return string "created", "exists", "migrated"
     *
     * @throws AssayException config.store.schema where a part is missing: nothing is made
     */
    public function createSchema(): string
    {
        if ($this->executor instanceof PdoExecutor) {
            $this->executor->createFile();
        }
        $document = $this->accepted(['kind' => 'schema.create',
            'lineage' => self::text(random_bytes(24))]);
        $this->lineage ??= $document->at('exchange.lineage');

        return (string) $document->at('exchange.outcome');
    }

    /** Deletes what is over, and kept texts that no row names: run it once a day. */
    public function tidy(): void
    {
        $run = $this->accepted(['kind' => 'schema'])->at('exchange.garbage');
        $step = ['id' => 0, 'transaction' => null, 'run' => $run,
            'limits' => ['statementMs' => 60000]];
        if ($this->executor->carryOut($step)['code'] !== 200) {
            throw Refusal::named('unavailable.store.engine');
        }
    }

    /**
     * Looks at the store, at start-up and not at the first purchase.
     *
     * @return list<string> warnings: "not-persistent", "unknown" …
     *
     * @throws AssayException where a table or column is missing, this is a standby, Redis may
     *     evict keys, or it is another store than this object saw first
     */
    public function checkSchema(): array
    {
        $document = $this->accepted(['kind' => 'schema.check', 'lineage' => $this->lineage]);
        $this->lineage ??= $document->at('exchange.lineage');

        return (array) $document->at('exchange.warnings');
    }

    // ---- inside

    private function payOut(Claimed $claimed, callable $grant): Claimed
    {
        $completed = [];
        foreach ($claimed->grants() as $each) {
            if (!$this->isGranted($each, $grant)) {
                continue;
            }
            try {
                $completed[$each->purchaseKey] = $this->complete($each);
            } catch (Unavailable $away) {
                // STO-20: it was paid out, so the next call, or `due`, completes it.
                return $claimed->after($completed, $away);
            }
        }

        return $claimed->after($completed);
    }

    private function isGranted(Grant $each, callable $grant): bool
    {
        return $grant($each, $this->executor->connection()) !== false;
    }

    /**
     * @template R of Result
     *
     * @param R $found
     * @param list<Take> $takes of it
     *
     * @return R what was not completed comes again, by `dueTakes`
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
                    $this->completeRevoke($take, is_int($taken) ? $taken : null);
                }
            } catch (Unavailable $away) {
                return $found->withAway($away);
            }
        }

        return $found;
    }

    /** What an event brought; also where one part of it waits for another (STO-35). */
    private static function effects(Document $document): Document
    {
        if (!str_starts_with($document->status(), 'unavailable.ledger.')) {
            $document->throwIfRefused();
        }

        return $document;
    }

    /** The document of an operation that has to be accepted. */
    private function accepted(
        array $request,
        string|Document|Facts|iterable $evidence = [],
    ): Document {
        $document = $this->conversation->about($request, $this->verified($evidence));
        $document->throwIfRefused();

        return $document;
    }

    /**
     * A refusal of the ledger is an answer; any other is none. Where a grant was called, so is
     * "deferred": what it did may stand (STO-39).
     */
    private static function answer(Document $document, bool $wasCalled = false): Document
    {
        $family = '/^(ok$|rejected\.|unavailable\.' . ($wasCalled ? ')/' : 'ledger\.)/');
        if ($document->at('exchange.outcome') === null && $document->at('exchange.answer') === null
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

    private static function attempt(): string
    {
        return self::text(random_bytes(16));
    }

    private static function text(string $octets): string
    {
        return rtrim(strtr(base64_encode($octets), '+/', '-_'), '=');
    }

    /** The engine of the executor, in the block `stores`. */
    private static function configured(
        array|object|string $configuration,
        Executor $executor,
    ): object {
        $text = Arguments::json($configuration, 'the configuration');
        $found = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        $found->stores ??= new \stdClass();
        $found->stores->dialect = $executor->dialect();
        if ($executor instanceof PdoExecutor) {
            $found->stores->placeholders = 'qmark';
        }

        return $found;
    }
}
