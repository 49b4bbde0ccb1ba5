<?php

declare(strict_types=1);

namespace Assay\Tests;

use Assay\Exception\AssayException;
use Assay\Internal\Refusal;

/** Assertions about the exception of a call. */
trait Refusals
{
    /**
     * @template T of \Throwable
     *
     * @param class-string<T> $class
     *
     * @return T what the call throws
     */
    protected function thrown(string $class, callable $call, string $what = ''): \Throwable
    {
        try {
            $call();
        } catch (\Throwable $error) {
            $this->assertInstanceOf($class, $error, "$what {$error->getMessage()}");

            return $error;
        }
        $this->fail("$what: nothing is thrown");
    }

    /** Asserts that a call is refused with this status, by the class of its family. */
    protected function refused(string $status, callable $call): AssayException
    {
        $refusal = $this->thrown(AssayException::class, $call, $status);
        $this->assertSame($status, $refusal->status);
        $this->assertSame(Refusal::FAMILIES[$refusal->getCode() & 0xff], $refusal::class);

        return $refusal;
    }
}
