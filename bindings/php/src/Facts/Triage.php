<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Header;
use Assay\Internal\Member;
use Assay\Internal\ReadOnce;
use Assay\Internal\Refusal;

/**
 * The library's finding about a blob that nobody verified.
 *
 * `worthVerifying` says whether to go on; otherwise `disposition` says what to
 * tell the client, and `status` why. A finding is never evidence.
 */
final class Triage extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'category' => [Member::TEXT, 'category'],
        'form' => [Member::TEXT, 'form'],
        'disposition' => [Member::TEXT, 'disposition'],
        'next' => [Member::TEXT, 'next'],
        'kind' => [Member::TEXT, 'kind'],
        'traits' => [Member::TEXTS, 'traits'],
        'transport' => [Member::DETAILS, 'transport', Transport::class],
        'claimed' => [Member::OWN, 'claimed'],
        'worthVerifying' => [Member::OWN, ''],
        'status' => [Member::OWN, ''],
        'httpStatus' => [Member::OWN, ''],
    ];

    /** "candidate", "unconfirmed", "jws", "foreign", "cracker", "malformed", "unsupported". */
    public readonly ?string $category;
    /**
     * "transaction-receipt", "app-receipt", "attest-receipt", "jws", "cracker", "attestation",
     * "assertion", "xml-plist", "binary-plist", "json", "unknown".
     */
    public readonly ?string $form;
    /**
     * "drop": the client may delete its copy; "keep": it keeps and retries; "resend": it sends
     * its stored copy again.
     */
    public readonly ?string $disposition;
    /** "lookup": look up `claimed.keys`, then verify; "verify": there is no key; "none". */
    public readonly ?string $next;
    /** What a JWS looks like: "transaction", "notification" …; null for others. */
    public readonly ?string $kind;
    /** @var list<string> Suspicions, never verdicts: "info-compact", "missing:bid" … */
    public readonly array $traits;
    /** How it was packed. */
    public readonly ?Transport $transport;
    /** What the blob says of itself. Never act on it: verify first. */
    public readonly Claims $claimed;
    /** Whether to look it up, verify it, and only then decide. */
    public readonly bool $worthVerifying;
    /** Name of the status: "pending.triage.unverified", "rejected.triage.cracker" … */
    public readonly string $status;
    /** What to answer the client when it ends here; null where it goes on. */
    public readonly ?int $httpStatus;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }

    protected function own(string $name): mixed
    {
        $document = $this->document;
        $worth = ($document->code & 0xff) === Header::PENDING;

        return match ($name) {
            'claimed' => Claims::of($document->at('claimed') ?? []),
            'worthVerifying' => $worth,
            'status' => $document->status(),
            'httpStatus' => $worth ? null : Refusal::httpStatus($document->code),
            default => parent::own($name),
        };
    }
}
