<?php

declare(strict_types=1);

namespace Assay\Facts;

use Assay\Internal\Member;
use Assay\Internal\ReadOnce;

/**
 * What an answer of Apple's DeviceCheck endpoint means.
 *
 * An answer that says nothing is neither a clean device nor a used one. Hand it to
 * `assessRisk` as the observation `deviceCheck`; after a refusal it stands in
 * `error.document.facts`, with outcome "token-refused" or "unavailable".
 */
final class DeviceCheck extends Facts
{
    use ReadOnce;

    protected const MEMBERS = [
        'outcome' => [Member::TEXT, 'outcome'],
        'fault' => [Member::TEXT, 'fault'],
        'month' => [Member::TEXT, 'month'],
        'ageMonths' => [Member::INTEGER, 'ageMonths'],
        'bits' => [Member::DETAILS, 'bits', DeviceBits::class],
        'offer' => [Member::TEXT, 'offer'],
    ];

    /**
     * "bits", "no-bits" (genuine, never written by this team), "updated", "valid", "token-
     * refused", "unavailable".
     */
    public readonly ?string $outcome;
    /** Whose fault a refusal is: "client", "ours", "transient", "unknown". */
    public readonly ?string $fault;
    /** Last write, "2026-05": no better is to be had. */
    public readonly ?string $month;
    /** Calendar months since then, never days. */
    public readonly ?int $ageMonths;
    /** Only with the outcome "bits". */
    public readonly ?DeviceBits $bits;
    /** "free" or "device-used"; null where `offer` was not asked for. */
    public readonly ?string $offer;

    /** The facts' own JSON, with members that this version does not know. */
    public function payload(): array
    {
        return $this->values();
    }
}
