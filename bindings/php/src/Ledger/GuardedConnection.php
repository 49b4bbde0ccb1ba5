<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Assay\Internal\Refusal;
use PDO;
use PDOStatement;

/**
 * The connection that a grant writes with, in the transaction of its claim. Statements pass; one
 * that would end or change the transaction throws Misuse, `misuse.ledger.transaction`, and the
 * claim is rolled back (STO-38). The connection ends with the grant.
 */
final class GuardedConnection extends PDO
{
    /** The words that end a transaction or begin another one. */
    private const ENDS = ['BEGIN', 'START', 'COMMIT', 'END', 'ABORT', 'XA'];

    /** Patterns for each engine: strings and comments, then words and ends of statements. */
    private const PARTS = [
        'sqlite' => self::QUOTES . self::REST,
        'postgres' => '/\bE\'(?:[^\'\\\\]++|\\\\.|\'\')*+\'|(?<dollar>\$\w*\$).*?\k<dollar>|'
            . self::PLAIN . self::REST,
        'mariadb' => '/\'(?:[^\'\\\\]++|\\\\.|\'\')*+\'|"(?:[^"\\\\]++|\\\\.|"")*+"|`(?:[^`]++|``)*+`'
            . '|#[^\n]*+|\/\*M?!\d*' . self::REST,
    ];
    private const PLAIN = '\'(?:[^\']++|\'\')*+\'|"(?:[^"]++|"")*+"';
    private const QUOTES = '/' . self::PLAIN . '|`(?:[^`]++|``)*+`|\[[^\]]*+\]';
    private const REST = '|--[^\n]*+|\/\*.*?\*\/|(?<word>[a-z_]\w*+)|(?<end>;)/is';

    private bool $isOver = false;
    private bool $wasHit = false;

    /** The savepoint that serves as the transaction of a layer over this connection. */
    private const NESTED = 'assay_nested';
    /** Whether that savepoint is set; null if this connection allows no nested transaction. */
    private ?bool $isNested = null;

    /**
     * @param PDO $pdo has the open transaction; nothing of this object's own parent is used
     *
     * @internal
     */
    public function __construct(private PDO $pdo, private string $engine)
    {
    }

    /**
     * Returns this connection for a layer that begins and commits by itself, such as an ORM. Its
     * transaction is a savepoint: what it commits is committed together with the claim or not at
     * all.
     */
    public function nested(): self
    {
        $nested = new self($this, $this->engine);
        $nested->isNested = false;

        return $nested;
    }

    /**
     * Ends the connection; returns whether the grant tried to end the transaction.
     *
     * @internal
     */
    public function close(): bool
    {
        $this->isOver = true;

        return $this->wasHit;
    }

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        return $this->checked($query)->prepare($query, $options);
    }

    public function query(
        string $query,
        ?int $fetchMode = null,
        mixed ...$fetchModeArgs,
    ): PDOStatement|false {
        return $this->checked($query)->query($query, $fetchMode, ...$fetchModeArgs);
    }

    public function exec(string $statement): int|false
    {
        return $this->checked($statement)->exec($statement);
    }

    public function beginTransaction(): bool
    {
        return $this->nest(false, 'SAVEPOINT %s');
    }

    public function commit(): bool
    {
        return $this->nest(true, 'RELEASE SAVEPOINT %s');
    }

    public function rollBack(): bool
    {
        return $this->nest(true, 'ROLLBACK TO SAVEPOINT %s');
    }

    public function inTransaction(): bool
    {
        return !$this->isOver && $this->isNested !== false;
    }

    public function setAttribute(int $attribute, mixed $value): bool
    {
        if ($attribute === PDO::ATTR_AUTOCOMMIT) {
            $this->refuse();
        }

        return $this->own()->setAttribute($attribute, $value);
    }

    public function getAttribute(int $attribute): mixed
    {
        return $this->own()->getAttribute($attribute);
    }

    public function lastInsertId(?string $name = null): string|false
    {
        return $this->own()->lastInsertId($name);
    }

    public function quote(string $string, int $type = PDO::PARAM_STR): string|false
    {
        return $this->own()->quote($string, $type);
    }

    public function errorCode(): ?string
    {
        return $this->own()->errorCode();
    }

    public function errorInfo(): array
    {
        return $this->own()->errorInfo();
    }

    /** Calls a method that a driver adds to PDO: pgsqlCopyFromArray, sqliteCreateFunction … */
    public function __call(string $name, array $arguments): mixed
    {
        return $this->own()->{$name}(...$arguments);
    }

    /** @param bool $from whether the nested transaction must be open before */
    private function nest(bool $from, string $statement): bool
    {
        if ($this->isNested !== $from) {
            $this->refuse();
        }
        $this->pdo->exec(sprintf($statement, self::NESTED));
        $this->isNested = !$from;

        return true;
    }

    private function own(): PDO
    {
        if ($this->isOver) {
            throw new \LogicException('the grant is over, and its connection with it');
        }

        return $this->pdo;
    }

    private function checked(string $sql): PDO
    {
        return self::endsTransaction($sql, $this->engine) ? $this->refuse() : $this->own();
    }

    private function refuse(): never
    {
        $this->own();
        $this->wasHit = true;
        if ($this->pdo instanceof self) {
            $this->pdo->refuse();
        }
        throw Refusal::named('misuse.ledger.transaction');
    }

    /** Whether a statement of a text ends the transaction, begins another or sets autocommit. */
    public static function endsTransaction(string $sql, string $engine): bool
    {
        foreach (self::statements($sql, $engine) as $words) {
            $first = $words[0];
            if (in_array($first, self::ENDS, true)
                || $first === 'ROLLBACK' && !in_array('TO', $words, true)
                || $first === 'PREPARE' && ($words[1] ?? '') === 'TRANSACTION'
                || $first === 'SET' && in_array('AUTOCOMMIT', $words, true)
                || in_array($first, ['SAVEPOINT', 'RELEASE', 'ROLLBACK'], true)
                    && in_array(strtoupper(PdoEngine::SAVEPOINT), $words, true)) {
                return true;
            }
            if ($first === 'CREATE') {
                // The body of a trigger or a procedure has statements of its own.
                return false;
            }
        }

        return false;
    }

    /**
     * Yields the words of each statement in upper case, without values, quoted names and comments.
     * A comment that MySQL executes counts as statements. A text that cannot be parsed yields none:
     * the executor also checks the transaction after the grant.
     *
     * @return iterable<non-empty-list<string>>
     */
    private static function statements(string $sql, string $engine): iterable
    {
        $words = [];
        $how = PREG_SET_ORDER | PREG_UNMATCHED_AS_NULL;
        preg_match_all(self::PARTS[$engine], $sql, $found, $how);
        foreach ([...($found ?: []), ['word' => null, 'end' => ';']] as $part) {
            if ($part['word'] !== null) {
                $words[] = strtoupper($part['word']);
            } elseif ($part['end'] !== null && $words !== []) {
                yield $words;
                $words = [];
            }
        }
    }

    public function __debugInfo(): array
    {
        return ['isOver' => $this->isOver];
    }
}
