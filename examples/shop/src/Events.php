<?php

declare(strict_types=1);

namespace Shop;

/** GET /events: the event log of a day, week or month, in pages. It names operators and accounts. */
final class Events
{
    private const MOST_PAGES = 200;

    public function __construct(private Settings $settings, private \Closure $journal, private \Closure $log)
    {
    }

    /** @throws Refused 400, 401, 403 */
    public function answer(Request $request): Answer
    {
        $operator = Operator::of($request, $this->settings);
        $subject = trim(($request->query['span'] ?? '') . ' ' . ($request->query['day'] ?? ''));

        return ($this->journal)()->kept($operator, 'events', $subject, function () use ($request, $operator): array {
            $operator->needs(Role::Admin);
            $span = Span::of($request->query);
            $page = $request->query['page'] ?? '1';
            if (preg_match('/^[1-9][0-9]{0,2}$/D', $page) !== 1 || (int) $page > self::MOST_PAGES) {
                throw new Refused(400, 'No such page: 1 to ' . self::MOST_PAGES);
            }
            $rows = ($this->log)()->of($span, EventLog::PAGE, (int) $page);

            return [count($rows) . ' rows', self::page($span, (int) $page, $rows, $operator)];
        });
    }

    /** @param list<list<string>> $rows */
    private static function page(Span $span, int $page, array $rows, Operator $operator): Answer
    {
        $cells = array_map(static fn (array $row): array => array_map(Page::text(...), $row), $rows);
        $heads = array_map(ucfirst(...), EventLog::COLUMNS);

        return Page::of('Events of ' . $span->title(), Page::choice('/events', $span) . '<section><h2>Events</h2>'
            . ($rows === [] ? '<p>Nothing happened.</p>' : Table::cards('Events, the newest first', $heads, $cells))
            . self::pages($span, $page, count($rows) === EventLog::PAGE) . '</section>', $operator);
    }

    private static function pages(Span $span, int $page, bool $hasMore): string
    {
        $links = '';
        foreach ([$page - 1 => 'The newer ones', $page + 1 => 'The older ones'] as $to => $words) {
            $isThere = $to < $page ? $to >= 1 : $hasMore && $to <= self::MOST_PAGES;
            $query = Page::text(http_build_query(['day' => $span->date(), 'span' => $span->kind, 'page' => $to]));
            $links .= $isThere ? "<a href=\"/events?$query\">$words</a> " : '';
        }

        return "<p>$links</p>";
    }
}
