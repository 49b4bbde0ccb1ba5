<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Verifier;

/**
 * The shared case table: evidence with the expected results.
 *
 * The environment variable ASSAY_CASES names the file; `make check` mints it with `assay mint` and
 * runs the same table through C, Python, Go and PHP. Without it the tests fail: cases that are not
 * run prove nothing.
 */
final class CaseTable
{
    public const VARIABLE = 'ASSAY_CASES';

    /** The member that has the evidence of a kind. */
    private const EVIDENCE_MEMBERS = [
        'transaction-receipt' => 'receipt',
        'app-receipt' => 'receipt',
        'attest-receipt' => 'receipt',
        'verify-receipt-response' => 'body',
        'keyset' => 'jwks',
    ];

    private static ?self $table = null;

    /** @var list<array<string, mixed>> */
    public array $cases;

    /** @var array<string, object> configurations as objects, so that {} stays {} */
    private array $configurations;

    /** @var array<string, Verifier> */
    private array $verifiers = [];

    private function __construct(string $path)
    {
        $text = (string) file_get_contents($path);
        $content = json_decode($text, true, 512, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
        if (($content['assayCases'] ?? null) !== 1) {
            throw new \LogicException("$path is no case table of version 1");
        }
        $this->cases = $content['cases'];
        $objects = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        $this->configurations = (array) $objects->verifiers;
    }

    public static function get(): self
    {
        if (self::$table === null) {
            $path = getenv(self::VARIABLE);
            if ($path === false || $path === '') {
                throw new \LogicException(
                    self::VARIABLE . ' is not set: run `make check`, which mints the cases'
                );
            }
            self::$table = new self($path);
        }

        return self::$table;
    }

    public function configuration(string $name): object
    {
        return $this->configurations[$name];
    }

    /** Returns the first configuration that has a block. */
    public function configurationWith(string $block): object
    {
        foreach ($this->configurations as $configuration) {
            if (isset($configuration->{$block})) {
                return $configuration;
            }
        }
        throw new \LogicException("the case table has no configuration with $block");
    }

    public function verifier(string $name): Verifier
    {
        return $this->verifiers[$name] ??= new Verifier($this->configuration($name));
    }

    /** @return list<array<string, mixed>> */
    public function of(string $call): array
    {
        $wanted = static fn (array $case): bool => $case['call'] === $call;

        return array_values(array_filter($this->cases, $wanted));
    }

    /** Returns the first accepted JWS case of a kind. */
    public function accepted(string $kind): array
    {
        foreach ($this->of('verify_jws') as $case) {
            if ($case['kind'] === $kind && $case['expect']['status'] === 'ok') {
                return $case;
            }
        }
        throw new \LogicException("the case table has no accepted $kind");
    }

    /** Returns the first accepted case of a call, and of a verifier if one is named. */
    public function acceptedCall(string $call, ?string $verifier = null): array
    {
        foreach ($this->of($call) as $case) {
            $fits = $verifier === null || $case['verifier'] === $verifier;
            if ($fits && $case['expect']['status'] === 'ok') {
                return $case;
            }
        }
        throw new \LogicException("the case table has no accepted $call");
    }

    /** Returns the first JWS case of a family of statuses. */
    public function refused(string $family): array
    {
        foreach ($this->of('verify_jws') as $case) {
            if (str_starts_with($case['expect']['status'], "$family.")) {
                return $case;
            }
        }
        throw new \LogicException("the case table has no $family case");
    }

    /** Returns the transcript of this name. */
    public function transcript(string $name): array
    {
        foreach ($this->of('transcript') as $case) {
            if (str_ends_with($case['name'], "call-verify-receipt: $name")) {
                return $case;
            }
        }
        throw new \LogicException("the case table has no transcript $name");
    }

    /** Returns the bytes of an input of a case: text, decoded base64, or a repetition. */
    public static function given(array $case, string $name): string
    {
        if (isset($case[$name])) {
            return $case[$name];
        }
        if (isset($case[$name . 'Base64'])) {
            $octets = base64_decode($case[$name . 'Base64'], true);
            if ($octets === false) {
                throw new \LogicException("{$name}Base64 is no base64");
            }

            return $octets;
        }
        $parts = $case[$name . 'Repeat'];

        return $parts['prefix'] . str_repeat($parts['unit'], $parts['count'])
            . $parts['suffix'];
    }

    public static function evidence(array $case): string
    {
        return self::given($case, self::EVIDENCE_MEMBERS[$case['kind']] ?? 'jws');
    }

    /** Returns the subject of a receipt, a device or a key; null if the case has none. */
    public static function subject(array $case): ?string
    {
        return isset($case['subjectBase64']) ? self::given($case, 'subject') : null;
    }
}
