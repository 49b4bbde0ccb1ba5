"""The page around a text: head, list of pages, contents, previous and next."""
import html
import re

from markup import relative
from pages import HOME, ROOT, SECTIONS, all_pages

VERSION = re.search(r'^#define ASSAY_VERSION "(.*)"', (ROOT / "include/assay.h").read_text(),
                    re.M)[1]
SHORTEST_CONTENTS = 4


def escape(text):
    return html.escape(text, quote=True)


def side(target):
    """The list of all pages; the one at `target` is marked."""
    out = ['<nav class="side" aria-label="Pages">',
           f'<a class="name" href="{relative(HOME.target, target)}">Assay</a>'
           f'<span class="version">{VERSION}</span>']
    for title, pages in SECTIONS:
        out.append(f"<h2>{escape(title)}</h2>\n<ul>")
        for page in pages:
            if page.exists:
                mark = ' aria-current="page"' if page.target == target else ""
                out.append(f'<li><a href="{relative(page.target, target)}"{mark}>'
                           f"{escape(page.title)}</a></li>")
        out.append("</ul>")
    return "\n".join(out + ["</nav>"])


def contents(headings):
    """Links to the parts of a long page."""
    parts = [(slug, words) for level, slug, words in headings if level == 2]
    if len(parts) < SHORTEST_CONTENTS:
        return ""
    items = "\n".join(f'<li><a href="#{escape(slug)}">{escape(words)}</a></li>'
                      for slug, words in parts)
    return ('<details class="contents" open="open"><summary>On this page</summary>\n<ul>\n'
            f"{items}\n</ul></details>\n")


def neighbours(target):
    order = all_pages()
    places = [index for index, page in enumerate(order) if page.target == target]
    if not places:
        return ""
    index = places[0]
    before = order[index - 1] if index else None
    after = order[index + 1] if index + 1 < len(order) else None
    links = [f'<a href="{relative(page.target, target)}">{text}</a>' if page else "<span></span>"
             for page, text in [(before, before and f"← {escape(before.title)}"),
                                (after, after and f"{escape(after.title)} →")]]
    return '<div class="next">' + "".join(links) + "</div>\n"


def head(target, title, root_class=""):
    """Everything before the text of a page."""
    full = title if title == "Assay" else f"{title} · Assay"
    pages = side(target)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{escape(full)}</title>
<link rel="stylesheet" href="{relative('style.css', target)}"/>
</head>
<body>
<a class="skip" href="#text">To the text</a>
<details class="narrow"><summary>Assay {VERSION}: all pages</summary>
{pages.replace('aria-label="Pages"', 'aria-label="Pages, folded"')}
</details>
<div class="frame">
{pages}
<main id="text">
<div class="text{root_class}">
"""


def foot(target):
    """Everything behind it."""
    return (neighbours(target)
            + f"<footer>Assay {VERSION}, Apache-2.0. Not affiliated with Apple.</footer>\n"
            "</div>\n</main>\n</div>\n</body>\n</html>\n")


def page(target, title, text, headings=()):
    """One whole page; the contents stand behind the first heading."""
    listed = contents(headings)
    if listed:
        before, end, after = text.partition("</h1>")
        text = before + end + "\n" + listed + after if end else listed + text
    return head(target, title) + text + foot(target)
