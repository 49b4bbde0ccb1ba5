<?php

declare(strict_types=1);

namespace Shop;

use PDO;

/** Where the database is: the arguments of PDO. */
final class Database
{
    /** PDO's drivers, and the library's names of their engines. */
    private const ENGINES = ['sqlite' => 'sqlite', 'pgsql' => 'postgres', 'mysql' => 'mariadb'];

    private function __construct(
        public readonly string $dsn,
        public readonly ?string $user,
        public readonly ?string $password,
    ) {
    }

    /**
     * Returns the database of a setting; null if it has another form.
     *
     * @throws \DomainException if PHP lacks the driver
     */
    public static function of(mixed $given): ?self
    {
        $texts = $given instanceof \stdClass ? array_filter(get_object_vars($given), is_string(...)) : [];
        $known = array_intersect_key($texts, ['dsn' => 0, 'user' => 0, 'password' => 0]);
        $driver = (string) strstr($known['dsn'] ?? '', ':', true);
        if (!isset(self::ENGINES[$driver]) || count($known) !== count((array) $given)) {
            return null;
        }
        in_array($driver, PDO::getAvailableDrivers(), true)
            || throw new \DomainException("shop: database needs the extension pdo_$driver");

        return new self($known['dsn'], $known['user'] ?? null, $known['password'] ?? null);
    }

    /** Returns the name of PDO's driver. */
    public function driver(): string
    {
        return (string) strstr($this->dsn, ':', true);
    }

    /** Returns the library's name of the engine. */
    public function engine(): string
    {
        return self::ENGINES[$this->driver()];
    }
}
