<?php

declare(strict_types=1);

namespace Shop;

/** Who may see the pages: the operators of the settings, by a login of their own. */
final class Operator
{
    private function __construct(public readonly string $name, private string $formKey)
    {
    }

    /** @throws Refused 401 */
    public static function of(Request $request, Settings $settings): self
    {
        $given = preg_match('/^Basic +([A-Za-z0-9+\/=]+)$/i', (string) $request->authorization, $found)
            ? (string) base64_decode($found[1]) : '';
        [$name, $password] = explode(':', $given, 2) + ['', ''];
        // A name that nobody has takes as long as a wrong password.
        $hash = $settings->operators[$name]
            ?? password_hash(bin2hex(random_bytes(16)), PASSWORD_DEFAULT);
        if (!password_verify($password, $hash) || strlen($settings->formKey) < 32) {
            throw new Refused(401, 'Unauthorized', [
                'WWW-Authenticate' => 'Basic realm="shop", charset="UTF-8"',
            ]);
        }

        return new self($name, $settings->formKey);
    }

    /** Stands in every form: another site cannot send one in the operator's name. */
    public function seal(string $day = 'today'): string
    {
        $said = $this->name . '|' . gmdate('Y-m-d', (int) strtotime("$day UTC"));

        return hash_hmac('sha256', $said, $this->formKey);
    }

    /** @throws Refused 403 */
    public function check(string $seal): void
    {
        if (!hash_equals($this->seal(), $seal) && !hash_equals($this->seal('yesterday'), $seal)) {
            throw new Refused(403, 'Open the page again');
        }
    }
}
