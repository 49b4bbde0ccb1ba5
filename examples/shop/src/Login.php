<?php

declare(strict_types=1);

namespace Shop;

/** The password and the role of an operator in the settings. */
final class Login
{
    private function __construct(
        public readonly string $hash,
        public readonly Role $role,
    ) {
    }

    /** Returns the login of a setting; null if it has another form. A hash alone is of role admin. */
    public static function of(mixed $given): ?self
    {
        $one = is_string($given) ? ['hash' => $given, 'role' => Role::Admin->value] : (array) $given;
        $role = is_string($one['role'] ?? null) ? Role::tryFrom($one['role']) : null;
        $isHash = is_string($one['hash'] ?? null) && password_get_info($one['hash'])['algo'] !== null;

        return $isHash && $role !== null && count($one) === 2 ? new self($one['hash'], $role) : null;
    }
}
