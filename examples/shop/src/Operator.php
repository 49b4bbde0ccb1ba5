<?php

declare(strict_types=1);

namespace Shop;

/** An operator of the settings, who may open the pages with a login. */
final class Operator
{
    private function __construct(
        public readonly string $name,
        public readonly Role $role,
        private string $formKey,
    ) {
    }

    /**
     * Checks the login. A request without a login costs nothing; a wrong login costs one password
     * hash, whether the name exists or not.
     *
     * @throws Refused 401
     */
    public static function of(Request $request, Settings $settings): self
    {
        $given = preg_match('/^Basic +([A-Za-z0-9+\/=]+)$/i', (string) $request->authorization, $found)
            ? (string) base64_decode($found[1]) : '';
        [$name, $password] = explode(':', $given, 2) + ['', ''];
        if ($name === '' || $password === '' || $settings->operators === []) {
            throw self::unauthorized();
        }
        $known = $settings->operators[$name] ?? null;
        $hash = ($known ?? array_values($settings->operators)[0])->hash;
        if (!password_verify($password, $hash) || $known === null) {
            Log::line('WARN', 'operator refused: ' . mb_strcut($name, 0, 64));
            throw self::unauthorized();
        }

        return new self($name, $known->role, $settings->formKey);
    }

    public function may(Role $role): bool
    {
        return $this->role->includes($role);
    }

    /** @throws Refused 403 */
    public function needs(Role $role): void
    {
        $this->may($role) || throw new Refused(403, 'Not allowed');
    }

    /** Returns the token of every form, without which another site could send a form. */
    public function seal(string $day = 'today'): string
    {
        $said = $this->name . '|' . gmdate('Y-m-d', (int) strtotime("$day UTC"));

        return hash_hmac('sha256', $said, $this->formKey);
    }

    /** Whether a form is of this operator, and of today or yesterday. */
    public function sealed(string $seal): bool
    {
        return hash_equals($this->seal(), $seal) || hash_equals($this->seal('yesterday'), $seal);
    }

    private static function unauthorized(): Refused
    {
        return new Refused(401, 'Unauthorized', [
            'WWW-Authenticate' => 'Basic realm="shop", charset="UTF-8"',
        ]);
    }
}
