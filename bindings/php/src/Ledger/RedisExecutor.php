<?php

declare(strict_types=1);

namespace Assay\Ledger;

use Redis;
use RedisException;

/**
 * Runs the guard script over phpredis: quotas, sign-ups, challenges and `recordEvent`. The library
 * refuses every other operation here, since Redis may lose the last second of writes.
 */
final class RedisExecutor implements Executor
{
    /** The least interval between two checks whether a server evicts keys, in seconds (STO-83). */
    private const LOOKS = 60;

    /** @var array<string, int> when this process checked each server, in seconds */
    private static array $looked = [];
    private bool $isChecked = false;
    private bool $isLost = false;
    private ?int $statementMs = null;

    /**
     * @param Redis $redis from now on it does not retry by itself, since a counter would count
     *     twice, and it waits for a reply as long as a step allows (STO-76)
     */
    public function __construct(private Redis $redis)
    {
    }

    public function engine(): string
    {
        return 'redis';
    }

    /**
     * Returns the Redis. A declared return type would need the class when this one is preloaded.
     *
     * @return Redis
     */
    public function connection(): object
    {
        return $this->redis;
    }

    public function run(array $step): array
    {
        $results = [];
        try {
            $refused = $this->isChecked ? null : $this->check();
            if ($refused !== null) {
                return ['id' => $step['id'], 'code' => 500,
                    'error' => ['code' => $refused, 'executed' => 'no']];
            }
            $this->limit($step['limits']['statementMs'] ?? PdoEngine::LIMITS['statementMs']);
            foreach ($step['calls'] as $call) {
                $this->redis->clearLastError();
                $reply = isset($call['script'])
                    ? $this->script($call) : $this->redis->rawCommand(...$call['command']);
                $error = $this->redis->getLastError();
                if ($error !== null) {
                    return ['id' => $step['id']] + $this->failed($error, $results === []);
                }
                $results[] = ['reply' => self::values($reply)];
            }
        } catch (RedisException $error) {
            return ['id' => $step['id']] + $this->failed($error->getMessage(), $results === []);
        }

        return ['id' => $step['id'], 'code' => 200, 'results' => $results];
    }

    public function rollBack(): void
    {
    }

    public function enterGrant(): object
    {
        return $this->redis;
    }

    public function leaveGrant(?\Throwable $thrown): ?array
    {
        return null;
    }

    /**
     * Checks a connection once, before any call of a step is sent. Returns the code of a refusal;
     * null if the connection may be used (STO-74, STO-77, STO-83).
     */
    private function check(): ?string
    {
        try {
            if ($this->isLost) {
                return 'connect';
            }
            $this->redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_NONE);
            $this->redis->setOption(Redis::OPT_MAX_RETRIES, 0);
            $role = $this->asked('ROLE');
            if (is_array($role) && $role[0] !== 'master') {
                return 'standby';
            }
            $server = $this->redis->getHost() . ':' . $this->redis->getPort();
            $now = intdiv(hrtime(true), 1_000_000_000);
            if ($now - (self::$looked[$server] ?? -self::LOOKS) >= self::LOOKS) {
                if (self::isEvicting($this->asked('INFO', 'memory'))) {
                    return 'evicting';
                }
                self::$looked[$server] = $now;
            }
            $this->isChecked = true;

            return null;
        } catch (RedisException $error) {
            return $this->failed($error->getMessage(), true)['error']['code'] ?? 'connect';
        }
    }

    /** Returns a reply; false if the server does not give the information. */
    private function asked(string ...$command): mixed
    {
        $this->redis->clearLastError();
        $reply = $this->redis->rawCommand(...$command);
        $error = (string) $this->redis->getLastError();
        if ($error !== '' && !str_starts_with($error, 'NOPERM')) {
            throw new RedisException($error);
        }

        return $reply;
    }

    private static function isEvicting(mixed $info): bool
    {
        $field = static fn (string $name): string => is_string($info)
            && preg_match("/^$name:(\\S*)/m", $info, $found) === 1 ? $found[1] : '';

        return (int) $field('maxmemory') > 0
            && !in_array($field('maxmemory_policy'), ['', 'noeviction'], true);
    }

    private function limit(int $statementMs): void
    {
        if ($this->statementMs !== $statementMs) {
            $this->redis->setOption(Redis::OPT_READ_TIMEOUT, $statementMs / 1000);
            $this->statementMs = $statementMs;
        }
    }

    /** @param array{script: string, sha1: string, keys: list<string>, args: list<string>} $call */
    private function script(array $call): mixed
    {
        $given = [...$call['keys'], ...$call['args']];
        $reply = $this->redis->evalSha($call['sha1'], $given, count($call['keys']));
        if (!str_starts_with((string) $this->redis->getLastError(), 'NOSCRIPT')) {
            return $reply;
        }
        $this->redis->clearLastError();

        return $this->redis->eval($call['script'], $given, count($call['keys']));
    }

    /**
     * Returns a reply as a list; phpredis returns false for nil, and true for OK.
     *
     * @return list<mixed>
     */
    private static function values(mixed $reply): array
    {
        $value = static fn (mixed $one): mixed => match ($one) {
            false => null,
            true => 'OK',
            default => $one,
        };

        return array_map($value, is_array($reply) ? array_values($reply) : [$reply]);
    }

    /** @return array<string, mixed> */
    private function failed(string $text, bool $isFirst): array
    {
        // An error of Redis begins with a code; one of phpredis does not.
        if (preg_match('/^[A-Z]{3,}(?=\s|$)/', $text, $code) !== 1) {
            $this->isLost = true;
            $this->isChecked = false;
            $this->redis->close();

            return ['code' => 0];
        }

        return ['code' => 500, 'error' => [
            'code' => $code[0] === 'READONLY' ? 'standby' : $code[0],
            'executed' => $isFirst ? 'no' : 'unknown',
        ]];
    }

    public function __debugInfo(): array
    {
        return ['engine' => 'redis'];
    }
}
