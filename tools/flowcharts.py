"""The flow charts of the documentation, each wide and narrow (for a phone), light and dark.

A chart is a column of steps. A question has an exit to its right, or leads back to the step that is
marked `again`; otherwise the chart goes on below it.
"""
import html
import re
from typing import NamedTuple


class Step(NamedTuple):
    """One step: what it is, its text, and where else it leads."""

    kind: str  # start, box, again, ask, end
    text: str
    word: str = ""  # on the way out, "no"
    leads: str = ""  # text of the exit; empty: back to the step `again`
    tone: str = "wait"  # of the exit: good, wait, bad
    on: str = ""  # on the way down, "yes"


CHARTS = {
    "shop-verification": ("Verification of a receipt in the shop, the cheapest question first", [
        Step("start", "The app sends a receipt or a signed transaction"),
        Step("ask", "Is the access token good?", "no", "401: sign in again", "bad", "yes"),
        Step("ask", "Triage: can it be ours?", "no", "refused-final, refused-keep or resend:"
             " no database, no cryptography, no Apple", "bad", "perhaps"),
        Step("ask", "A consumable's receipt that this account was granted?", "yes",
             "already-granted: one read", "good", "no"),
        Step("ask", "Genuine: form, chain, signature, app, product, environment?", "no",
             "refused-final; resend if it is damaged, refused-keep if it is only too new", "bad", "yes"),
        Step("ask", "An old receipt whose subscription ends within a day?", "yes",
             "Ask Apple, once an hour and for 2 s at most; then go on. No answer: pay what is"
             " proven, say deferred", "wait", "no"),
        Step("ask", "Of the Sandbox, and the account is no tester?", "yes", "refused-keep", "bad", "no"),
        Step("ask", "Does the subscription belong to another account?", "yes",
             "refused-final: used by another", "bad", "no"),
        Step("box", "Claim: the database lets one request win"),
        Step("ask", "Is there a row already?", "yes", "own: already-granted; another's, or refunded:"
             " refused-final; in work: deferred", "wait", "no"),
        Step("box", "Pay: claim and coins in one commit"),
        Step("end", "granted: now the app finishes its transaction"),
    ]),
    "shop-subscription": ("The life of a subscription, with Apple's notifications", [
        Step("start", "Bought: SUBSCRIBED"),
        Step("again", "Active: the account has the plan"),
        Step("ask", "Refunded? REFUND", "yes", "Revoked: the plan is gone, and what it gave."
             " REFUND_REVERSED: active again", "bad", "no"),
        Step("ask", "Another plan? DID_CHANGE_RENEWAL_PREF", "yes", "UPGRADE: the new plan counts at"
             " once. DOWNGRADE: from the next period on", "good", "no"),
        Step("box", "The paid period ends"),
        Step("ask", "Was renewal switched off? DID_CHANGE_RENEWAL_STATUS", "yes",
             "EXPIRED: the default plan. Buys again: SUBSCRIBED, active", "bad", "no"),
        Step("ask", "Does Apple get the money? DID_RENEW", "yes", on="no: DID_FAIL_TO_RENEW"),
        Step("ask", "Is a period of grace set in App Store Connect?", "yes",
             "In grace: the plan stays until GRACE_PERIOD_EXPIRED; a payment renews it", "good", "no"),
        Step("ask", "Apple tries for 60 days without the plan: paid? DID_RENEW", "yes", on="no"),
        Step("end", "EXPIRED: the default plan. Buys again: SUBSCRIBED, active"),
    ]),
}
# Sizes in pixels: of the picture, the column of steps, the exits, and the text.
SIZES = {"": (760, 330, 320, 14), "-narrow": (372, 172, 128, 12)}
MARGIN, BETWEEN, PAD = 32, 26, 9
STYLE = """\
svg{--back:#fbfbf9;--text:#1d2125;--quiet:#5b636b;--line:#7a848d;--box:#eef3fb;--edge:#4a6da7;--ask:#fdf6e3;--askedge:#96730a;--good:#e7f4ea;--goodedge:#2f7d46;--wait:#f1f0ec;--waitedge:#6b7280;--bad:#fbecec;--badedge:#a3232f}
@media (prefers-color-scheme:dark){svg{--back:#1d2125;--text:#e2e5e8;--quiet:#9aa4ad;--line:#7a848d;--box:#1f2c40;--edge:#7a9bd0;--ask:#332c17;--askedge:#c9a227;--good:#1b2f1f;--goodedge:#6fb06f;--wait:#2a2f35;--waitedge:#98a2ac;--bad:#3a2226;--badedge:#e08a8a}}
text{font-family:system-ui,"DejaVu Sans",sans-serif;fill:var(--text);text-anchor:middle}.w{fill:var(--quiet);text-anchor:start}
.l{stroke:var(--line);stroke-width:1.5;fill:none}.h{fill:var(--line)}
.box,.again,.start,.end{fill:var(--box);stroke:var(--edge)}.ask{fill:var(--ask);stroke:var(--askedge)}
.good{fill:var(--good);stroke:var(--goodedge)}.wait{fill:var(--wait);stroke:var(--waitedge)}.bad{fill:var(--bad);stroke:var(--badedge)}"""


def breadth(text, size):
    """Return about how wide a text is; capitals are wider than other letters."""
    return sum(0.68 if letter.isupper() or letter == "_" else 0.55 for letter in text) * size


def wrapped(text, width, size):
    """Return the lines of a text in a box of this width. Long names break behind an underscore."""
    lines = [""]
    for word in re.findall(r"\S+\s*", text):
        parts = [word] if breadth(word.strip(), size) <= width - PAD else re.findall(r"[^_]+_?\s*", word)
        for part in parts:
            if lines[-1] and breadth((lines[-1] + part).strip(), size) > width - PAD:
                lines.append("")
            lines[-1] += part
    return [line.strip() for line in lines if line]


def lines_of(lines, x, middle, size, style=""):
    """Return text elements of lines, centred at a point."""
    top = middle - (len(lines) - 1) * size * 1.3 / 2 + size * 0.36
    return [f'<text{style} x="{x:g}" y="{top + number * size * 1.3:.1f}" font-size="{size}">'
            f"{html.escape(line, quote=False)}</text>" for number, line in enumerate(lines)]


def shape(kind, x, y, width, height):
    """Return the outline of a step: a question is a hexagon, an end is round."""
    if kind == "ask":
        cut, right, middle, low = 12, x + width, y + height / 2, y + height
        return (f'<path class="ask" d="M{x} {middle:g}L{x + cut} {y:g}H{right - cut}L{right} {middle:g}'
                f'L{right - cut} {low:g}H{x + cut}z"/>')
    corner = height / 2 if kind in ("start", "end") else 6
    return (f'<rect class="{kind}" x="{x}" y="{y:g}" width="{width}" height="{height:g}"'
            f' rx="{min(corner, 20):g}"/>')


def head(x, y, turn):
    """Return an arrow head whose point is here; `turn` is right, down."""
    points = {"right": "-8 -4v8z", "down": "-4 -8h8z"}[turn]
    return f'<path class="h" d="M{x:g} {y:g}l{points}"/>'


def drawn(title, steps, sizes):
    """Return the SVG of a chart."""
    width, column, exits, size = sizes
    left, right = MARGIN, width - exits - 8
    out, y, places = [], 10.0, []
    for step in steps:
        texts = wrapped(step.text, column - (20 if step.kind == "ask" else 8), size)
        leads = wrapped(step.leads, exits - 4, size)
        height = len(texts) * size * 1.3 + 2 * PAD
        beside = len(leads) * size * 1.3 + 2 * PAD if leads else 0
        room = max(height, beside)
        top = y + (room - height) / 2
        places.append((step, texts, leads, top, height, y + room / 2, beside))
        y += room + BETWEEN
    total = y - BETWEEN + 10
    again = next((middle for step, *_, middle, _ in places if step.kind == "again"), 0)
    for number, (step, texts, leads, top, height, middle, beside) in enumerate(places):
        out.append(shape(step.kind, left, top, column, height))
        out += lines_of(texts, left + column / 2, middle, size)
        if number + 1 < len(places):
            below = places[number + 1][3]
            x = left + column / 2
            out += [f'<path class="l" d="M{x:g} {top + height:g}V{below - 7:g}"/>', head(x, below, "down"),
                    f'<text class="w" x="{x + 7:g}" y="{(top + height + below) / 2 + 3:.1f}"'
                    f' font-size="{size - 1}">{html.escape(step.on)}</text>' if step.on else ""]
        if leads:
            out += [f'<path class="l" d="M{left + column} {middle:g}H{right - 7}"/>',
                    head(right, middle, "right"),
                    shape(step.tone, right, middle - beside / 2, exits, beside),
                    *lines_of(leads, right + exits / 2, middle, size),
                    f'<text class="w" x="{left + column + 4}" y="{middle - 5:g}"'
                    f' font-size="{size - 1}">{step.word}</text>']
        elif step.kind == "ask":
            out += [f'<path class="l" d="M{left} {middle:g}H8V{again:g}H{left - 7}"/>',
                    head(left, again, "right"),
                    f'<text class="w" x="11" y="{middle - 5:g}" font-size="{size - 2}">{step.word}</text>']
    name = html.escape(title)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total:.0f}"'
        f' viewBox="0 0 {width} {total:.0f}" role="img" aria-label="{name}">',
        f"<title>{name}</title>", f"<style>\n{STYLE}\n</style>",
        f'<rect width="{width}" height="{total:.0f}" rx="8" fill="var(--back)"/>',
        *filter(None, out), "</svg>", ""])


def flowcharts():
    """Return {name: SVG} of every chart, in both widths."""
    return {f"{name}{end}.svg": drawn(title, steps, sizes)
            for name, (title, steps) in CHARTS.items() for end, sizes in SIZES.items()}
