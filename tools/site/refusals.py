"""The page of statuses: cause and remedy of each, with an anchor of its name."""
import html

from status_rows import ANSWERS, FAMILIES, RETRY, for_whom, rows

TARGET = "statuses.html"
AREAS_WORTH_A_HEADING = 2
INTRODUCTION = """<h1>Every refusal</h1>
<p>A call answers with a status. <code>status &amp; 0xff</code> is the family, and all that code
should branch on; the rest is detail. Cause and remedy are the sentences that stand in
<code>error.message</code> and <code>error.hint</code> of a document. <em>Answer</em> is what a
back end would tell its own client; the six answers that a client needs are in
<a href="receipts.html#5-answer-the-client">Receipts</a>, the rest in
<a href="tasks/errors.html">Errors, and what to answer a client</a>.</p>
"""



def names(prefix=""):
    """Every status name and the place that explains it."""
    return {row.name: f"{prefix}{TARGET}#{row.name}" for row in rows()}


def retry_classes(table):
    unknown = {row.retry for row in table} - set(RETRY)
    if unknown:
        raise SystemExit(f"tools/site/refusals.py: no words for retry class {sorted(unknown)}")


def card(row, tag):
    def line(name, value):
        return f"<dt>{name}</dt><dd>{value}</dd>\n"

    rules = ", ".join(f"<code>{rule}</code>" for rule in row.rules.split(",") if rule)
    return (f'<div class="status" id="{row.name}">\n'
            f'<{tag}><code>{row.name}</code><a class="anchor" href="#{row.name}"'
            f' aria-label="link to here">#</a></{tag}>\n<dl>\n'
            + line("cause", html.escape(row.message))
            + line("remedy", html.escape(row.hint))
            + "".join(line(for_whom(kinds), html.escape(hint)) for kinds, hint in row.hints)
            + line("again?", f"{RETRY[row.retry]} <span class=\"soft\">({row.retry})</span>")
            + line("answer", f"HTTP {row.http}" if row.http.isdigit() else html.escape(row.http))
            + line("rule", rules or "–")
            + line("code", f"{row.code} <span class=\"soft\">= {row.family} + "
                           f"256 × {row.detail}</span>")
            + "</dl>\n</div>\n")


def body():
    """(text, headings) of the page."""
    table = rows()
    retry_classes(table)
    out = [INTRODUCTION]
    headings = []
    for number, family, meaning in FAMILIES:
        mine = [row for row in table if row.family == number]
        headings.append((2, f"family-{family}", f"{number} {family}"))
        out.append(f'<h2 id="family-{family}">{number} <code>{family}</code></h2>\n'
                   f"<p>{html.escape(meaning)} {html.escape(ANSWERS.get(family, ''))}</p>\n")
        areas = {}
        for row in mine:
            areas.setdefault(row.name.split(".")[1], []).append(row)
        for area, members in sorted(areas.items()):
            if len(areas) >= AREAS_WORTH_A_HEADING:
                out.append(f'<h3 id="area-{family}-{area}">{family}.{area}</h3>\n')
            out += [card(row, "h4") for row in members]
    return "".join(out), headings
