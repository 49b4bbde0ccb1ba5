<?php

declare(strict_types=1);

namespace Shop;

use Assay\Document;
use Assay\Exception\AssayException;
use Assay\Facts\Facts;
use Assay\Store\Ledger;
use Assay\Store\Lookup;
use Assay\Store\Purchase as Row;

/** /support: was this order used, and by whom? And what is to be done about it (LST-2 … 7). */
final class Support
{
    private const LIMIT = 5 << 20;
    /** What to tell the customer, by the outcome of a look-up. */
    private const ADVICE = [
        'unused' => ['wait', 'Genuine, and never used: grant it below, by its evidence.'],
        'not-genuine' => ['bad', 'The evidence is refused: deny.'],
        'unproven' => ['wait', 'Not known here. A number alone proves nothing: ask for the receipt.'],
        'already-delivered' => ['good', 'It was delivered: show it to the customer.'],
        'resume' => ['wait', 'Claimed, and not delivered: resume it.'],
        'used-by-other' => ['bad', 'Used by another account: deny, and do not name the other one.'],
        'refunded' => ['bad', 'Apple paid it back: deny.'],
    ];

    public function __construct(
        private Settings $settings,
        private Ledger $ledger,
        private Judge $judge,
        private Till $till,
        private Apple $apple,
    ) {
    }

    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->settings);
        $query = array_map(trim(...), $request->query);
        $done = '';
        if ($request->method === 'POST') {
            $form = array_map(trim(...), $request->form(self::LIMIT));
            $operator->check($form['seal'] ?? '');
            $done = $this->tried(fn (): string => $this->act($form, $operator));
            $query = ['account' => $form['account'] ?? ''];
        }

        return Page::of('Support', $done . $this->asking($query)
            . $this->tried(fn (): string => $this->found($query, $operator))
            . $this->byHand($query, $operator));
    }

    private function tried(\Closure $what): string
    {
        try {
            return $what();
        } catch (AssayException $refusal) {
            return self::notice('bad', "Refused: $refusal->status. $refusal->reason.");
        }
    }

    // ---- what the operator does

    private function act(array $form, Operator $operator): string
    {
        $account = $form['account'] ?? '';
        $reason = $form['reason'] ?? '';
        if (($form['do'] ?? '') === 'look') {
            $verified = $this->verified($form['evidence'] ?? '');
            $asked = $account === '' ? null : $account;

            return $this->shown($this->ledger->lookup($verified, $asked, operator: true), $operator);
        }
        if ($account === '' || $reason === '') {
            return self::notice('wait', 'The account and a reason are needed.');
        }
        $note = mb_strcut("$operator->name: $reason", 0, 255);
        $answer = ($form['do'] ?? '') === 'resume'
            ? (string) $this->till->resume($form['purchase'] ?? '', $account, $note)->answer
            : $this->grant($form['evidence'] ?? '', $account, $note);
        $tone = match ($answer) {
            'granted', 'already-granted' => 'good',
            'deferred' => 'wait',
            default => 'bad',
        };

        return self::notice($tone, "The answer is: $answer.");
    }

    /** By hand is through the same gate, not around it (LST-7): without evidence there is nothing. */
    private function grant(string $evidence, string $account, string $note): string
    {
        $verified = $this->verified($evidence);

        return $this->judge->isAllowed($verified, $account)
            ? $this->till->settle($verified, $account, $note)->outcome(false)->answer : 'refused-keep';
    }

    /** @return list<Facts|Document> */
    private function verified(string $evidence): array
    {
        $finding = $this->judge->look($evidence);

        if (!$finding->worthVerifying) {
            $finding->document()->throwIfRefused();
        }

        return $this->judge->verified($evidence, $finding);
    }

    // ---- what the operator sees

    private function found(array $query, Operator $operator): string
    {
        $account = ($query['account'] ?? '') === '' ? null : $query['account'];
        if (($query['order'] ?? '') !== '') {
            $order = $this->apple->order($query['order']);

            return $order === null ? self::notice(...self::ADVICE['unproven'])
                : $this->shown($this->ledger->lookup($order, $account, operator: true), $operator);
        }
        if (($query['transaction'] ?? '') !== '') {
            return $this->shown($this->ledger->lookup(
                account: $account,
                environment: ($query['environment'] ?? '') === 'Sandbox' ? 'Sandbox' : 'Production',
                transactionId: $query['transaction'],
                operator: true,
            ), $operator);
        }

        return $account === null ? ''
            : $this->shown($this->ledger->lookup(account: $account, operator: true), $operator);
    }

    private function shown(Lookup $lookup, Operator $operator): string
    {
        $rows = array_map(fn (Row $row): string => $this->row($row, $operator), $lookup->rows);

        return self::notice(...self::ADVICE[$lookup->outcome] ?? ['wait', $lookup->outcome])
            . implode('', $rows);
    }

    private function row(Row $row, Operator $operator): string
    {
        $facts = [
            'Product' => "$row->quantity × $row->product",
            'Transaction' => "$row->environment $row->transactionId",
            'Account' => $row->operator?->account ?: 'nobody yet',
            'Bought' => Page::time($row->purchasedMs),
            'Claimed' => Page::time($row->claimedMs),
            'Delivered' => Page::time($row->grantedMs),
            'Refunded' => Page::time($row->revokedMs),
            'Note' => $row->operator?->note ?? '–',
        ];
        $list = '';
        foreach ($facts as $name => $value) {
            $list .= "<dt>$name</dt><dd>" . Page::text($value) . '</dd>';
        }
        [$tone, $advice] = self::ADVICE[$row->outcome] ?? ['wait', $row->outcome];
        $form = $row->state === 'claimed' ? $this->resuming($row, $operator) : '';

        $state = Page::text($row->state);

        return "<section><h2 class=\"$tone\">$state</h2><p>$advice</p><dl>$list</dl>$form</section>";
    }

    private function resuming(Row $row, Operator $operator): string
    {
        return $this->form($operator, [
            'do' => 'resume',
            'purchase' => $row->purchaseKey,
            'account' => (string) $row->operator?->account,
        ], self::field('reason', 'Reason', '') . '<button>Resume: deliver it now</button>');
    }

    private function byHand(array $query, Operator $operator): string
    {
        return '<section><h2>Grant by hand</h2><p class="soft">The evidence is verified and claimed as'
            . ' if the app had sent it, with your name and reason beside it.</p>'
            . $this->form(
                $operator,
                [],
                self::field('account', 'Account', $query['account'] ?? '')
                . '<label for="evidence">Evidence: the receipt or signed transaction</label>'
                . '<textarea id="evidence" name="evidence" required></textarea>'
                . self::field('reason', 'Reason, for a grant', '', false)
                . '<button name="do" value="look">Was it used?</button> '
                . '<button name="do" value="grant">Verify and grant</button>',
            ) . '</section>';
    }

    private function asking(array $query): string
    {
        $selected = ($query['environment'] ?? '') === 'Sandbox' ? ' selected' : '';

        return '<section><h2>Was this order used?</h2><form method="get" action="/support">'
            . self::field('account', 'Account', $query['account'] ?? '', false)
            . self::field('transaction', 'Transaction id', $query['transaction'] ?? '', false)
            . '<label for="environment">of</label><select id="environment" name="environment">'
            . "<option>Production</option><option$selected>Sandbox</option></select>"
            . self::field('order', 'Order number of Apple\'s mail', $query['order'] ?? '', false)
            . '<button>Look it up</button></form></section>';
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

    private static function notice(string $tone, string $text): string
    {
        return "<section class=\"$tone\" role=\"status\"><p>" . Page::text($text) . '</p></section>';
    }
}
