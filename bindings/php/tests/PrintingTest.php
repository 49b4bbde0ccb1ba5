<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Document;
use Assay\Exchange;
use Assay\Facts\AppleTokens;
use Assay\Facts\ClientSecret;
use Assay\Facts\Details;
use Assay\Facts\IssuedSession;
use Assay\Facts\SignedToken;
use Assay\Verifier;
use PHPUnit\Framework\TestCase;

/** Asserts that secrets are neither printed nor serialised (EXC-22). */
final class PrintingTest extends TestCase
{
    use Refusals;

    private const SECRET = 'eyJhbGciOi';
    private const MEMBERS = [
        AppleTokens::class => ['accessToken', 'refreshToken'],
        SignedToken::class => ['token'],
        ClientSecret::class => ['clientSecret'],
        IssuedSession::class => ['text', 'keyId', 'issuedAtMs'],
    ];

    /** Returns everything that PHP prints of a value. */
    private static function printed(mixed $value): string
    {
        ob_start();
        var_dump($value);

        return ob_get_clean() . print_r($value, true) . var_export($value, true)
            . print_r([(array) $value], true);
    }

    public function testSecretResults(): void
    {
        foreach (self::MEMBERS as $class => $names) {
            $values = ['expiresAtMs' => 1, 'more' => 'new'] + array_map(
                static fn (string $name): int|string => $name === 'issuedAtMs' ? 1
                    : ($name === 'keyId' ? 'key' : self::SECRET),
                array_combine($names, $names),
            );
            $details = $class::of($values);
            $this->assertSame($values['expiresAtMs'], $details->expiresAtMs);
            foreach ($names as $name) {
                $this->assertSame($values[$name], $details->{$name});
                $this->assertTrue(isset($details->{$name}));
            }
            $this->assertEquals($values, $details->payload());
            $this->assertStringContainsString(self::SECRET, (string) json_encode($details));
            $printed = self::printed($details);
            $this->assertStringNotContainsString(self::SECRET, $printed, $class);
            $this->assertStringContainsString("[{$names[0]}] => not shown", $printed);
            $this->assertNotSerialised($details);
        }
    }

    private function assertNotSerialised(Details $details): void
    {
        $error = $this->thrown(\LogicException::class, fn () => serialize($details));
        $this->assertStringContainsString('payload', $error->getMessage());
    }

    /** Asserts it for documents of open steps, signatures and issued tokens, read before. */
    public function testDocuments(): void
    {
        $seen = 0;
        foreach (CaseTable::get()->cases as $case) {
            if (!in_array($case['call'], ['transcript', 'exchange'], true)) {
                continue;
            }
            $exchange = self::first($case);
            $document = $exchange?->document();
            $request = json_decode(CaseTable::given($case, 'request'), true);
            $sent = $exchange === null || $exchange->isDone() ? []
                : [$request['deviceToken'] ?? '', $request['receipt'] ?? ''];
            $secrets = array_filter(
                [...self::secrets($document), ...$sent],
                static fn (mixed $text): bool => is_string($text) && $text !== '',
            );
            $seen += count($secrets);
            $printed = $secrets === [] ? ''
                : self::printed($document) . print_r($exchange, true);
            foreach ($secrets as $secret) {
                $this->assertStringNotContainsString($secret, $printed, $case['name']);
            }
        }
        $this->assertGreaterThan(20, $seen);
    }

    private static function first(array $case): ?Exchange
    {
        try {
            return CaseTable::get()->verifier($case['verifier'])
                ->exchange(CaseTable::given($case, 'request'), now: $case['now']);
        } catch (\Exception) {
            return null; // evidence or a request of the wrong form
        }
    }

    /** @return list<mixed> what the library marks as secret */
    private static function secrets(?Document $document): array
    {
        $exchange = $document?->json()['exchange'] ?? [];
        $found = [];
        foreach ($exchange['http']['headers'] ?? [] as [$name, $value]) {
            if (strtolower($name) === 'authorization') {
                $found[] = $value;
            }
        }
        foreach ($exchange['sensitivePaths'] ?? [] as $path) {
            $found[] = $document->at("exchange.$path");
        }

        return $found;
    }

    /** Asserts that no trace of an exception has secret arguments (since PHP 8.2). */
    public function testTraces(): void
    {
        if (PHP_VERSION_ID < 80200) {
            $this->markTestSkipped('before PHP 8.2 a trace shows all arguments');
        }
        $ignored = ini_set('zend.exception_ignore_args', '0');
        $verifier = new Verifier(['apps' => [['bundleId' => 'a.b', 'appAppleId' => 1]]]);
        $asked = ['operation' => 'verify-apple-identity-token', 'token' => self::SECRET];
        $open = array_filter(
            CaseTable::get()->cases,
            static fn (array $case): bool => $case['call'] === 'transcript'
                && self::first($case)?->isDone() === false
                && !str_contains(print_r(self::first($case)->document(), true), self::SECRET),
        );
        try {
            foreach ([
                fn () => $verifier->exchange($asked + ['more' => "\xff"]),
                fn () => $verifier->exchange($asked, ['no document']),
                fn () => $verifier->exchange($asked),
                fn () => $verifier->sessions()->verifySession(self::SECRET, 'read'),
                fn () => new Verifier($asked),
                fn () => self::first(current($open))->step(self::SECRET),
            ] as $call) {
                try {
                    $call();
                    $this->fail('nothing is thrown');
                } catch (\ValueError | \TypeError | \Assay\Exception\AssayException $error) {
                    $own = array_filter(
                        $error->getTrace(),
                        static fn (array $frame): bool =>
                            str_starts_with($frame['class'] ?? '', 'Assay\\')
                            && !str_starts_with($frame['class'], 'Assay\\Tests\\'),
                    );
                    $this->assertNotSame([], $own);
                    $this->assertStringNotContainsString(
                        self::SECRET,
                        $error->getMessage() . print_r($own, true),
                    );
                }
            }
        } finally {
            ini_set('zend.exception_ignore_args', (string) $ignored);
        }
    }
}
