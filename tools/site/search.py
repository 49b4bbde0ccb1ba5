"""Full-text search without a server: the parts of all pages as one script.

The pages work without it. `search.js` adds a field to every page; the texts, in
`search-texts.js`, are loaded when it is first used. Both are plain scripts, since
a page that was opened as a file may load a script but read no other file.
"""
import html
import json
import pathlib
import re
import shutil

from markup import relative

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = "search.js"
TEXTS = "search-texts.js"
# What is not searched: navigation, and listings of whole source files.
LEFT_OUT = re.compile(r'<(nav|script|footer)\b.*?</\1>|<a class="anchor".*?</a>'
                      r'|<details class="contents".*?</details>', re.S)
# A heading opens a part, and so does a rule of the specification.
PART = re.compile(r'(<h[1-4]\b[^>]*>.*?</h[1-4]>|<[a-z]+\b[^>]*\bclass="memitem"[^>]*>'
                  r'|<a class="rule" id="[^"]*"[^>]*>[^<]*</a>)', re.S)
IDENTIFIER = re.compile(r'\bid="([^"]+)"')
TITLE = re.compile(r"<title>(.*?)</title>", re.S)
MAIN = re.compile(r"<main\b[^>]*>(.*?)</main>", re.S)
TAG = re.compile(r"<[^>]+>")
SPACE = re.compile(r"\s+")
NOT_SEARCHED = ("source/", "terms.html")


def words_of(markup):
    """The words of a piece of a page."""
    return SPACE.sub(" ", html.unescape(TAG.sub(" ", markup))).strip()


def parts(title, target, text):
    """[page, heading, address, words] of each part of a page that a heading opens."""
    pieces = PART.split(LEFT_OUT.sub(" ", text))
    found = []
    heading, anchor, container = "", "", ""
    for index, piece in enumerate(pieces):
        if index % 2:
            identifier = IDENTIFIER.search(piece) or IDENTIFIER.search(container)
            heading = words_of(piece)
            anchor = "#" + html.unescape(identifier[1]) if identifier else anchor
            continue
        words = words_of(piece)
        # `<div class="status" id="…">` stands before its heading.
        container = piece[piece.rfind("<div"):] if "<div" in piece else ""
        if heading or words:
            found.append([title, "" if heading == title else heading, target + anchor, words])
    return found


def tag(target):
    """What loads the field into the page at `target`."""
    return (f'<script src="{relative(SCRIPT, target)}" '
            f'data-texts="{relative(TEXTS, target)}"></script>\n')


def add(out, order):
    """Gives every page below `out` its field, and writes what the field searches.

    order: pages by their path, those that come first in the results of equal worth.
    """
    places = {name: place for place, name in enumerate(order)}
    names = [str(path.relative_to(out)) for path in out.rglob("*.html")]
    entries = []
    for name in sorted(names, key=lambda name: (places.get(name, len(places)), name)):
        text = (out / name).read_text()
        if not name.startswith(NOT_SEARCHED):
            title = words_of(TITLE.search(text)[1]).removesuffix(" · Assay")
            entries += parts(title, name, MAIN.search(text)[1])
        (out / name).write_text(text.replace("</body>", tag(name) + "</body>"))
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    (out / TEXTS).write_text(f"window.assayTexts = [\n{rows}\n];\n")
    shutil.copy(HERE / SCRIPT, out / SCRIPT)
