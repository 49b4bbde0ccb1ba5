<?php

declare(strict_types=1);

namespace Assay\Store;

use Redis;
use RedisException;

/**
 * Carries out the guard script over phpredis: quotas, sign-up, challenges and `once`. The
 * library refuses everything else here, since Redis may forget a second of it.
 */
final class RedisExecutor implements Executor
{
    private bool $isChecked = false;
    private bool $isLost = false;

    public function __construct(private Redis $redis)
    {
        $redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_NONE);
    }

    public function dialect(): string
    {
        return 'redis';
    }

    /**
     * Said here only: a return type would need the class when this one is preloaded.
     *
     * @return Redis
     */
    public function connection(): object
    {
        return $this->redis;
    }

    public function carryOut(array $step): array
    {
        $results = [];
        try {
            $this->check();
            foreach ($step['run'] as $call) {
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

    /** STO-74, once a connection. */
    private function check(): void
    {
        if ($this->isLost) {
            throw new RedisException('the connection was lost');
        }
        if (!$this->isChecked) {
            $this->redis->clearLastError();
            $role = $this->redis->rawCommand('ROLE');
            if (is_array($role) && $role[0] !== 'master') {
                throw new RedisException('READONLY');
            }
            $this->isChecked = is_array($role);
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
     * A reply as a list; phpredis says false for nothing, and true for OK.
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
        // What Redis says begins with a code; what phpredis says does not.
        if (preg_match('/^[A-Z]{3,}(?=\s|$)/', $text, $code) !== 1) {
            $this->isLost = true;
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
        return ['dialect' => 'redis'];
    }
}
