"""The rules of the specification: where each has its text, and links to it from every page."""
import html
import re

from markup import relative
from pages import ROOT, SPECIFICATION

REGISTER = ROOT / "docs" / "spec" / "rules.tsv"
TARGET = "spec/rules.html"
KINDS = {
    "check": "refuses", "part": "part of a check", "fact": "fact", "row": "row of a table",
    "design": "design", "duty": "the host's duty",
}
STATES = {"built": "", "part": "in part", "planned": "planned", "-": ""}
ID = re.compile(r"\b[A-Z]{3,4}-\d+\b")
# Where a rule has its text: an entry of a list, a paragraph, or a row of a table begins with it.
DEFINED = re.compile(r"(<li>\s*(?:<p>)?<strong>|<p><strong>|<tr[^>]*>\s*<td[^>]*>(?:<strong>)?)"
                     r"([A-Z]{3,4}-\d+)\b")
PIECE = re.compile(r"<[^>]*>|[^<]+")
# Inside of these a rule is no link: it is one, or stands in a text to be copied.
CLOSED = {"a", "pre", "script", "style", "title", "svg"}
INTRODUCTION = """<h1>All rules</h1>
<p>Each rule of the <a href="index.html">specification</a> by its id, which stands in the
code beside the check, in the case or test, with the mutant and in <code>error.rule</code>
of a document.</p>
"""


def rows():
    """[(id, section, kind, state, title, reason)] of the register."""
    return [tuple((line.split("\t") + [""])[:6]) for line in REGISTER.read_text().splitlines()
            if line and not line.startswith("#")]


def addresses():
    """Every rule, and the place of its text."""
    targets = {page.source.rpartition("/")[2]: page.target for page in SPECIFICATION}
    return {row[0]: f"{targets[row[1].split(' ')[0]]}#{row[0]}" for row in rows()}


def anchored(text):
    """A page of the specification, each rule with an anchor where its text begins."""
    return DEFINED.sub(r'\1<a class="rule" id="\2" href="#\2">\2</a>', text)


def linked(text, target, places):
    """A whole page: what is a rule's id, and no link yet, leads to the rule."""
    def link(found):
        if found[0] not in places:
            return found[0]
        return f'<a class="rule" href="{relative(places[found[0]], target)}">{found[0]}</a>'

    out, closed, fragment = [], 0, 0
    for piece in PIECE.findall(text):
        tag = re.match(r"<(/?)([a-z][a-z0-9]*)", piece)
        if tag is None:
            out.append(piece if closed or fragment or piece.startswith("<!")
                       else ID.sub(link, piece))
            continue
        opens = not tag[1]
        if tag[2] in CLOSED and not piece.endswith("/>"):
            closed += 1 if opens else -1
        elif tag[2] == "div" and (fragment or 'class="fragment"' in piece):
            fragment += 1 if opens else -1
        out.append(piece)
    return "".join(out)


def body():
    """(text, headings) of the register's page."""
    families = {}
    for row in rows():
        families.setdefault(row[1].split(" ")[0], []).append(row)
    titles = {page.source.rpartition("/")[2]: page for page in SPECIFICATION}
    out, headings = [INTRODUCTION], []
    for name, members in families.items():
        slug = name.removesuffix(".md")
        headings.append((2, slug, titles[name].title))
        out.append(f'<h2 id="{slug}">{html.escape(titles[name].title)}</h2>\n'
                   '<div class="wide"><table>\n<thead><tr><th>rule</th><th>kind</th>'
                   "<th>what</th></tr></thead>\n<tbody>\n")
        for rule, _, kind, state, title, reason in members:
            words = " · ".join(filter(None, (KINDS[kind], STATES[state])))
            said = html.escape(title) + (f" ({html.escape(reason)})" if reason else "")
            out.append(f'<tr><td data-label="rule">{rule}</td><td data-label="kind">{words}</td>'
                       f'<td data-label="what">{said}</td></tr>\n')
        out.append("</tbody>\n</table></div>\n")
    return "".join(out), headings
