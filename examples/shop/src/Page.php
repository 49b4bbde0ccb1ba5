<?php

declare(strict_types=1);

namespace Shop;

/** A page for operators, without scripts and foreign content, light and dark, from 390 px on. */
final class Page
{
    private const STYLE = <<<'CSS'
        :root { color-scheme: light dark; --ink: #1a1c20; --soft: #5b6270; --page: #fff;
          --box: #f4f5f7; --edge: #d5d9e0; --good: #1f7a45; --wait: #8a5a00; --bad: #b3261e;
          --a: #3267b5; --b: #0f8a7d; --c: #c25e00; --d: #b0407f; --e: #6f7683; --f: #7a5bb8;
          --g: #8c7300; --h: #3f7f2c; --i: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e8eaee; --soft: #a3abb9;
          --page: #14161a; --box: #1e2127; --edge: #383d47; --good: #63c98c; --wait: #e0ad51;
          --bad: #f28b82; --a: #7fa8e8; --b: #4fc3b5; --c: #f0954a; --d: #e07db4; --e: #8f97a5;
          --f: #b39ae6; --g: #d1b545; --h: #84c26f; --i: #f28b82; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 76rem; padding: 1rem; color: var(--ink);
          background: var(--page); font: 1rem/1.5 system-ui, sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; }
        h1 { font-size: 1.4rem; margin: 0 auto 0 0; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
        a { color: var(--a); } p { margin: .25rem 0; } .soft { color: var(--soft); }
        section { background: var(--box); border: 1px solid var(--edge); border-radius: .5rem;
          padding: 1rem; margin-top: 1rem; min-width: 0; }
        .pair { display: grid; column-gap: 1rem;
          grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
        table { width: 100%; border-collapse: collapse; }
        th, td { text-align: left; padding: .25rem 0; vertical-align: top; overflow-wrap: anywhere; }
        thead th { font-weight: 600; color: var(--soft); overflow-wrap: normal; } tbody th { font-weight: 400; }
        td.n, th.n { text-align: right; padding-left: .5rem; font-variant-numeric: tabular-nums; }
        td.n, .cards tbody th, .date { white-space: nowrap; }
        details { margin-top: .5rem; } details td, details th { font-size: .85rem; }
        .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap; }
        .cards th, .cards td { padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--edge); }
        .cards td { min-width: 6rem; } .cards .name { display: none; }
        .row { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: end; }
        .row input { width: auto; }
        svg { display: block; width: 100%; }
        label { display: block; margin-top: .5rem; font-weight: 600; }
        input, textarea, select, button { font: inherit; color: inherit; background: var(--page);
          border: 1px solid var(--edge); border-radius: .35rem; padding: .4rem .6rem; max-width: 100%; }
        input, textarea { width: 100%; } textarea { min-height: 6rem; font-family: monospace; }
        button { margin-top: .6rem; cursor: pointer; background: var(--ink); color: var(--page);
          border-color: var(--ink); }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem .8rem;
          margin: .5rem 0; }
        dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
        @media (max-width: 48rem) { .cards, .cards tbody, .cards tr, .cards th, .cards td { display: block; }
          .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
            clip-path: inset(50%); }
          .cards tr { border-top: 1px solid var(--edge); padding: .5rem 0; }
          .cards th, .cards td { border: 0; padding: .1rem 0; }
          .cards .name { display: block; color: var(--soft); font-size: .85rem; } }
        @media (max-width: 30rem) { details thead th { font-size: .75rem; overflow-wrap: anywhere; hyphens: auto; }
          details td.n, details th.n { padding-left: .25rem; } dl { grid-template-columns: minmax(0, 1fr); }
          dd { margin-bottom: .3rem; } }
        .good { color: var(--good); } .wait { color: var(--wait); } .bad { color: var(--bad); }
        .keys { display: flex; flex-wrap: wrap; gap: .2rem 1rem; } .keys svg { display: inline;
          width: .8rem; height: .8rem; margin-right: .35rem; }
        .hours { display: flex; justify-content: space-between; color: var(--soft); font-size: .85rem; }
        .a { fill: var(--a); } .b { fill: var(--b); } .c { fill: var(--c); } .d { fill: var(--d); }
        .e { fill: var(--e); } .f { fill: var(--f); } .g { fill: var(--g); } .h { fill: var(--h); }
        .i { fill: var(--i); }
        CSS;

    /** @param string $content HTML */
    public static function of(string $title, string $content, Operator $operator): Answer
    {
        $events = $operator->may(Role::Admin) ? ' <a href="/events">Events</a>' : '';
        $style = self::STYLE;
        $html = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            . '<meta name="viewport" content="width=device-width, initial-scale=1">'
            . '<title>' . self::text($title) . "</title><style>$style</style></head><body>"
            . '<header><h1>' . self::text($title) . '</h1><nav aria-label="Pages"><a href="/dashboard">Dashboard</a> '
            . "<a href=\"/balance\">Balance</a> <a href=\"/refunds\">Refunds</a> <a href=\"/support\">Support</a>$events</nav></header>"
            . "<main>$content</main></body></html>\n";
        $hash = base64_encode(hash('sha256', $style, true));

        return new Answer(200, $html, [
            'Content-Type' => 'text/html; charset=utf-8',
            'Content-Security-Policy' => "default-src 'none'; style-src 'sha256-$hash';"
                . " form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            'X-Content-Type-Options' => 'nosniff',
            'Referrer-Policy' => 'no-referrer',
        ]);
    }

    public static function text(string|int|null $text): string
    {
        return htmlspecialchars((string) $text, ENT_QUOTES | ENT_SUBSTITUTE);
    }

    /** Returns typed text that every engine accepts, without invalid bytes and outer spaces. */
    public static function typed(string $text): string
    {
        return trim(strtr(mb_scrub($text), ["\0" => '']));
    }

    /** Returns what became of a form. */
    public static function notice(string $tone, string $text): string
    {
        return "<section class=\"$tone\" role=\"status\"><p>" . self::text($text) . '</p></section>';
    }

    public static function time(?int $ms): string
    {
        return $ms === null ? '–' : gmdate('j M Y, H:i', intdiv($ms, 1000)) . ' UTC';
    }

    /** Returns the fields in which a span is chosen, and the links to its neighbours. */
    public static function choice(string $path, Span $span, string $more = ''): string
    {
        $options = '';
        foreach (Span::KINDS as $kind) {
            $options .= '<option' . ($kind === $span->kind ? ' selected' : '') . ">$kind</option>";
        }
        $links = '';
        foreach ([-1 => 'before', 1 => 'after'] as $direction => $word) {
            $to = $span->neighbour($direction);
            $query = self::text(http_build_query(['day' => $to, 'span' => $span->kind]));
            $links .= $to === null ? '' : "<a href=\"$path?$query\">The $span->kind $word</a> ";
        }

        return "<section><form class=\"row\" method=\"get\" action=\"$path\"><div><label for=\"day\">Day, in UTC</label>"
            . '<input id="day" name="day" type="date" required value="' . $span->date() . '" min="' . Span::FIRST
            . '" max="' . Span::last() . '"></div><div><label for="span">Span</label>'
            . "<select id=\"span\" name=\"span\">$options</select></div>$more<button>Show</button></form>"
            . "<p>$links</p></section>";
    }
}
