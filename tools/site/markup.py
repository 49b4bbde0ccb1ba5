"""Markdown to HTML by cmark-gfm, with GitHub's heading anchors and links into the site."""
import html
import os
import posixpath
import re
import subprocess

from highlight import highlighted

HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)
TAG = re.compile(r"<[^>]+>")
LINK = re.compile(r'(<(?:a href|img src)=")([^"]*)(")')
CODE = re.compile(r"<code>([^<]+)</code>")
TABLE = re.compile(r"<table>.*?</table>", re.S)
CELLS = re.compile(r"<(t[hd])( [^>]*)?>(.*?)</t[hd]>", re.S)
BLOCK = re.compile(r'<pre><code(?: class="language-([\w+-]+)")?(?: data-meta="([^"]*)")?>'
                   r"(.*?)</code></pre>", re.S)
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)")


class Slugs:
    """GitHub's anchors: lower case, punctuation dropped, repeats numbered."""

    def __init__(self):
        self.used = {}

    def of(self, text):
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        count = self.used.get(slug, 0)
        self.used[slug] = count + 1
        return f"{slug}-{count}" if count else slug


class Body:
    """The HTML of one Markdown file: `text`, `title`, `headings` (level, id, text)."""

    def __init__(self, text, title, headings):
        self.text, self.title, self.headings = text, title, headings


def plain(markup):
    return html.unescape(TAG.sub("", markup))


def commonmark(source):
    return subprocess.run(
        ["cmark-gfm", "-e", "table", "-e", "autolink", "--full-info-string"],
        input=source, text=True, capture_output=True, check=True).stdout


def convert(source, resolve, names, titles=None):
    """
    source   Markdown.
    resolve  a relative link to what stands in the page; None takes the link away.
    names    inline code that is a link by itself: text to address.
    titles   file names that stand as the words of a link: what stands there instead.
    """
    text = commonmark(source).replace("<!-- raw HTML omitted -->", "")
    blocks = []

    def keep_block(found):
        language, _, code = found.groups()
        blocks.append(f'<pre class="code"><code>{highlighted(language, code)}</code></pre>')
        return f"\x00{len(blocks) - 1}\x00"

    text = BLOCK.sub(keep_block, text)
    text, headings = anchored(text)
    text = linked(text, resolve)
    text = titled(text, titles or {})
    text = named(text, names)
    text = TABLE.sub(lambda found: f'<div class="wide">{labelled(found[0])}</div>', text)
    text = re.sub(r"\x00(\d+)\x00", lambda found: blocks[int(found[1])], text)
    title = headings[0][2] if headings else ""
    return Body(text, title, headings)


def anchored(text):
    slugs, headings = Slugs(), []

    def heading(found):
        level, inner = int(found[1]), found[2]
        words = plain(inner)
        slug = slugs.of(words)
        headings.append((level, slug, words))
        return (f'<h{level} id="{html.escape(slug)}">{inner}'
                f'<a class="anchor" href="#{html.escape(slug)}" aria-label="link to here">#</a>'
                f"</h{level}>")

    return HEADING.sub(heading, text), headings


def linked(text, resolve):
    def link(found):
        address = html.unescape(found[2])
        if OUTSIDE.match(address) or address.startswith("#"):
            return found[0]
        there = resolve(address)
        if there is None:
            return '<a data-gone="'
        return found[1] + html.escape(there) + found[3]

    text = LINK.sub(link, text)
    return re.sub(r'<a data-gone="[^>]*>(.*?)</a>', r"\1", text, flags=re.S)


def titled(text, titles):
    """A link whose words are a file's name bears the title of its page."""
    def words(found):
        title = titles.get(html.unescape(found[2]))
        return found[1] + (html.escape(title) if title else found[2]) + "</a>"

    return re.sub(r'(<a href="[^"]*">)([\w./-]+\.md)</a>', words, text)


def labelled(table):
    """Every cell says which column it is of: where there is no room for columns, that
    stands before it."""
    head, mark, body = table.partition("<tbody>")
    labels = [html.escape(plain(cell[2])) for cell in CELLS.findall(head)]

    def row(found):
        cells = iter(labels)
        return CELLS.sub(lambda cell: f'<{cell[1]}{cell[2] or ""} data-label="{next(cells, "")}">'
                                      f"{cell[3]}</{cell[1]}>", found[0])

    body = re.sub(r"<tr>.*?</tr>", row, body, flags=re.S)
    if not any(labels):
        head = "<table>\n"
    return head + mark + body


def named(text, names):
    """Statuses and functions in inline code lead to their place, outside links and heads."""
    parts = re.split(r"(<a [^>]*>.*?</a>|<h[1-6][^>]*>.*?</h[1-6]>)", text, flags=re.S)

    def code(found):
        address = names.get(html.unescape(found[1]).removesuffix("()"))
        return f'<a href="{html.escape(address)}">{found[0]}</a>' if address else found[0]

    return "".join(part if part.startswith(("<a ", "<h")) and index % 2 else
                   CODE.sub(code, part) for index, part in enumerate(parts))


def relative(target, page_target):
    """The address of one file of the site as seen from another."""
    path, mark, anchor = target.partition("#")
    there = os.path.relpath(path, posixpath.dirname(page_target) or ".")
    return there + mark + anchor
