<?php

declare(strict_types=1);

namespace Shop;

/** A day, a week from Monday on, or a month, of UTC; in columns: the hours of a day, else days. */
final class Span
{
    public const KINDS = ['day', 'week', 'month'];
    /** The first day that can be asked for; the last one is tomorrow. */
    public const FIRST = '2008-07-10';
    private const HOUR_MS = 3_600_000;
    private const DAY_MS = 86_400_000;

    public readonly int $fromMs;
    public readonly int $toMs;
    /** The length of a column in milliseconds. */
    public readonly int $columnMs;

    /** @param \DateTimeImmutable $day a day of it, at 00:00 UTC */
    private function __construct(
        public readonly string $kind,
        public readonly \DateTimeImmutable $day,
    ) {
        $first = match ($kind) {
            'week' => $day->modify('monday this week'),
            'month' => $day->modify('first day of this month'),
            default => $day,
        };
        $this->fromMs = 1000 * $first->getTimestamp();
        $this->toMs = 1000 * $first->modify("+1 $kind")->getTimestamp();
        $this->columnMs = $kind === 'day' ? self::HOUR_MS : self::DAY_MS;
    }

    /**
     * Returns what `day` and `span` of a query name; without them this day.
     *
     * @param array<string, string> $query
     *
     * @throws Refused 400
     */
    public static function of(array $query): self
    {
        $kind = $query['span'] ?? 'day';
        $text = ($query['day'] ?? '') === '' ? gmdate('Y-m-d') : $query['day'];
        $isDay = preg_match('/^(\d{4})-(\d\d)-(\d\d)$/D', $text, $found) === 1
            && checkdate((int) $found[2], (int) $found[3], (int) $found[1])
            && $text >= self::FIRST && $text <= self::last();
        $isDay || throw new Refused(400, 'No such day: from ' . self::FIRST . ' to ' . self::last());
        in_array($kind, self::KINDS, true) || throw new Refused(400, 'No such span: day, week or month');

        return new self($kind, new \DateTimeImmutable($text, new \DateTimeZone('UTC')));
    }

    /** Returns the last day that can be asked for. */
    public static function last(): string
    {
        return gmdate('Y-m-d', time() + 86_400);
    }

    /** Returns the day as the query has it. */
    public function date(): string
    {
        return $this->day->format('Y-m-d');
    }

    /** Returns the day to ask for to get the span before (-1) or after (1); null if there is none. */
    public function neighbour(int $direction): ?string
    {
        $first = (new \DateTimeImmutable('@' . intdiv($this->fromMs, 1000)))
            ->modify(sprintf('%+d %s', $direction, $this->kind))->format('Y-m-d');

        return $first >= self::FIRST && $first <= self::last() ? $first : null;
    }

    /** Returns its name: "Friday, 27 November 2026", "week of 23 November 2026", "November 2026". */
    public function title(): string
    {
        return match ($this->kind) {
            'week' => 'week of ' . gmdate('j F Y', intdiv($this->fromMs, 1000)),
            'month' => gmdate('F Y', intdiv($this->fromMs, 1000)),
            default => gmdate('l, j F Y', intdiv($this->fromMs, 1000)),
        };
    }

    /** @return array<int, string> the name of each column by its begin, in milliseconds */
    public function columns(): array
    {
        $format = ['day' => 'H:i', 'week' => 'D j', 'month' => 'j M'][$this->kind];
        $columns = [];
        for ($ms = $this->fromMs; $ms < $this->toMs; $ms += $this->columnMs) {
            $columns[$ms] = gmdate($format, intdiv($ms, 1000));
        }

        return $columns;
    }

    /** Returns SQL for the begin of the column in which a time is; every engine has `%` of integers. */
    public function column(string $time): string
    {
        return "$time - $time % $this->columnMs";
    }
}
