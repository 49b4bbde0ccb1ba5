<?php

declare(strict_types=1);

namespace Assay\Exception;

use Assay\Document;
use Assay\Internal\Refusal;

/**
 * A refusal. Trust nothing of the input that the call was given.
 *
 *     AssayException
 *     ├── Rejected        well formed, but not authentic, not for these apps, not allowed
 *     ├── Malformed       not of the format that it should have
 *     ├── Unsupported     algorithm, version or kind not handled
 *     ├── TooLarge        a size, depth or count limit was exceeded
 *     ├── Misuse          the calling program broke a rule
 *     ├── Configuration   the configuration is not usable
 *     ├── Unavailable     a server or the database gave no usable response: retry
 *     ├── Internal        a bug or a damaged build; nothing was trusted
 *     └── Pending         nothing is decided yet: take the next step
 *
 * Branch on the class; the rest is detail for logs and operators. `getCode()` is the number of the
 * status, family | detail << 8; `getMessage()` has status, reason, rule, location and hint on one
 * line, without any secret or personal identifier.
 */
abstract class AssayException extends \RuntimeException
{
    /** The name of the status, "rejected.chain.untrusted-root". */
    public readonly string $status;
    /** The description of the fault, without any secret. */
    public readonly string $reason;
    /** The id of the failed check, "chain.root"; null if there is none. */
    public readonly ?string $check;
    /** The rule of the specification, "JWS-20"; null if there is none. */
    public readonly ?string $rule;
    /** The location: a member path, "x5c[2]", a byte offset; null if there is none. */
    public readonly ?string $at;
    /** The advice for the operator. */
    public readonly ?string $hint;
    /** "never", "later", "same-once", "other-environment", "after-config". */
    public readonly string $retryClass;
    /** The HTTP status with which a back end answers its own client: 400, 403, 409, 413, 500 … */
    public readonly int $httpStatus;
    /** The whole document, with every check made; null if the call made none. */
    public readonly ?Document $document;

    /**
     * @param array<string, string|null> $error
     *
     * @internal
     */
    final public function __construct(
        int $code,
        string $status,
        array $error,
        ?Document $document = null,
    ) {
        $this->status = $status;
        $this->reason = $error['message'] ?? '';
        $this->check = $error['check'] ?? null;
        $this->rule = $error['rule'] ?? null;
        $this->at = $error['at'] ?? null;
        $this->hint = $error['hint'] ?? null;
        $this->retryClass = $error['retryClass'] ?? 'never';
        $this->httpStatus = Refusal::httpStatus($code);
        $this->document = $document;
        parent::__construct($this->sentence(), $code);
    }

    /** Serialises everything but the document, which is proof in its own process only. */
    public function __serialize(): array
    {
        return [
            'code' => $this->getCode(),
            'status' => $this->status,
            'error' => [
                'message' => $this->reason,
                'check' => $this->check,
                'rule' => $this->rule,
                'at' => $this->at,
                'hint' => $this->hint,
                'retryClass' => $this->retryClass,
            ],
        ];
    }

    public function __unserialize(array $data): void
    {
        $this->__construct($data['code'], $data['status'], $data['error']);
    }

    private function sentence(): string
    {
        $place = array_filter([$this->rule, $this->at === null ? null : "at $this->at"]);

        return $this->status
            . ($this->reason === '' ? '' : ": $this->reason")
            . ($place === [] ? '' : ' (' . implode(', ', $place) . ')')
            . ($this->hint === null ? '' : "; hint: $this->hint");
    }
}
