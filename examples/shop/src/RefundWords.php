<?php

declare(strict_types=1);

namespace Shop;

use Assay\Facts\RefundAnswer;
use Assay\Ledger\RefundCase;

/** What is said to Apple about a refund, and why, in plain words (docs/spec/refund-answers.md, 3). */
final class RefundWords
{
    /** Why, by rule. */
    private const RULES = [
        'RFA-5' => 'Apple waits twelve hours, and they are over.',
        'RFA-13' => 'The customer has consented.',
        'RFA-14' => 'The shop only records: nothing is sent.',
        'RFA-15' => 'The shop\'s own rules say it.',
        'RFA-16' => 'What the shop knows of the account.',
        'RFA-20' => 'Only with the customer\'s own consent may anything be sent.',
        'RFA-21' => 'A shared purchase, a test, or a consent that is not this customer\'s to give.',
        'RFA-22' => 'The shop has looked how it was delivered.',
        'RFA-23' => 'The shop has granted it.',
        'RFA-24' => 'The shop has not granted it in time.',
        'RFA-25' => 'It was bought a short time ago, and may still be granted.',
        'RFA-26' => 'From the list of samples; else, whether it was a free trial.',
        'RFA-27' => 'Apple computes it for a subscription.',
        'RFA-28' => 'What was not delivered was not used.',
        'RFA-29' => 'The shop\'s meter says it.',
        'RFA-30' => 'The shop has no meter of it.',
        'RFA-31' => 'It was not delivered.',
        'RFA-32' => 'The reason is a legal one: Apple decides alone.',
        'RFA-33' => 'Too many of this customer\'s purchases were refunded.',
        'RFA-34' => 'The customer says that it did not arrive, and has used nothing of it.',
        'RFA-35' => 'All of it was used.',
        'RFA-36' => 'A part of the subscription\'s quota was used.',
        'RFA-37' => 'A part of it was used.',
        'RFA-38' => 'Nothing of it was used.',
        'RFA-39' => 'Nothing speaks for a refund, or against it.',
    ];
    private const FIELDS = ['customerConsented' => 'Consent', 'deliveryStatus' => 'Delivery',
        'sampleContentProvided' => 'Could be tried before', 'consumptionPercentage' => 'Used',
        'refundPreference' => 'Our wish'];
    private const VALUES = ['DELIVERED' => 'delivered', 'UNDELIVERED_QUALITY_ISSUE' => 'delivered with a fault',
        'UNDELIVERED_WRONG_ITEM' => 'the wrong item delivered', 'UNDELIVERED_OTHER' => 'not delivered',
        'UNDELIVERED_SERVER_OUTAGE' => 'not delivered, for an outage', 'DECLINE' => 'no refund',
        'GRANT_FULL' => 'a full refund', 'GRANT_PRORATED' => 'a refund of what was not used'];
    /** By answer: its tone, and what becomes of the question. */
    private const ANSWERS = ['send' => ['good', 'Is sent'], 'silent' => ['wait', 'Nothing is said'],
        'late' => ['bad', 'Too late, nothing is said'], 'wait' => ['wait', 'Is not known yet']];
    /** By state of a case that is closed. */
    private const STATES = ['sent' => ['good', 'Sent'], 'silent' => ['wait', 'Nothing was said'],
        'late' => ['bad', 'Too late, nothing was said'], 'failed' => ['bad', 'Sending failed'],
        'decided' => ['wait', 'Apple decided first']];
    /** The stored rules in their order, as members of Apple's body. */
    private const STORED = ['deliveryStatus', 'consumptionPercentage', 'refundPreference'];

    /** Returns why a rule decides so, as a sentence. */
    public static function why(string $rule): string
    {
        return self::RULES[$rule] ?? "A rule of a newer version says it: $rule.";
    }

    /** Returns an answer that is not sent yet: what becomes of it, then each member with its reason. */
    public static function answer(RefundAnswer $answer): string
    {
        $html = '';
        foreach ($answer->fields as $field) {
            $html .= $field->field === 'answer' ? self::head(self::ANSWERS, $answer->answer, $field->rule)
                : self::member($field->field, $field->value, $field->rule);
        }

        return $html;
    }

    /** Returns what was said of a closed case, or would have been. */
    public static function said(RefundCase $case): string
    {
        $rules = $case->rules;
        $html = self::head(self::STATES, $case->state, $rules[0] ?? null)
            . ($case->status === null ? '' : '<p>' . Page::text($case->status) . '</p>');
        foreach (self::STORED as $at => $field) {
            isset($rules[$at + 1]) && $html .= self::member($field, $case->{$field}, $rules[$at + 1]);
        }

        return $html;
    }

    /** Returns what Apple decided, and what the shop has taken back for it. */
    public static function decided(RefundCase $case): string
    {
        $share = $case->outcomePercentage === null ? '' : ' ' . self::percent($case->outcomePercentage);
        $taken = $case->takenUnits === 0 ? '' : "<p>Units taken back: $case->takenUnits.</p>";

        return match ($case->outcome) {
            'refunded' => "<span class=\"bad\">Refunded$share</span>",
            'declined' => '<span class="good">Not refunded</span>',
            'reversed' => '<span class="good">Refunded, and taken back</span>',
            default => 'Nothing yet',
        } . ($case->outcome === null ? '' : '<p>' . Page::time($case->outcomeAtMs) . '</p>') . $taken;
    }

    /** @param array<string, array{string, string}> $words tone and text by name */
    private static function head(array $words, string $name, ?string $rule): string
    {
        [$tone, $text] = $words[$name] ?? ['wait', $name];

        return "<p><strong class=\"$tone\">" . Page::text($text) . '.</strong>'
            . ($rule === null ? '' : self::because($rule)) . '</p>';
    }

    private static function member(string $field, mixed $value, string $rule): string
    {
        $shown = match (true) {
            $value === null => 'not said',
            is_bool($value) => $value ? 'yes' : 'no',
            $field === 'consumptionPercentage' && is_int($value) => self::percent($value),
            is_string($value) => self::VALUES[$value] ?? $value,
            default => (string) json_encode($value),
        };

        return '<p>' . Page::text((self::FIELDS[$field] ?? $field) . ": $shown.") . self::because($rule) . '</p>';
    }

    private static function because(string $rule): string
    {
        return ' <span class="soft">' . Page::text(self::why($rule) . " ($rule)") . '</span>';
    }

    /** Returns thousandths of a percent as text: "33.333 %". */
    private static function percent(int $thousandths): string
    {
        $text = sprintf('%d.%03d', intdiv($thousandths, 1000), $thousandths % 1000);

        return rtrim(rtrim($text, '0'), '.') . ' %';
    }
}
