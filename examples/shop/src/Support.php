<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Ledger\Grant;
use Assay\Ledger\LedgerPurchase as Row;
use PDO;

/**
 * /support: whether an order was used, by which account, and what to do about it (LST-2 … 7). The
 * journal, and the page, have every query and action with operator and reason.
 */
final class Support
{
    private const LIMIT = 5 << 20;
    /** The actions of a form, and the role that each needs. Any other action is 400. */
    private const ACTIONS = ['look' => Role::Reader, 'grant' => Role::Support, 'order' => Role::Support,
        'resume' => Role::Support];
    private const HEADS = ['State', 'Order', 'Account', 'Dates, in UTC', 'Who and why', 'What to do'];
    /** The advice for the customer, by the outcome of `find`; the worst first. */
    private const ADVICE = [
        'resume' => ['wait', 'Claimed, and not delivered: resume it.'],
        'unused' => ['wait', 'Genuine, and never used: grant it below.'],
        'unknown-product' => ['wait', 'Of a product that the catalogue lacks: it is granted once it is there.'],
        'used-by-other' => ['bad', 'Used by another account: deny, and do not name the other one.'],
        'refunded' => ['bad', 'Apple paid it back: deny.'],
        'not-genuine' => ['bad', 'The evidence is refused: deny.'],
        'already-delivered' => ['good', 'It was delivered: show it to the customer.'],
        'unproven' => ['wait', 'Not known here. A number alone proves nothing: ask for the receipt.'],
        'no-key' => ['wait', 'Nobody could be asked: only Apple knows what an order number stands for,'
            . ' and there is no key for its API (verifier.appStoreServerApi). Look by account, or take'
            . ' the customer\'s receipt or signed transaction below.'],
        'no-answer' => ['wait', 'Apple gave no usable answer, so nothing is known of this order yet: look'
            . ' again in a minute, or take the customer\'s receipt below.'],
        'no-order' => ['bad', 'Apple knows no such order of this app. A number alone proves nothing: ask'
            . ' for the receipt.'],
    ];
    /** The outcome of a row by its state. */
    private const STATES = ['claimed' => 'resume', 'revoked' => 'refunded', 'granted' => 'already-delivered'];

    private Settings $settings;

    public function __construct(private Shop $shop)
    {
        $this->settings = $shop->settings;
    }

    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->settings);
        $query = array_map(Page::typed(...), $request->query);
        $done = '';
        $typed = [];
        if ($request->method === 'POST') {
            $typed = array_map(Page::typed(...), $request->form(self::LIMIT));
            $done = $this->done($typed, $operator);
            $query = ['account' => $typed['account'] ?? '', 'order' => $typed['order'] ?? ''];
        }
        $found = $this->tried(fn (): string => $this->found($query, $operator));

        return Page::of('Support', $done . $this->asking($query) . $found
            . $this->byHand($typed + $query, $operator)
            . $this->journal(($query['account'] ?? '') === '' ? null : $query['account']), $operator);
    }

    /** @param \Closure(): string $what */
    private function tried(\Closure $what): string
    {
        try {
            return $what();
        } catch (AssayException $refusal) {
            return Page::notice('bad', "Refused: $refusal->status. $refusal->reason.");
        } catch (\UnexpectedValueException $fault) {
            return Page::notice('bad', 'Not delivered: ' . $fault->getMessage() . '.');
        }
    }

    // ---- actions of the operator

    /**
     * Runs an action of a form, after its journal entry was written; an unknown action is refused.
     *
     * @throws Refused 400, 403
     */
    private function done(array $form, Operator $operator): string
    {
        $do = $form['do'] ?? '';
        $end = $this->shop->journal()->asked(
            $operator,
            $form,
            self::ACTIONS,
            $form['account'] ?? '',
            $form['order'] ?? $form['purchase'] ?? '',
            $form['reason'] ?? '',
        );
        $outcome = 'refused';
        $page = $this->tried(function () use ($do, $form, $operator, &$outcome): string {
            [$outcome, $page] = $this->act($do, $form, $operator);

            return $page;
        });
        $end($outcome);

        return $page;
    }

    /** @return array{string, string} the outcome for the journal, and the text of the page */
    private function act(string $do, array $form, Operator $operator): array
    {
        $account = $form['account'] ?? '';
        $reason = $form['reason'] ?? '';
        if ($do === 'look') {
            return $this->looked($form['evidence'] ?? '', $account, $operator);
        }
        if ($account === '' || $reason === '') {
            return ['incomplete', Page::notice('wait', 'The account and a reason are needed.')];
        }
        $note = mb_strcut("$operator->name: $reason", 0, 255);
        $till = $this->shop->till()->audited(fn (PDO $pdo, Grant $grant, string $change) =>
            $this->shop->journal()->changed($pdo, $operator, $grant, $reason, $change));
        $answer = match ($do) {
            'resume' => (string) $till->resume($form['purchase'] ?? '', $account, $note)->clientResult,
            'order' => $this->granted($till, $this->ordered($form['order'] ?? ''), $account, $note),
            default => $this->granted($till, $this->verified($form['evidence'] ?? ''), $account, $note),
        };
        $tone = match ($answer) {
            'granted', 'already-granted' => 'good',
            'deferred' => 'wait',
            default => 'bad',
        };

        return [$answer, Page::notice($tone, "The answer is: $answer.")];
    }

    /** Grants by hand through the same checks as for an app (LST-7): nothing without evidence. */
    private function granted(Till $till, Proof $proof, string $account, string $note): string
    {
        if ($proof->evidence === []) {
            return 'deferred';
        }

        return $this->shop->judge()->isAllowed($proof, $account)
            ? $till->settle($proof->evidence, $account, $note)->outcome(false)->answer
            : 'refused-keep';
    }

    /** Returns Apple's signed transactions of an order, evidence like any other (LST-6). */
    private function ordered(string $order): Proof
    {
        $found = $this->shop->apple()->order($order);
        $found?->throwIfFailed();

        return new Proof($found === null || self::transactions($found) === [] ? [] : [$found]);
    }

    private function verified(string $evidence): Proof
    {
        $finding = $this->shop->verifier()->triage($evidence);
        if (!$finding->worthVerifying) {
            $finding->document()->throwIfFailed();
        }

        return $this->shop->judge()->verified($evidence, $finding);
    }

    /** @return array{string, string} */
    private function looked(string $evidence, string $account, Operator $operator): array
    {
        $proof = $this->verified($evidence);
        if ($proof->evidence === []) {
            return ['no-answer', Page::notice(...self::ADVICE['no-answer'])];
        }

        return $this->proven($proof, $account, $operator);
    }

    // ---- content of the page

    private function found(array $query, Operator $operator): string
    {
        [$account, $order, $transaction] = array_map(
            static fn (string $name): string => $query[$name] ?? '',
            ['account', 'order', 'transaction'],
        );
        if ("$account$order$transaction" === '') {
            $rows = $this->shop->purchases()->waiting();

            return $rows === [] ? '' : $this->shown('resume', $rows, $operator);
        }
        $end = $this->shop->journal()->begun($operator, 'look', $account, $order ?: $transaction);
        $outcome = 'refused';
        try {
            [$outcome, $page] = match (true) {
                $order !== '' => $this->order($order, $account, $operator),
                $transaction !== '' => $this->transaction($query, $account ?: null, $operator),
                default => $this->account($account, max(1, (int) ($query['page'] ?? 1)), $operator),
            };
        } finally {
            $end($outcome);
        }

        return $page;
    }

    /** @return array{string, string} the outcome, and the page */
    private function transaction(array $query, ?string $account, Operator $operator): array
    {
        $lookup = $this->shop->ledger()->find(
            account: $account,
            environment: ($query['environment'] ?? '') === 'Sandbox' ? 'Sandbox' : 'Production',
            transactionId: $query['transaction'],
            operatorView: true,
        );

        return [$lookup->outcome, $this->shown($lookup->outcome, $lookup->rows, $operator)];
    }

    /** @return array{string, string} */
    private function account(string $account, int $page, Operator $operator): array
    {
        $purchases = $this->shop->purchases();
        $states = $purchases->states($account);
        $worst = self::worst(array_map(
            static fn (string $state): string => self::STATES[$state] ?? $state,
            array_keys($states),
        ));
        $rows = $purchases->page($account, $page);

        return [$worst, $this->shown($worst, $rows, $operator, self::pages($account, $page, $states))];
    }

    /**
     * Returns the purchases of an order in Apple's mail, with a button that claims them.
     *
     * @return array{string, string}
     */
    private function order(string $order, string $account, Operator $operator): array
    {
        $found = $this->shop->apple()->hasKey() ? $this->shop->apple()->order($order) : null;
        if ($found === null || !$found->ok || self::transactions($found) === []) {
            $outcome = match (true) {
                $found !== null => 'no-order',
                $this->shop->apple()->hasKey() => 'no-answer',
                default => 'no-key',
            };

            return [$outcome, Page::notice(...self::ADVICE[$outcome])];
        }
        [$outcome, $page] = $this->proven(new Proof([$found]), $account, $operator);

        return [$outcome, $page . $this->claiming($order, $account, $operator)];
    }

    /**
     * Returns each purchase of verified evidence: its row, or that it has none.
     *
     * @return array{string, string}
     */
    private function proven(Proof $proof, string $account, Operator $operator): array
    {
        $rows = $this->shop->ledger()->find($proof->evidence, $account ?: null, operatorView: true)->rows;
        $known = array_column($rows, 'transactionId');
        $others = array_filter(
            Purchase::in($proof->evidence),
            static fn (Purchase $it): bool => !in_array($it->transactionId, $known, true),
        );
        $outcomes = array_map($this->outcomeOf(...), $others);
        $outcome = self::worst([...array_column($rows, 'outcome'), ...$outcomes]);

        return [$outcome, $this->shown(
            $outcome,
            $rows,
            $operator,
            '',
            array_map(self::unclaimed(...), $others, $outcomes),
        )];
    }

    /** Returns the outcome of a purchase that the ledger does not have. */
    private function outcomeOf(Purchase $purchase): string
    {
        return match (true) {
            $purchase->isRevoked => 'refunded',
            $this->settings->type($purchase->product) === null => 'unknown-product',
            default => 'unused',
        };
    }

    /** @return list<mixed> */
    private static function transactions(Document $order): array
    {
        return $order->at('exchange.result.transactions') ?? [];
    }

    /** @param list<string> $outcomes */
    private static function worst(array $outcomes): string
    {
        return array_values(array_intersect(array_keys(self::ADVICE), $outcomes))[0]
            ?? $outcomes[0] ?? 'unproven';
    }

    /**
     * @param list<Row> $rows
     * @param list<list<string>> $others cells of purchases that have no row
     */
    private function shown(string $outcome, array $rows, Operator $operator, string $pages = '', array $others = []): string
    {
        $cells = [...array_map(fn (Row $row): array => $this->row($row, $operator), $rows), ...$others];

        return Page::notice(...self::ADVICE[$outcome] ?? ['wait', $outcome]) . ($cells === [] ? ''
            : '<section><h2>Orders</h2>' . $pages . Table::cards('Orders', self::HEADS, $cells)
                . (count($rows) > 10 ? $pages : '') . '</section>');
    }

    /**
     * Returns the numbers of an account's purchases by state, and the links to the other pages.
     *
     * @param array<string, int> $states
     */
    private static function pages(string $account, int $page, array $states): string
    {
        ksort($states);
        $all = array_sum($states);
        $from = Purchases::PAGE * ($page - 1);
        $link = static fn (int $to, string $word): string => '<a href="/support?'
            . Page::text(http_build_query(['account' => $account, 'page' => $to])) . "\">$word</a> ";
        $counts = array_map(
            static fn (string $state, int $count): string => $count . ' ' . Page::text($state),
            array_keys($states),
            $states,
        );

        return $all === 0 ? '' : sprintf(
            '<p>%d–%d of %d purchases: %s. %s%s</p>',
            min($from + 1, $all),
            min($from + Purchases::PAGE, $all),
            $all,
            implode(', ', $counts),
            $page > 1 ? $link($page - 1, 'The page before') : '',
            $from + Purchases::PAGE < $all ? $link($page + 1, 'The next ones') : '',
        );
    }

    /** @return list<string> the cells of a purchase that the ledger does not have */
    private static function unclaimed(Purchase $purchase, string $outcome): array
    {
        [$tone, $advice] = self::ADVICE[$outcome];

        return ["<strong class=\"$tone\">$outcome</strong>", Page::text($purchase->product) . '<br>'
            . Page::text($purchase->transactionId), 'nobody', self::dates(['bought' => $purchase->boughtMs]), '–', $advice];
    }

    private function claiming(string $order, string $account, Operator $operator): string
    {
        return !$operator->may(Role::Support) ? '' : '<section><h2>Grant this order</h2><p class="soft">Apple is'
            . ' asked again, and what it signed is claimed as if the app had sent it.</p>'
            . $this->form(
                $operator,
                ['do' => 'order', 'order' => $order],
                self::field('account', 'Account', $account) . self::field('reason', 'Reason', '')
                . '<button>Grant it to this account</button>',
            ) . '</section>';
    }

    /** Returns the journal of this account, or of all. */
    private function journal(?string $account): string
    {
        $rows = [];
        foreach ($this->shop->journal()->newest($account) as $entry) {
            $rows[] = array_map(Page::text(...), [Page::time((int) $entry['at_ms']), $entry['operator'],
                $entry['action'], $entry['account'], $entry['subject'], $entry['reason'], $entry['outcome']]);
        }
        $heads = ['When', 'Who', 'What', 'Account', 'Subject', 'Why', 'Outcome'];

        return '<section><h2>What operators did</h2>' . ($rows === [] ? '<p>Nothing.</p>'
            : Table::cards('What operators did, the newest first', $heads, $rows)) . '</section>';
    }

    /** @return list<string> cells by HEADS */
    private function row(Row $row, Operator $operator): array
    {
        [$tone, $advice] = self::ADVICE[$row->outcome] ?? ['wait', $row->outcome];
        // A reversed refund of a purchase without owner frees it (STO-34): nothing to resume.
        $isFree = $row->state === 'claimed' && (string) $row->operatorView?->account === '';
        $form = $row->state === 'claimed' && !$isFree && $operator->may(Role::Support)
            ? $this->resuming($row, $operator) : '';

        return [
            "<strong class=\"$tone\">" . Page::text($isFree ? $row->outcome : $row->state) . '</strong>',
            Page::text("$row->quantity × $row->product") . '<br>' . Page::text("$row->environment $row->transactionId"),
            Page::text($row->operatorView?->account ?: 'nobody yet'),
            self::dates(['bought' => $row->purchasedAtMs, 'claimed' => $row->claimedAtMs,
                'delivered' => $row->grantedAtMs, 'refunded' => $row->revokedAtMs]),
            Page::text($row->operatorView?->note ?? '–'),
            Page::text($advice) . $form,
        ];
    }

    /** @param array<string, int|null> $dates in milliseconds since 1970 UTC; those that are null are left out */
    private static function dates(array $dates): string
    {
        $lines = [];
        foreach ($dates as $name => $ms) {
            $ms === null || $lines[] = "<span class=\"date\">$name " . gmdate('j M Y, H:i', intdiv($ms, 1000)) . '</span>';
        }

        return $lines === [] ? '–' : implode('<br>', $lines);
    }

    private function resuming(Row $row, Operator $operator): string
    {
        return $this->form($operator, [
            'do' => 'resume',
            'purchase' => $row->purchaseKey,
            'account' => (string) $row->operatorView?->account,
        ], self::field('reason', 'Reason', '') . '<button>Resume: deliver it now</button>');
    }

    private function byHand(array $typed, Operator $operator): string
    {
        $grants = self::field('reason', 'Reason, for a grant', $typed['reason'] ?? '', false);
        $button = '<button name="do" value="grant">Verify and grant</button>';

        return '<section><h2>Grant by hand</h2><p class="soft">The evidence is verified and claimed as'
            . ' if the app had sent it, with your name and reason beside it.</p>'
            . $this->form(
                $operator,
                [],
                self::field('account', 'Account', $typed['account'] ?? '', false)
                . '<label for="evidence">Evidence: the receipt or signed transaction</label>'
                . '<textarea id="evidence" name="evidence" required>'
                . Page::text($typed['evidence'] ?? '') . '</textarea>'
                . ($operator->may(Role::Support) ? $grants : '')
                . '<button name="do" value="look">Was it used?</button> '
                . ($operator->may(Role::Support) ? $button : ''),
            ) . '</section>';
    }

    private function asking(array $query): string
    {
        $selected = ($query['environment'] ?? '') === 'Sandbox' ? ' selected' : '';

        $fields = [
            self::field('account', 'Account', $query['account'] ?? '', false),
            self::field('transaction', 'Transaction id', $query['transaction'] ?? '', false),
            '<label for="environment">of</label><select id="environment" name="environment">'
                . "<option>Production</option><option$selected>Sandbox</option></select>",
            self::field('order', 'Order number of Apple\'s mail', $query['order'] ?? '', false),
        ];

        return '<section><h2>Was this order used?</h2><form class="row" method="get" action="/support"><div>'
            . implode('</div><div>', $fields) . '</div><button>Look it up</button></form></section>';
    }

    /** @param array<string, string> $hidden */
    private function form(Operator $operator, array $hidden, string $content): string
    {
        $fields = '';
        foreach ($hidden + ['seal' => $operator->seal()] as $name => $value) {
            $fields .= "<input type=\"hidden\" name=\"$name\" value=\"" . Page::text($value) . '">';
        }

        return "<form method=\"post\" action=\"/support\">$fields$content</form>";
    }

    private static function field(
        string $name,
        string $label,
        string $value,
        bool $isNeeded = true,
    ): string {
        static $number = 0;
        $id = $name . ++$number;

        return "<label for=\"$id\">" . Page::text($label) . '</label>'
            . "<input id=\"$id\" name=\"$name\" value=\"" . Page::text($value) . '"'
            . ($isNeeded ? ' required' : '') . '>';
    }
}
