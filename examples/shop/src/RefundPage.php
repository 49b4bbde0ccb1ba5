<?php

declare(strict_types=1);

namespace Shop;

use Assay\Ledger\RefundCase;

/**
 * /refunds: the open questions of Apple about refunds, with the time that is left, what is said and
 * why; and what was said beside what Apple decided (RFA-60). It sends nothing: `bin/shop refunds` does.
 */
final class RefundPage
{
    /** The most cases of a table: of the open ones those with less time, of the closed ones the newest. */
    private const MOST = 100;
    private const OPEN = ['Order', 'Product', 'Time left', 'What is said to Apple, and why'];
    private const CLOSED = ['Order', 'Product', 'Asked, in UTC', 'What we said, and why', 'What Apple decided'];
    /** The rows and columns of the counts. */
    private const SAID = ['sent' => 'Answered', 'silent' => 'Nothing was said', 'late' => 'Too late',
        'failed' => 'Sending failed', 'decided' => 'Apple decided first'];
    private const DECIDED = ['declined' => 'Not refunded', 'refunded' => 'Refunded',
        'reversed' => 'Refund taken back', '' => 'Nothing yet'];

    public function __construct(private Shop $shop)
    {
    }

    /** @throws Refused 400, 401 */
    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->shop->settings);
        $span = Span::of($request->query + ['span' => 'month']);
        $closed = [];
        foreach ($this->shop->refunds()->closed($span->fromMs, $span->toMs - 1) as $case) {
            $closed[] = $case;
        }

        return Page::of('Refunds', $this->mode() . $this->open() . Page::choice('/refunds', $span)
            . self::closed($closed, $span), $operator);
    }

    /** Returns why no answer is sent at all; nothing if answers are sent. */
    private function mode(): string
    {
        $settings = $this->shop->settings;
        $why = match (true) {
            ($this->shop->verifier()->configuration()['refunds']['mode'] ?? 'record') === 'record'
                => 'The shop is in record mode: it decides every answer and sends none. Compare what it would have'
                . ' said with what Apple decided, then set <code>refunds.mode</code> to <code>answer</code>.',
            $settings->refundHooks === null
                => 'Nobody has told the shop where the consent of its customers is:'
                . ' set <code>refundHooks</code>. Without consent nothing may be sent.',
            !isset($settings->verifier->appStoreServerApi)
                => 'The shop has no key for the App Store Server API, by which answers are sent.',
            default => '',
        };

        return $why === '' ? '' : "<section class=\"wait\"><h2>Nothing is sent</h2><p>$why</p></section>";
    }

    private function open(): string
    {
        $rows = [];
        $count = 0;
        foreach ($this->shop->refunds()->open() as $case) {
            if (++$count > self::MOST) {
                continue;
            }
            $left = Refunds::left($case);
            $rows[] = [...self::order($case), "<span class=\"date\">$left</span><p class=\"soft\">until "
                . Page::time($case->dueAtMs) . '</p>', $this->assessed($case)];
        }
        $html = $rows === [] ? '<p>Apple waits for no answer.</p>'
            : self::more($count, 'The oldest') . Table::cards('Open questions, the oldest first', self::OPEN, $rows);

        return "<section><h2>Open questions</h2>$html</section>";
    }

    /** Returns what is said of an open case, or that the shop's own hooks fail. */
    private function assessed(RefundCase $case): string
    {
        try {
            return RefundWords::answer($this->shop->refunds()->assessed($case));
        } catch (\Throwable $fault) {
            Log::fault($fault);

            return '<p><strong class="bad">Not known.</strong> What the shop knows of this customer could not be'
                . ' asked for; the log says more. The question stays open.</p>';
        }
    }

    /** @param list<RefundCase> $cases the oldest first */
    private static function closed(array $cases, Span $span): string
    {
        $title = Page::text(ucfirst($span->title()));
        if ($cases === []) {
            return "<section><h2>$title</h2><p>No question of this time is closed.</p></section>";
        }
        $rows = [];
        foreach (array_slice(array_reverse($cases), 0, self::MOST) as $case) {
            $rows[] = [...self::order($case), Page::time($case->askedAtMs), RefundWords::said($case),
                RefundWords::decided($case)];
        }

        return "<section><h2>$title</h2>" . self::counts($cases) . '</section>'
            . "<section><h2>Each of them</h2>" . self::more(count($cases), 'The newest')
            . Table::cards('Closed questions, the newest first', self::CLOSED, $rows) . '</section>';
    }

    /** Returns how many cases a table leaves out; nothing if it has them all. */
    private static function more(int $count, string $which): string
    {
        return $count <= self::MOST ? '' : "<p>$which " . self::MOST . " of $count.</p>";
    }

    /** @param non-empty-list<RefundCase> $cases */
    private static function counts(array $cases): string
    {
        $counts = [];
        foreach ($cases as $case) {
            $decided = isset(self::DECIDED[(string) $case->outcome]) ? (string) $case->outcome : '';
            $counts[$case->state][$decided] = ($counts[$case->state][$decided] ?? 0) + 1;
        }
        $rows = [];
        foreach (array_intersect_key(self::SAID, $counts) as $state => $name) {
            $row = [$name];
            foreach (array_keys(self::DECIDED) as $decided) {
                $row[] = $counts[$state][$decided] ?? 0;
            }
            $rows[] = $row;
        }

        return Table::of('What we said beside what Apple decided', ['', ...array_values(self::DECIDED)], $rows);
    }

    /** @return array{string, string} the cells of the order and its product */
    private static function order(RefundCase $case): array
    {
        return [Page::text("$case->environment $case->transactionId"), Page::text($case->productId)];
    }
}
