<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\Grant;
use PDO;

/** The journal of operators: who did what, when, to what, why. Queries are entries too. */
final class Journal
{
    private const TABLE = 'CREATE TABLE IF NOT EXISTS shop_journal ('
        . 'account VARCHAR(255) NOT NULL, at_ms BIGINT NOT NULL, id VARCHAR(32) NOT NULL,'
        . ' operator VARCHAR(255) NOT NULL, action VARCHAR(16) NOT NULL,'
        . ' subject VARCHAR(255) NOT NULL, reason VARCHAR(255) NOT NULL,'
        . ' outcome VARCHAR(64) NOT NULL, PRIMARY KEY (account, at_ms, id))';
    private const SHOWN = 20;

    public function __construct(private PDO $pdo)
    {
    }

    public function createTable(): void
    {
        $isMySql = $this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql';
        $this->pdo->exec(self::TABLE . ($isMySql ? ' COLLATE utf8mb4_bin' : ''));
        $this->pdo->exec('CREATE INDEX IF NOT EXISTS shop_journal_at ON shop_journal (at_ms)');
    }

    /**
     * Writes an entry before the action runs, so that a crash cannot hide the action.
     *
     * @param string $account the account that was queried or acted for; empty if none was named
     * @param string $subject a transaction, an order, a purchase key
     *
     * @return \Closure(string): void sets the outcome of the entry
     */
    public function begun(
        Operator $operator,
        string $action,
        string $account,
        string $subject = '',
        string $reason = '',
    ): \Closure {
        $key = $this->insert($this->pdo, $operator, $action, $account, $subject, $reason, 'begun');

        return function (string $outcome) use ($key): void {
            $this->pdo->prepare('UPDATE shop_journal SET outcome = ? WHERE account = ? AND at_ms = ?'
                . ' AND id = ?')->execute([mb_strcut($outcome, 0, 64), ...$key]);
        };
    }

    /**
     * Begins the action that a form names, unless the form is not this operator's own, or the role
     * may not do it. A refusal has its entry, too.
     *
     * @param array<string, string> $form with `do` and `seal`
     * @param array<string, Role> $actions the role that each action needs; any other action is 400
     *
     * @return \Closure(string): void sets the outcome of the entry
     *
     * @throws Refused 400, 403
     */
    public function asked(
        Operator $operator,
        array $form,
        array $actions,
        string $account,
        string $subject,
        string $reason,
    ): \Closure {
        $do = $form['do'] ?? '';
        $role = $actions[$do] ?? null;
        $end = $this->begun($operator, $role === null ? 'unknown' : $do, $account, $subject, $reason);
        $refused = match (true) {
            !$operator->sealed($form['seal'] ?? '') => new Refused(403, 'Open the page again'),
            $role === null => new Refused(400, 'Unknown action'),
            !$operator->may($role) => new Refused(403, 'Not allowed'),
            default => null,
        };
        if ($refused !== null) {
            $end('refused: ' . $refused->getMessage());
            throw $refused;
        }

        return $end;
    }

    /**
     * Runs a read of an operator between its entry and its outcome; a refusal is one, too.
     *
     * @param \Closure(): array{string, Answer} $act returns the outcome and the answer
     *
     * @throws Refused
     */
    public function kept(Operator $operator, string $action, string $subject, \Closure $act): Answer
    {
        $end = $this->begun($operator, $action, '', $subject);
        try {
            [$outcome, $answer] = $act();
        } catch (Refused $refused) {
            $end('refused: ' . $refused->getMessage());
            throw $refused;
        }
        $end($outcome);

        return $answer;
    }

    /**
     * Writes what an operator changed, in the transaction of the change: both stand, or neither.
     *
     * @param PDO $pdo the connection of that transaction
     * @param string $change what was changed, such as the coins that were paid
     */
    public function changed(PDO $pdo, Operator $operator, Grant $grant, string $reason, string $change): void
    {
        $this->insert($pdo, $operator, 'paid', $grant->account, $grant->purchaseKey, $reason, $change);
    }

    /** @return array{string, int, string} the key of the new entry */
    private function insert(
        PDO $pdo,
        Operator $operator,
        string $action,
        string $account,
        string $subject,
        string $reason,
        string $outcome,
    ): array {
        $key = [self::fitting($account), Clock::ms(), bin2hex(random_bytes(16))];
        $pdo->prepare('INSERT INTO shop_journal (account, at_ms, id, operator, action, subject,'
            . ' reason, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')->execute([...$key, ...array_map(
                self::fitting(...),
                [$operator->name, $action, $subject, $reason, $outcome],
            )]);

        return $key;
    }

    /**
     * Returns the newest entries.
     *
     * @param string|null $account null for all accounts
     *
     * @return list<array<string, string|int>> at_ms, operator, action, account, subject, reason, outcome
     */
    public function newest(?string $account): array
    {
        $read = $this->pdo->prepare('SELECT at_ms, operator, action, account, subject, reason, outcome'
            . ' FROM shop_journal' . ($account === null ? '' : ' WHERE account = ?')
            . ' ORDER BY at_ms DESC, id LIMIT ' . self::SHOWN);
        $read->execute($account === null ? [] : [self::fitting($account)]);

        return $read->fetchAll(PDO::FETCH_ASSOC);
    }

    /** Removes account, subject and reason from its entries; the entries stay (STO-93). */
    public function forget(string $account): void
    {
        $this->pdo->prepare("UPDATE shop_journal SET account = '', subject = '', reason = ''"
            . ' WHERE account = ?')->execute([self::fitting($account)]);
    }

    /** Returns the valid start of a typed text, which may be no text or longer than its column. */
    private static function fitting(string $value): string
    {
        return mb_strcut(mb_scrub(strtr($value, "\0", ' ')), 0, 255);
    }
}
