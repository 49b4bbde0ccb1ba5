<?php

declare(strict_types=1);

namespace Shop;

use Assay\Exception\Rejected;
use Assay\Ledger\GetPlanResult;
use Assay\Ledger\Ledger;
use Assay\Ledger\PdoExecutor;
use Assay\Sender;
use Assay\Verifier;
use PDO;
use PDOException;

/**
 * The parts of the shop, made on demand: at most one verifier and one connection for a request.
 * What needs the database is behind a closure, and most requests end before it is called.
 */
final class Shop
{
    /** The time limit of a call by a command, in milliseconds: it delays no customer. */
    public const SWEEP_PATIENCE_MS = 10_000;

    private PDO|PDOException|null $pdo = null;
    private ?Verifier $verifier = null;
    private ?Verifier $porter = null;
    private ?Ledger $ledger = null;
    private ?Judge $judge = null;
    private ?Shared $shared = null;
    private ?RefundHooks $refundHooks = null;
    /** Whether to create SQLite's file. Only `setUp` does: a missing file is a missing disk. */
    private bool $makesFile = false;

    /** @var \Closure(array<string, mixed>): array<string, mixed> */
    private \Closure $send;
    private ?Sender $sender = null;

    /**
     * @param (callable(array<string, mixed>): array<string, mixed>)|null $send runs an HTTP step
     *     (docs/exchanges.md): a PsrSender over the host's client; null for the binding's own
     */
    public function __construct(public readonly Settings $settings, ?callable $send = null)
    {
        // Most requests send nothing, and make no sender.
        $this->send = $send === null ? fn (array $request): array => $this->sender()($request) : $send(...);
    }

    public function receipts(): Receipts
    {
        return new Receipts($this);
    }

    public function notifications(): Notifications
    {
        return new Notifications(
            $this->verifier(),
            $this->ledger(...),
            $this->till(...),
            $this->events(...),
            $this->refunds(),
        );
    }

    public function support(): Support
    {
        return new Support($this);
    }

    public function dashboard(): Dashboard
    {
        return new Dashboard($this->settings, $this->tally(), $this->books(...));
    }

    public function balance(): Balance
    {
        return new Balance($this);
    }

    public function account(): Account
    {
        return new Account($this);
    }

    public function eventPages(): Events
    {
        return new Events($this->settings, $this->journal(...), $this->events(...));
    }

    public function export(): Export
    {
        return new Export($this);
    }

    public function sweep(): Sweep
    {
        return new Sweep(
            $this->ledger(),
            $this->till(),
            $this->apple(self::SWEEP_PATIENCE_MS),
            $this->tally(),
            $this->events(),
        );
    }

    public function refunds(): Refunds
    {
        return new Refunds($this);
    }

    public function refundPage(): RefundPage
    {
        return new RefundPage($this);
    }

    public function refundHooks(): RefundHooks
    {
        return $this->refundHooks ??= RefundHooks::in($this->settings->refundHooks);
    }

    public function reconcile(): Reconcile
    {
        return new Reconcile($this->ledger());
    }

    /** Creates the tables, or changes an older shop's: once, by a user who may create tables. */
    public function setUp(): void
    {
        $this->makesFile = true;
        if ($this->settings->database->driver() === 'sqlite') {
            $this->pdo()->exec('PRAGMA journal_mode = WAL');
        }
        $this->ledger()->createSchema();
        $this->wallet()->createTable();
        $this->tally()->createTable();
        $this->journal()->createTable();
        $this->events()->createTable();
        $this->books()->createIndexes();
        $this->ledger()->checkSchema();
    }

    /** Removes a deleted account. What it bought stays used (STO-93). */
    public function forget(string $account): void
    {
        $this->wallet()->forget($account);
        $this->journal()->forget($account);
        $this->ledger()->forgetAccount($account, 'deleted by its owner');
    }

    /** Counts the outcome of a request; a request with an open database also writes the counts. */
    public function count(string $outcome, ?string $class): void
    {
        $this->tally()->count($outcome, $class);
        $this->pdo instanceof PDO && $this->tally()->write();
    }

    public function verifier(): Verifier
    {
        return $this->verifier ??= new Verifier($this->settings->verifier);
    }

    /**
     * Returns a verifier for tokens and triage, which need none of Apple's roots. Most requests end
     * there, and loading roots and keys would be most of their cost.
     */
    public function porter(): Verifier
    {
        if ($this->porter === null) {
            $policy = clone $this->settings->verifier;
            unset($policy->appStoreServerApi, $policy->deviceCheck, $policy->appleId, $policy->attest);
            foreach (['storekit', 'receipts'] as $block) {
                if (($policy->{$block} ?? null) instanceof \stdClass) {
                    $policy->{$block} = clone $policy->{$block};
                    unset($policy->{$block}->anchors, $policy->{$block}->intermediates);
                }
            }
            $this->porter = new Verifier($policy);
        }

        return $this->porter;
    }

    public function bearer(): Bearer
    {
        // A token issuer that does not respond must not delay requests for long either.
        $send = fn (array $request): array => ($this->send)(
            ['timeoutMs' => min($request['timeoutMs'], Apple::MAX_WAIT_MS)] + $request,
        );

        return new Bearer($this->porter(), $this->settings->bearer, $send);
    }

    public function judge(): Judge
    {
        return $this->judge ??= new Judge(
            $this->settings,
            $this->verifier(),
            $this->ledger(...),
            $this->apple(),
        );
    }

    public function apple(int $maxWaitMs = Apple::MAX_WAIT_MS): Apple
    {
        return new Apple(
            $this->settings,
            $this->verifier(),
            $this->ledger(...),
            $this->send,
            $this->shared(),
            $maxWaitMs,
        );
    }

    /**
     * Returns the plan of an account; null if the account is restricted (CUS-22), and so has the default
     * one.
     */
    public function plan(string $account): ?GetPlanResult
    {
        try {
            return $this->ledger()->getPlan($account);
        } catch (Rejected $refusal) {
            return $refusal->status === 'rejected.account.restricted' ? null : throw $refusal;
        }
    }

    public function till(): Till
    {
        return new Till($this->settings, $this->ledger(), $this->wallet());
    }

    public function journal(): Journal
    {
        return new Journal($this->pdo());
    }

    /** @throws PDOException if the database is unavailable */
    public function ledger(): Ledger
    {
        return $this->ledger ??= new Ledger(
            PdoExecutor::withConnection($this->pdo()),
            $this->verifier(),
            sender: $this->send,
        );
    }

    /**
     * Returns the purchases of an account, for a page: see Purchases.
     *
     * @throws PDOException if the database is unavailable
     */
    public function purchases(): Purchases
    {
        return new Purchases($this->pdo(), $this->ledger(), $this->prefix());
    }

    public function books(): Books
    {
        return new Books($this->pdo(), $this->settings, $this->prefix());
    }

    public function events(): EventLog
    {
        return new EventLog($this->pdo(), $this->prefix());
    }

    /** Returns the prefix of the ledger's tables (docs/spec/ledger-statements.md). */
    private function prefix(): string
    {
        return $this->settings->verifier->ledger->prefix ?? 'assay_';
    }

    public function wallet(): Wallet
    {
        return new Wallet($this->pdo(), $this->settings->goods, $this->prefix() . 'purchase');
    }

    private function sender(): Sender
    {
        return $this->sender ??= new Sender($this->settings->appleHosts, error_log(...));
    }

    public function tally(): Tally
    {
        return new Tally($this->shared(), $this->pdo(...));
    }

    private function shared(): Shared
    {
        // The name of a database may be relative; the path of the configuration is absolute.
        $file = (string) realpath((string) getenv('SHOP_CONFIG'));

        return $this->shared ??= new Shared($file . ' ' . $this->settings->database->dsn);
    }

    /** Returns the connection, which is tried once in a request. */
    private function pdo(): PDO
    {
        try {
            $this->pdo ??= $this->connected();
        } catch (PDOException $away) {
            $this->pdo = $away;
        }

        return $this->pdo instanceof PDO ? $this->pdo : throw $this->pdo;
    }

    private function connected(): PDO
    {
        $engine = $this->settings->database;
        $isFile = $this->settings->database->driver() === 'sqlite';
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 2];
        if ($isFile) {
            $options[PDO::SQLITE_ATTR_OPEN_FLAGS]
                = PDO::SQLITE_OPEN_READWRITE | ($this->makesFile ? PDO::SQLITE_OPEN_CREATE : 0);
        }
        $pdo = new PDO($engine->dsn, $engine->user, $engine->password, $options);
        $isFile && $pdo->exec('PRAGMA synchronous = FULL');

        return $pdo;
    }
}
